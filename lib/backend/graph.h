// SPDX-License-Identifier: Apache-2.0
// THE BACKEND INTERFACE, second half: the operations of one network for one batch size on one device.
//
// A graph is built once, in the order of execution. After that, load, forward and backward run without allocating
// memory. The backend plans the memory and chooses the layouts, so a Tensor is only an index and a shape.
//
//   load(batch) -> input -> convolution -> batch_normalization -> ... -> linear -> softmax_cross_entropy -> metrics
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "backend/buffer.h"
#include "data/batch.h"
#include "numbers/range.h"
#include "numbers/shape.h"

namespace odori {

/// "64x32x8x8"
inline std::string to_string(const Shape& shape) {
  const auto text = [](int n) { return std::to_string(n); };
  return text(shape.n) + "x" + text(shape.c) + "x" + text(shape.h) + "x" + text(shape.w);
}

/// Kinds of parameters. A backend may store weights in its own layout.
enum class ParameterKind { convolution_weight, linear_weight, vector };

/// Position of a parameter or statistic in a flat vector of the model, in floats. Shapes: convolution weight O x I x H
/// x W, linear weight O x I x 1 x 1, vector 1 x C x 1 x 1.
struct ParameterView {
  std::size_t offset = 0;
  Shape shape;
  ParameterKind kind = ParameterKind::vector;
  std::size_t size() const { return shape.size(); }
};

/// The parameters of a linear layer.
inline std::vector<ParameterView> trained(const ParameterView& weight, const ParameterView* bias) {
  return bias ? std::vector{weight, *bias} : std::vector{weight};
}

/// The range that covers the contiguous parameters of one operation.
inline Range range_of(std::span<const ParameterView> views) {
  Range range;
  for (const ParameterView& view : views) {
    const Range own{view.offset, view.offset + view.size()};
    range = range.size() == 0 ? own : Range{std::min(range.begin, own.begin), std::max(range.end, own.end)};
  }
  return range;
}

/// Called with a range of the flat gradient vector that is final: the work queued so far computes it, and no later work
/// changes it.
using OnGradientReady = std::function<void(Range)>;

/// A model's flat vectors on one device. Each parameter starts at a multiple of 16 floats; gaps are always zero.
struct ModelMemory {
  Buffer parameters, gradients;
  Buffer statistics;  // running means and variances of batch normalisation: not trained, but part of the model
};

/// A tensor of the graph, with its gradient.
struct Tensor {
  int index = -1;
  Shape shape;
};

struct ConvolutionSpec {
  int out_channels, kernel = 3, stride = 1, padding = 1;
  Shape output(const Shape& x) const { return {x.n, out_channels, side(x.h), side(x.w)}; }
  int side(int n) const { return (n + 2 * padding - kernel) / stride + 1; }
};
struct BatchNormalizationSpec {
  float decay = 0.9f, epsilon = 2e-5f;
  bool relu = false;  // followed by a ReLU, fused where the backend can
};
struct BatchNormalizationParameters {
  ParameterView gamma, beta;     // in parameters
  ParameterView mean, variance;  // running mean and variance, in statistics
};
struct PoolingSpec {
  int kernel = 2, stride = 2;
  Shape output(const Shape& x) const { return {x.n, x.c, side(x.h), side(x.w)}; }
  int side(int n) const { return (n - kernel) / stride + 1; }
};

/// Scale and label smoothing of a network's outputs. Smoothing affects the gradient only: the target is 1 - smoothing
/// for the label plus smoothing / C for each of the C classes. The loss in the metrics has no smoothing. C. Szegedy et
/// al., 2016, "Rethinking the inception architecture for computer vision" (arXiv 1512.00567).
struct LogitsSpec {
  float scale = 1;
  float smoothing = 0;
};

/// train: batch statistics, dropout, activations kept for backward. evaluate: running statistics, no dropout.
enum class Mode { train, evaluate };

/// The random state of a model: selects the random numbers of a training step (dropout, crop, flip).
struct RandomKey {
  std::uint64_t seed = 0;
  std::uint32_t stream = 0;  // device or rank
  std::uint64_t step = 0;    // training steps done
};

/// The algorithm of each operation and pass that has several: chosen by the backend's fixed rule, or the fastest of
/// measurements at set-up (the original's autotune). `chosen` holds measured choices by operation, shape, threads and
/// machine. Snapshots contain it, since another choice would give other bits.
struct AlgorithmTable {
  bool measure = false;
  std::map<std::string, std::string> chosen;
  bool operator==(const AlgorithmTable&) const = default;
};

/// The settings of --autotune and --show-algorithms.
struct AlgorithmOptions {
  bool measure = false;  // choose by measuring, at set-up
  bool show = false;     // print the choices
};

/// Sums over samples.
struct Metrics {
  double loss_sum = 0;  // softmax cross-entropy, natural logarithm
  std::int64_t correct = 0, samples = 0;
  double loss() const { return samples ? loss_sum / static_cast<double>(samples) : 0; }
  double accuracy() const { return samples ? static_cast<double>(correct) / static_cast<double>(samples) : 0; }
  Metrics& operator+=(const Metrics& other) {
    loss_sum += other.loss_sum, correct += other.correct, samples += other.samples;
    return *this;
  }
};

class Graph {
 public:
  virtual ~Graph() = default;

  // ---- Building, in the order of execution. Each call returns its output, of shape N x C x H x W. The graph is
  // sequential: throws Error unless x is the last output.
  /// The images. `needs_gradient`: compute the gradient with respect to them, for tests.
  virtual Tensor input(const Shape& shape, bool needs_gradient = false) = 0;
  /// A convolution without bias. weight: out_channels x C x kernel x kernel.
  virtual Tensor convolution(Tensor x, const ConvolutionSpec& spec, const ParameterView& weight) = 0;
  /// Normalises over N, H and W with the biased variance; the running variance is unbiased, as in Chainer.
  virtual Tensor batch_normalization(Tensor x, const BatchNormalizationSpec& spec,
                                     const BatchNormalizationParameters& parameters) = 0;
  virtual Tensor relu(Tensor x) = 0;
  /// The Gaussian error linear unit: x * P(Z <= x) for a standard normal Z, by the error function. D. Hendrycks and K.
  /// Gimpel, 2016, "Gaussian error linear units (GELUs)" (arXiv 1606.08415).
  virtual Tensor gelu(Tensor x) = 0;
  /// y = x + bias of the channel. bias: C.
  virtual Tensor bias(Tensor x, const ParameterView& bias) = 0;
  virtual Tensor max_pooling(Tensor x, const PoolingSpec& spec) = 0;
  /// Inverted dropout: divides kept values by 1 - ratio; random_rules.h decides which are kept. May reuse x's memory.
  virtual Tensor dropout(Tensor x, float ratio) = 0;
  /// Flattens x to N x (C*H*W) in that order. weight: out x (C*H*W). bias: out, or null for none.
  virtual Tensor linear(Tensor x, int out, const ParameterView& weight, const ParameterView* bias) = 0;
  /// y = scale * x, between a linear layer and softmax_cross_entropy(). Backward adds the effect of label smoothing.
  virtual Tensor logits(Tensor x, const LogitsSpec& spec) = 0;
  /// Ends the graph: mean loss over the batch, and accuracy.
  virtual void softmax_cross_entropy(Tensor x) = 0;
  /// Plans and allocates the memory. Call it after the last operation.
  virtual void finish() = 0;

  // ---- Running
  /// Fills the input and the labels: crop and flip (random_rules.h) with black or reflected padding, bilinear
  /// enlargement (pixel centres at half integers, edges repeated), normalisation. If there are fewer examples than the
  /// batch size, the rest is zero and not counted.
  virtual void load(const Batch& batch, const RandomKey& key) = 0;
  virtual void forward(Mode mode, const RandomKey& key) = 0;
  /// Writes (does not add) the gradients of the mean loss, after forward(Mode::train) of a full batch. Without a
  /// softmax_cross_entropy() it starts from write_gradient() of the last tensor.
  void backward() { backward({}); }
  /// The same, and reports each operation's gradients as soon as they are final, last operation first. On a GPU,
  /// operations are then launched one by one, without a CUDA graph.
  virtual void backward(const OnGradientReady& on_gradient_ready) = 0;
  /// Returns the sums over `counted` examples since the last call. Waits for the device.
  virtual Metrics take_metrics() = 0;

  // ---- Parameters in plain order (O, I, H, W), converted from and to the backend's layout
  virtual std::vector<float> read_parameter(const Buffer& from, const ParameterView& view) = 0;
  virtual void write_parameter(Buffer& to, const ParameterView& view, std::span<const float> plain) = 0;

  // ---- For tests and diagnostics
  /// In plain order, N x C x H x W. Gradients share memory: after backward() only the input's is valid.
  virtual std::vector<float> read_value(Tensor tensor) = 0;
  virtual std::vector<float> read_gradient(Tensor tensor) = 0;
  virtual void write_value(Tensor tensor, std::span<const float> plain) = 0;
  virtual void write_gradient(Tensor tensor, std::span<const float> plain) = 0;
  /// One line per operation and pass: shape, implementation, algorithm.
  virtual std::vector<std::string> describe() const = 0;
  /// Bytes of activations, gradients of activations and scratch memory.
  virtual std::size_t memory_bytes() const = 0;
};

}  // namespace odori
