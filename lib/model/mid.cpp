// SPDX-License-Identifier: Apache-2.0
// A network of medium size, for the demo: an eighth of the VGG's multiply-adds, and good enough to
// learn something in a minute without a GPU. 551,136 parameters for 10 classes and 32 x 32 images.
#include "model/networks.h"

namespace odori {

Network mid(int n_classes) {
  Network net;
  const auto block = [&](const std::string& name, int channels) {
    net.push_back(convolution(name + "/conv", channels));
    net.push_back(batch_normalization(name + "/bn", true));
  };
  block("block1_1", 32);
  block("block1_2", 32), net.push_back(max_pooling());  // 16
  block("block2_1", 64);
  block("block2_2", 64), net.push_back(max_pooling());  // 8
  block("block3_1", 128);
  block("block3_2", 128), net.push_back(max_pooling());  // 4
  net.push_back(linear("fc1", 128, false));
  net.push_back(batch_normalization("bn_fc1", true));
  net.push_back(linear("fc2", n_classes, false));
  return net;
}

}  // namespace odori
