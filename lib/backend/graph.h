// SPDX-License-Identifier: Apache-2.0
// THE BACKEND INTERFACE, second half: the operations of one network, for one batch size, on one device.
//
// A graph is built once, in the order of execution; then load / forward / backward run it as often as wanted without
// allocating anything. The backend plans the memory and chooses the layouts, so a tensor is only a number here.
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

/// The meaning of a parameter's elements; the backend may lay a weight out in its own order.
enum class ParameterKind { convolution_weight, linear_weight, vector };

/// One parameter's (or statistic's) place in a flat vector of the model, in floats. The shape is O x I x H x W for a
/// convolution's weight, O x I x 1 x 1 for a linear layer's, 1 x C x 1 x 1 for a vector.
struct ParameterView {
  std::size_t offset = 0;
  Shape shape;
  ParameterKind kind = ParameterKind::vector;
  std::size_t size() const { return shape.size(); }
};

/// A linear layer's.
inline std::vector<ParameterView> trained(const ParameterView& weight, const ParameterView* bias) {
  return bias ? std::vector{weight, *bias} : std::vector{weight};
}

/// From the first of these to the end of the last; all of one operation, which are contiguous.
inline Range range_of(std::span<const ParameterView> views) {
  Range range;
  for (const ParameterView& view : views) {
    const Range own{view.offset, view.offset + view.size()};
    range = range.size() == 0 ? own : Range{std::min(range.begin, own.begin), std::max(range.end, own.end)};
  }
  return range;
}

/// Called with a range of gradients that backward has queued on the device and will not change any more.
using OnGradientReady = std::function<void(Range)>;

/// A model's flat vectors on one device. Every parameter starts at a multiple of 16 floats; the gaps are always zero.
struct ModelMemory {
  Buffer parameters, gradients;
  Buffer statistics;  // running means and variances of batch normalisation: not trained, but part of the model
};

/// A value of the graph, and its gradient.
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
  ParameterView mean, variance;  // running ones, in statistics
};
struct PoolingSpec {
  int kernel = 2, stride = 2;
  Shape output(const Shape& x) const { return {x.n, x.c, side(x.h), side(x.w)}; }
  int side(int n) const { return (n - kernel) / stride + 1; }
};

/// What a network's outputs become before a loss of smoothed labels. The loss's gradient is then that of (1 -
/// smoothing) for the label plus smoothing / C for each of the C classes, in place of 1 for the label. The metrics'
/// loss has no smoothing. C. Szegedy et al., 2016, "Rethinking the inception architecture for computer vision" (arXiv
/// 1512.00567).
struct LogitsSpec {
  float scale = 1;
  float smoothing = 0;
};

/// train: batch statistics, dropout, everything kept for backward. evaluate: running statistics, no dropout.
enum class Mode { train, evaluate };

/// Which random numbers a training step uses (dropout, crop, flip): the whole random state of a model.
struct RandomKey {
  std::uint64_t seed = 0;
  std::uint32_t stream = 0;  // device or rank
  std::uint64_t step = 0;    // training steps done
};

/// Which algorithm each operation and pass uses where there are several: by the backend's fixed rule, or the fastest
/// as measured at set-up (the autotune of the originals). Measured choices are kept here under a key of operation,
/// shape, threads and machine; a snapshot carries them, since another choice would give other bits.
struct AlgorithmTable {
  bool measure = false;
  std::map<std::string, std::string> chosen;
  bool operator==(const AlgorithmTable&) const = default;
};

/// What --autotune and --show-algorithms ask for.
struct AlgorithmOptions {
  bool measure = false;  // choose by measuring, at set-up
  bool show = false;     // print what was chosen
};

/// Sums over the samples seen since they were last taken.
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

  // ---- Building, in the order of execution. Each returns its output; shapes are N x C x H x W. The graph is
  // sequential: x is the output of the operation before (Error otherwise).
  /// The images; a gradient with respect to them is computed only if asked for (tests do).
  virtual Tensor input(const Shape& shape, bool needs_gradient = false) = 0;
  /// Without a bias. weight: out_channels x C x kernel x kernel.
  virtual Tensor convolution(Tensor x, const ConvolutionSpec& spec, const ParameterView& weight) = 0;
  /// Over N, H and W; biased variance to normalise, unbiased for the running one (as Chainer).
  virtual Tensor batch_normalization(Tensor x, const BatchNormalizationSpec& spec,
                                     const BatchNormalizationParameters& parameters) = 0;
  virtual Tensor relu(Tensor x) = 0;
  /// The Gaussian error linear unit: x * P(Z <= x) for a standard normal Z, by the error function. D. Hendrycks and K.
  /// Gimpel, 2016, "Gaussian error linear units (GELUs)" (arXiv 1606.08415).
  virtual Tensor gelu(Tensor x) = 0;
  /// y = x + bias of the channel. bias: C.
  virtual Tensor bias(Tensor x, const ParameterView& bias) = 0;
  virtual Tensor max_pooling(Tensor x, const PoolingSpec& spec) = 0;
  /// Inverted dropout: kept values are divided by 1 - ratio; random_rules.h says which. May reuse x's memory.
  virtual Tensor dropout(Tensor x, float ratio) = 0;
  /// Flattens x to N x (C*H*W) in that order. weight: out x (C*H*W). bias: out, or null for none.
  virtual Tensor linear(Tensor x, int out, const ParameterView& weight, const ParameterView* bias) = 0;
  /// y = scale * x, between a linear layer and softmax_cross_entropy(). Adds to the gradient what smoothed labels
  /// change.
  virtual Tensor logits(Tensor x, const LogitsSpec& spec) = 0;
  /// The end of the graph: mean loss over the batch, and accuracy.
  virtual void softmax_cross_entropy(Tensor x) = 0;
  /// Plans and allocates the memory. Nothing can be added afterwards.
  virtual void finish() = 0;

  // ---- Running
  /// Fills the input and the labels: crop and flip (random_rules.h), then bilinear enlargement (pixel centres at half
  /// integers, edges repeated), then normalisation; black pixels lie around the image. Fewer examples than the batch
  /// size: the rest is zeros and counts nowhere.
  virtual void load(const Batch& batch, const RandomKey& key) = 0;
  virtual void forward(Mode mode, const RandomKey& key) = 0;
  /// Writes (not adds) the gradients of the mean loss. Follows a forward(train) of a full batch. Of a graph without a
  /// softmax_cross_entropy it starts from write_gradient() of the last tensor.
  void backward() { backward({}); }
  /// The same, and reports each operation's gradients as soon as they are final, the last operation's first. On a GPU
  /// the operations are launched one by one then; the CUDA graph of the backward pass is not used.
  virtual void backward(const OnGradientReady& on_gradient_ready) = 0;
  /// The sums since the last call, counting the examples that are `counted`; waits for the device.
  virtual Metrics take_metrics() = 0;

  // ---- Parameters in plain order (O, I, H, W), whatever the layout in memory
  virtual std::vector<float> read_parameter(const Buffer& from, const ParameterView& view) = 0;
  virtual void write_parameter(Buffer& to, const ParameterView& view, std::span<const float> plain) = 0;

  // ---- For tests and for the curious
  /// Plain N x C x H x W order. Gradients share memory: after backward() only the input's is still there.
  virtual std::vector<float> read_value(Tensor tensor) = 0;
  virtual std::vector<float> read_gradient(Tensor tensor) = 0;
  virtual void write_value(Tensor tensor, std::span<const float> plain) = 0;
  virtual void write_gradient(Tensor tensor, std::span<const float> plain) = 0;
  /// One line an operation and pass: shape, implementation, algorithm.
  virtual std::vector<std::string> describe() const = 0;
  /// Bytes of activations, gradients of activations and scratch memory.
  virtual std::size_t memory_bytes() const = 0;
};

}  // namespace odori
