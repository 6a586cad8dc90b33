// SPDX-License-Identifier: Apache-2.0
// Communicators on nodes, and over a link, of a test's choice.
#pragma once

#include <cstdlib>
#include <memory>
#include <string>

#include "comm/communicator.h"

namespace odori {

/// The first of these nodes, a digit a rank, as ODORI_NODES has them: "0,0,1".
inline std::string nodes_of(const std::string& digits, int size) {
  std::string nodes;
  for (int r = 0; r < size; ++r) nodes += std::string(r > 0 ? "," : "") + digits[static_cast<std::size_t>(r)];
  return nodes;
}

/// While it lives, this process asks for these nodes and for this link; for none where a value is empty.
class OnNodes {
 public:
  explicit OnNodes(const std::string& nodes, const std::string& link = "") {
    if (!nodes.empty()) ::setenv("ODORI_NODES", nodes.c_str(), 1);
    if (!link.empty()) ::setenv("ODORI_LINK", link.c_str(), 1);
  }
  OnNodes(const OnNodes&) = delete;
  OnNodes& operator=(const OnNodes&) = delete;
  ~OnNodes() {
    ::unsetenv("ODORI_NODES");
    ::unsetenv("ODORI_LINK");
  }
};

inline std::unique_ptr<Communicator> create_on(const std::string& nodes, const std::string& name,
                                               const std::string& link = "") {
  const OnNodes there(nodes, link);
  return create_communicator(name);
}

}  // namespace odori
