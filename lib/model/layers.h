// SPDX-License-Identifier: Apache-2.0
// Layers: the shape of their output, their parameters, and their operation in a graph.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backend/graph.h"

namespace odori {

/// Initial values of a parameter.
enum class Initializer {
  lecun_normal,  // normal, deviation sqrt(1 / inputs of one output): Y. LeCun et al., 1998, "Efficient
                 // BackProp"
  zero,
  one
};

/// A parameter or statistic that a layer needs.
struct ParameterRequest {
  std::string name;  // "conv1_1/W"
  Shape shape;
  ParameterKind kind;
  Initializer initializer;
  bool trained = true;  // false: a running statistic
};

class Layer {
 public:
  virtual ~Layer() = default;
  /// Shape of the output for an input of this shape. Throws Error if the layer does not accept the input.
  virtual Shape output(const Shape& input) const = 0;
  virtual std::vector<ParameterRequest> parameters(const Shape&) const { return {}; }
  /// Adds the operation to the graph. `views`: positions of the parameters, in the order of parameters().
  virtual Tensor build(Graph& graph, Tensor x, const std::vector<ParameterView>& views) const = 0;
};

/// 3 x 3 by default, without a bias (a batch normalisation follows).
std::unique_ptr<Layer> convolution(const std::string& name, int out_channels, int kernel = 3, int padding = 1);
std::unique_ptr<Layer> batch_normalization(const std::string& name, const BatchNormalizationSpec& spec);
std::unique_ptr<Layer> batch_normalization(const std::string& name, bool relu);
std::unique_ptr<Layer> relu();
std::unique_ptr<Layer> gelu();
/// Adds one element per channel.
std::unique_ptr<Layer> bias(const std::string& name);
/// Non-overlapping windows. `leave_out`: drop rows and columns at the end that fill no window; otherwise they are an
/// error.
std::unique_ptr<Layer> max_pooling(int kernel = 2, bool leave_out = false);
std::unique_ptr<Layer> dropout(float ratio);
std::unique_ptr<Layer> linear(const std::string& name, int out, bool bias);
/// Scale and label smoothing; the last layer, after a linear one.
std::unique_ptr<Layer> logits(const LogitsSpec& spec);

/// A sequence of layers.
using Network = std::vector<std::unique_ptr<Layer>>;

}  // namespace odori
