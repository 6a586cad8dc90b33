// SPDX-License-Identifier: Apache-2.0
// The passes of an operation; each has its own algorithm.
#pragma once

namespace odori {

enum class Pass { forward, backward_data, backward_weights };

constexpr const char* to_string(Pass pass) {
  switch (pass) {
    case Pass::forward:
      return "forward";
    case Pass::backward_data:
      return "backward data";
    case Pass::backward_weights:
      return "backward weights";
  }
  return "";
}

}  // namespace odori
