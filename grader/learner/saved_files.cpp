#include "learner/saved_files.h"

#include <algorithm>

#include "blanks/blanks.h"

namespace odori::grader {

SavedFiles::SavedFiles(std::vector<std::filesystem::path> files) : files_(std::move(files)) { told_ = last_ = look(); }

bool SavedFiles::saved() {
  auto now = look();
  const bool still = now == last_;
  last_ = std::move(now);
  const bool all_there = std::all_of(last_.begin(), last_.end(), [](const Look& file) { return file.there; });
  if (!still || !all_there || last_ == told_) return false;
  told_ = last_;
  return true;
}

std::vector<SavedFiles::Look> SavedFiles::look() const {
  std::vector<Look> looks;
  for (const auto& file : files_) {
    std::error_code error;
    Look look;
    // Read first: opening a file makes network file systems ask their server for it anew.
    look.content = read_file(file);
    look.time = std::filesystem::last_write_time(file, error);
    look.there = !error && !look.content.empty();
    looks.push_back(std::move(look));
  }
  return looks;
}

}  // namespace odori::grader
