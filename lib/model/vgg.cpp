// SPDX-License-Identifier: Apache-2.0
// Chainer's VGG for CIFAR, layer for layer: 14,987,200 parameters for 10 classes and 32 x 32 images.
// Sources: K. Simonyan and A. Zisserman, 2014, "Very Deep Convolutional Networks for Large-Scale Image
// Recognition"; with batch normalisation and dropout as in S. Zagoruyko, 2015, "92.45% on CIFAR-10 in Torch".
#include "model/networks.h"

namespace odori {

Network vgg(int n_classes) {
  Network net;
  // 3 x 3 convolution without bias, batch normalisation, ReLU
  const auto block = [&](const std::string& name, int channels) {
    net.push_back(convolution(name + "/conv", channels));
    net.push_back(batch_normalization(name + "/bn", true));
  };
  // comments: height and width behind the line, for 32 x 32 images
  block("block1_1", 64), net.push_back(dropout(0.3f));
  block("block1_2", 64), net.push_back(max_pooling());  // 16
  block("block2_1", 128), net.push_back(dropout(0.4f));
  block("block2_2", 128), net.push_back(max_pooling());  // 8
  block("block3_1", 256), net.push_back(dropout(0.4f));
  block("block3_2", 256), net.push_back(dropout(0.4f));
  block("block3_3", 256), net.push_back(max_pooling());  // 4
  block("block4_1", 512), net.push_back(dropout(0.4f));
  block("block4_2", 512), net.push_back(dropout(0.4f));
  block("block4_3", 512), net.push_back(max_pooling());  // 2
  block("block5_1", 512), net.push_back(dropout(0.4f));
  block("block5_2", 512), net.push_back(dropout(0.4f));
  block("block5_3", 512), net.push_back(max_pooling());  // 1
  net.push_back(dropout(0.5f));
  net.push_back(linear("fc1", 512, false));
  net.push_back(batch_normalization("bn_fc1", true));
  net.push_back(dropout(0.5f));
  net.push_back(linear("fc2", n_classes, false));
  return net;
}

}  // namespace odori
