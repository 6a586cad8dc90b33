// The networks of the workshop.
#pragma once

#include <string>

namespace odori {

/// "vgg" or "mid"; see vgg.cpp and mid.cpp. Cheap to copy: the layers are made when a model is.
struct NetworkSpec {
  std::string name;
  int n_classes = 10;
  int image_size = 32;
};

/// Checks the name (UsageError, listing the networks) and the image size.
NetworkSpec create_network(const std::string& name, int n_classes, int image_size = 32);

}  // namespace odori
