// SPDX-License-Identifier: Apache-2.0
// The demo's flags.
#pragma once

#include <string>

namespace odori::demo {

struct Flags {
  std::string device = "auto";   // auto, cpu or cuda
  std::string dataset = "auto";  // cifar10 if it is there, else the synthetic set, which is made if it isn't
  int epoch = 2;
  double fraction = 0;  // of the data set; 0: what one device trains on in about 10 seconds
  std::string out = "out/demo";
};

/// Throws UsageError, and HelpRequested for --help.
Flags parse_flags(int argc, char** argv);

}  // namespace odori::demo
