// SPDX-License-Identifier: Apache-2.0
#include "learner/saved_files.h"

#include <algorithm>
#include <utility>

#include "files/file.h"

namespace odori::grader {

SavedFiles::SavedFiles(std::vector<std::filesystem::path> files) : files_(std::move(files)) {
  reported_ = last_ = look();
}

bool SavedFiles::saved() {
  const std::vector<Look> before = std::exchange(last_, look());
  const bool complete = std::ranges::none_of(last_, [](const Look& file) { return file.content.empty(); });
  if (last_ != before || !complete || last_ == reported_) return false;
  reported_ = last_;
  return true;
}

std::vector<SavedFiles::Look> SavedFiles::look() const {
  std::vector<Look> looks;
  for (const auto& file : files_) {
    // Read first: opening a file makes network file systems ask their server for it again.
    std::string content = read_file(file);
    std::error_code missing;
    looks.push_back({std::filesystem::last_write_time(file, missing), std::move(content)});
  }
  return looks;
}

}  // namespace odori::grader
