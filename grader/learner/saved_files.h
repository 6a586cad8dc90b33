// SPDX-License-Identifier: Apache-2.0
// Notices saves by polling, which also works on network file systems.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace odori::grader {

class SavedFiles {
 public:
  explicit SavedFiles(std::vector<std::filesystem::path> files);

  /// To be called repeatedly. Returns true once for each save: when a file's time or content changed since the last
  /// save and none has changed since the previous call. A file that is empty or missing is still being written.
  bool saved();

 private:
  struct Look {
    std::filesystem::file_time_type time;
    std::string content;
    bool operator==(const Look&) const = default;
  };
  std::vector<Look> look() const;

  std::vector<std::filesystem::path> files_;
  std::vector<Look> reported_, last_;
};

}  // namespace odori::grader
