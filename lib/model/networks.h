// SPDX-License-Identifier: Apache-2.0
// The networks of the workshop, one file each: vgg.cpp, mid.cpp, tiny.cpp.
#pragma once

#include <string>
#include <vector>

#include "model/layers.h"
#include "numbers/layer_cost.h"

namespace odori {

/// A network by name. Cheap to copy and to compare: the layers are created by layers_of().
struct NetworkSpec {
  std::string name = "vgg";
  int n_classes = 10;
  int image_size = 32;
  /// Creates the layers of a program's own network. Null: the library's network of this name.
  Network (*layers)(const NetworkSpec& spec) = nullptr;
  bool operator==(const NetworkSpec&) const = default;
};

/// Throws UsageError for an unknown name, listing the networks, and for an image size that is not a multiple of 32.
NetworkSpec create_network(const std::string& name, int n_classes, int image_size = 32);
std::vector<std::string> network_names();

/// The layers, first to last, without the loss.
Network layers_of(const NetworkSpec& spec);

/// Cost of a network, computed from its shapes.
struct NetworkCost {
  /// Floating-point operations per image of a training step, in convolutions and linear layers: forward, and twice as
  /// many backward, except for the gradient of the images, which is not computed.
  double operations = 0;
  double parameters = 0;  // trained elements
  int arrays = 0;         // parameter tensors
  /// First to last; their sums are the totals above.
  std::vector<LayerCost> layers;
};
NetworkCost cost_of(const NetworkSpec& spec);

Network vgg(int n_classes);
Network mid(int n_classes);
Network tiny(int n_classes);

}  // namespace odori
