// SPDX-License-Identifier: Apache-2.0
// Layers: what each needs (parameters), what it makes of a shape, and the operation it adds to a graph.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backend/graph.h"

namespace odori {

/// How a parameter starts.
enum class Initializer {
  lecun_normal,  // normal, deviation sqrt(1 / inputs of one output): Y. LeCun et al., 1998, "Efficient
                 // BackProp"
  zero,
  one
};

/// A parameter or a statistic that a layer asks for.
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
  /// Shape of the output for an input of this shape. Throws Error if the input can't be used.
  virtual Shape output(const Shape& input) const = 0;
  virtual std::vector<ParameterRequest> parameters(const Shape&) const { return {}; }
  /// Adds the operation; `views` are the places of what parameters() asked for, in that order.
  virtual Tensor build(Graph& graph, Tensor x, const std::vector<ParameterView>& views) const = 0;
};

/// 3 x 3 by default, without a bias (a batch normalisation follows).
std::unique_ptr<Layer> convolution(const std::string& name, int out_channels, int kernel = 3, int padding = 1);
std::unique_ptr<Layer> batch_normalization(const std::string& name, const BatchNormalizationSpec& spec);
std::unique_ptr<Layer> batch_normalization(const std::string& name, bool relu);
std::unique_ptr<Layer> relu();
std::unique_ptr<Layer> gelu();
/// One element a channel.
std::unique_ptr<Layer> bias(const std::string& name);
/// Windows that do not overlap. `leave_out`: rows and columns at the end that fill no window are left out; else they
/// are an error.
std::unique_ptr<Layer> max_pooling(int kernel = 2, bool leave_out = false);
std::unique_ptr<Layer> dropout(float ratio);
std::unique_ptr<Layer> linear(const std::string& name, int out, bool bias);
/// Last, after a linear layer.
std::unique_ptr<Layer> logits(const LogitsSpec& spec);

/// Layers in a row: all that the kit's networks are.
using Network = std::vector<std::unique_ptr<Layer>>;

}  // namespace odori
