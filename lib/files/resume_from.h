// SPDX-License-Identifier: Apache-2.0
// Which snapshot a training goes on from, as flags say it.
#pragma once

#include <string>
#include <utility>

namespace odori {

struct ResumeFrom {
  ResumeFrom(std::string folder = {}) : path(std::move(folder)) {}  // NOLINT(google-explicit-constructor)
  bool empty() const { return path.empty(); }

  std::string path;            // a snapshot's folder, or a folder of them
  bool asks_for_rate = false;  // by --learnrate: the snapshot's is used, and a message says so
};

}  // namespace odori
