// Notices that files were saved, by looking at them: that also works on network file systems, where nobody tells.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace odori::grader {

class SavedFiles {
 public:
  explicit SavedFiles(std::vector<std::filesystem::path> files);

  /// To be called again and again. True once for each save: when time of change or content differ from those last told
  /// of, and are the same as at the call before. So a file that is being written, or is away for a moment while an
  /// editor renames its new copy, is waited for.
  bool saved();

 private:
  struct Look {
    std::filesystem::file_time_type time;
    std::string content;
    bool there = false;
    bool operator==(const Look&) const = default;
  };
  std::vector<Look> look() const;

  std::vector<std::filesystem::path> files_;
  std::vector<Look> told_, last_;
};

}  // namespace odori::grader
