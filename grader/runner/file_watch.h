// Which files are really opened: what a program says of itself doesn't enter into it.
#pragma once

#include <filesystem>

namespace odori::grader {

/// Watches the files of one folder from here on, whichever process on this machine opens them.
class FileWatch {
 public:
  /// Where the system has no watch to give (each user has so many), nothing is seen. `closely`: files are told apart
  /// by being closed as well, and one that is written to, or cut, counts as opened.
  explicit FileWatch(const std::filesystem::path& folder, bool closely = false);
  ~FileWatch();
  FileWatch(const FileWatch&) = delete;
  FileWatch& operator=(const FileWatch&) = delete;

  /// How often the file that was opened most was opened. A lower bound: the system tells two openings as one where
  /// nothing that is watched happens between them.
  int most_openings();

 private:
  int watch_;
};

}  // namespace odori::grader
