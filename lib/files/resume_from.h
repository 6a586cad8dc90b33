// SPDX-License-Identifier: Apache-2.0
// The snapshot that a training run resumes from, as given by flags.
#pragma once

#include <string>
#include <utility>

namespace odori {

struct ResumeFrom {
  ResumeFrom(std::string folder = {}) : path(std::move(folder)) {}  // NOLINT(google-explicit-constructor)
  bool empty() const { return path.empty(); }

  std::string path;            // a snapshot's folder, or a folder of them
  bool asks_for_rate = false;  // --learnrate was given; the snapshot's rate is used, with a message
};

}  // namespace odori
