// SPDX-License-Identifier: Apache-2.0
// The networks of the workshop, one file each: vgg.cpp, mid.cpp, tiny.cpp.
#pragma once

#include <string>
#include <vector>

#include "model/layers.h"
#include "numbers/layer_cost.h"

namespace odori {

/// A network by name; its layers are made when a model needs them. Cheap to copy and to compare.
struct NetworkSpec {
  std::string name = "vgg";
  int n_classes = 10;
  int image_size = 32;
  /// Makes the layers of a program's own network; null: the kit's of this name.
  Network (*layers)(const NetworkSpec& spec) = nullptr;
  bool operator==(const NetworkSpec&) const = default;
};

/// Checks the name (UsageError, listing the networks) and the image size.
NetworkSpec create_network(const std::string& name, int n_classes, int image_size = 32);
std::vector<std::string> network_names();

/// The layers, first to last, without the loss.
Network layers_of(const NetworkSpec& spec);

/// What a network costs, by its shapes alone.
struct NetworkCost {
  /// Floating-point operations of a training step an image, in its convolutions and linear layers: forward, and twice
  /// as many backward (but for the images' own gradient, which nobody needs).
  double operations = 0;
  double parameters = 0;  // trained elements
  int arrays = 0;         // that contain these
  /// First to last; the sums of their parameters and operations are those above.
  std::vector<LayerCost> layers;
};
NetworkCost cost_of(const NetworkSpec& spec);

Network vgg(int n_classes);
Network mid(int n_classes);
Network tiny(int n_classes);

}  // namespace odori
