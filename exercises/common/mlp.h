// SPDX-License-Identifier: Apache-2.0
// A multi-layer perceptron in flat arrays of host memory, for exercises that shard it, split its layers or cut it into
// stages. Every matrix is row-major. Every sum has a fixed order, so each run gives the same bits.
//
// All parameters are in one flat array, and all gradients in another with the same ranges: for each layer its weights
// [in, out], then its bias [out]. Together they are one matrix [in + 1, out], whose last row is the bias. Layer 0 reads
// the images. Ranks that split layers split the others, and each has layer 0 as a whole.
//
// The activation is the ReLU. It is elementwise, so it can be applied to a shard of columns; its backward needs only
// its output; and it does not round, so it is the same with any math library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "data/batch.h"
#include "numbers/range.h"

namespace odori::mlp {

/// y = relu(x W + b), or x W + b.
struct Layer {
  std::size_t in = 0, out = 0;
  Range range;  // of its parameters in the flat array: in * out weights, then out biases
  bool relu = true;
};

/// widths.size() - 1 layers, one range after another; layer i maps widths[i] values to widths[i + 1]. All but the last
/// have a ReLU. Throws Error for fewer than two widths, or a width of 0.
std::vector<Layer> make_layers(std::span<const std::size_t> widths);

/// The parameters of adjacent layers. A stage is such a part of the layers: std::span(layers).subspan(first, count).
Range range_of(std::span<const Layer> stage);

/// Multiply-adds of the layer's forward for one image.
inline std::size_t multiply_adds(const Layer& layer) { return layer.in * layer.out; }

// ---- Initial parameters. Each depends only on the seed, its position in the flat array, and its layer's `in`: weights
// are uniform in +-sqrt(6 / in) (K. He et al., 2015, "Delving deep into rectifiers"), biases in +-1 / sqrt(in).

/// Values of the flat array in `range`, which may begin and end inside a layer. Throws Error if it reaches beyond the
/// layers.
std::vector<float> initial_parameters(std::span<const Layer> layers, Range range, std::uint64_t seed);

/// A shard of one layer: these rows and columns of its matrix [in + 1, out], as a matrix [rows, columns]. Row `in` is
/// the bias. Throws Error if they reach beyond the matrix.
std::vector<float> initial_slice(const Layer& layer, Range rows, Range columns, std::uint64_t seed);

// ---- Operations. They throw Error if the size of a span does not match its shape.

/// Number of images, and values of each before and after.
struct Sizes {
  std::size_t n = 0, in = 0, out = 0;
};

/// y = x W + b. x [n, in], weights [in, out], bias [out] or empty (none is added), y [n, out].
void linear_forward(Sizes sizes, std::span<const float> x, std::span<const float> weights, std::span<const float> bias,
                    std::span<float> y);

/// From dy [n, out]: writes dx [n, in], unless empty; adds to dweights [in, out] and dbias [out], unless empty, image
/// by image. So the gradients of micro-batches, one after another, add up to the same bits as those of one batch.
void linear_backward(Sizes sizes, std::span<const float> x, std::span<const float> weights, std::span<const float> dy,
                     std::span<float> dx, std::span<float> dweights, std::span<float> dbias);

/// y = max(y, 0), in place.
void relu_forward(std::span<float> y);

/// dy = 0 where y, the output of relu_forward, is 0. y and dy have the same shape.
void relu_backward(std::span<const float> y, std::span<float> dy);

struct Loss {
  double mean = 0;          // over the n images
  std::size_t correct = 0;  // correct predictions among them
};

/// logits [n, classes], labels [n]. Writes the gradient of the mean loss over these n images to dlogits [n, classes],
/// unless empty. Throws Error for no images, or a label outside [0, classes).
Loss softmax_cross_entropy(std::span<const float> logits, std::span<const int> labels, std::span<float> dlogits = {});

/// parameters -= learning_rate * gradients.
void sgd_update(std::span<float> parameters, std::span<const float> gradients, float learning_rate);

// ---- A layer. `parameters` and `gradients` hold those of layer.range alone.

/// x [n, in], y [n, out].
void layer_forward(const Layer& layer, std::span<const float> parameters, std::span<const float> x, std::span<float> y);

/// x and y as in layer_forward. dy [n, out] is overwritten (by the gradient before the ReLU). Writes dx [n, in], unless
/// empty; adds to gradients.
void layer_backward(const Layer& layer, std::span<const float> parameters, std::span<const float> x,
                    std::span<const float> y, std::span<float> dy, std::span<float> dx, std::span<float> gradients);

// ---- A stage. `parameters` and `gradients` hold those of range_of(stage) alone.

/// Activations kept from forward to backward: [0] is the stage's input [n, in], [i + 1] the output of its layer i.
using Activations = std::vector<std::vector<float>>;

Activations stage_forward(std::span<const Layer> stage, std::span<const float> parameters, std::vector<float> x);

/// dy: the gradient of the stage's last activation. Adds to gradients. Returns dx, the gradient of the stage's input:
/// [n, in] of its first layer, or empty if that layer reads the images (its range begins at 0).
std::vector<float> stage_backward(std::span<const Layer> stage, std::span<const float> parameters,
                                  const Activations& activations, std::vector<float> dy, std::span<float> gradients);

// ---- Data

struct Images {
  std::vector<float> x;     // [n, 3072], normalised as the batch's Transform says
  std::vector<int> labels;  // [n]
};

/// Throws Error for a data set that is enlarged or augmented.
Images load(const Batch& batch);

}  // namespace odori::mlp
