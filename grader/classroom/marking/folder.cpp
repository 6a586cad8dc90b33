// SPDX-License-Identifier: Apache-2.0
// Entries of a folder.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "classroom/marking/entries.h"

namespace odori::grader {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_folders = 32;  // nested

/// Opens it if it is a plain file when opened, whatever it was before. Returns -1 if not.
int open_file(const fs::path& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  struct stat status {};
  if (descriptor >= 0 && (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode))) {
    close(descriptor);
    return -1;
  }
  return descriptor;
}

bool read_pieces(const fs::path& path, const std::function<bool(std::string_view)>& take) {
  const int descriptor = open_file(path);
  if (descriptor < 0) return false;
  std::array<char, 1 << 16> piece;
  ssize_t n = 0;
  do {
    n = read(descriptor, piece.data(), piece.size());
  } while ((n < 0 && errno == EINTR) || (n > 0 && take({piece.data(), static_cast<std::size_t>(n)})));
  close(descriptor);
  return n >= 0;
}

bool scan(const fs::path& folder, const std::vector<std::string>& parts, const EntryHandler& handle) {
  std::error_code error;
  std::vector<fs::path> paths;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    paths.push_back(at->path());
  if (error) return handle({.parts = parts, .kind = Entry::Kind::unreadable});
  std::sort(paths.begin(), paths.end());
  for (const fs::path& path : paths) {
    struct stat status {};
    if (lstat(path.c_str(), &status) != 0) continue;  // gone since
    Entry entry{.parts = parts,
                .bytes = static_cast<std::uintmax_t>(status.st_size),
                .modified = status.st_mtime,
                .read = [&path](const auto& take) { return read_pieces(path, take); }};
    entry.parts.push_back(path.filename());
    const bool folder_too = S_ISDIR(status.st_mode);
    entry.kind = folder_too                ? Entry::Kind::folder
                 : S_ISREG(status.st_mode) ? Entry::Kind::file
                 : S_ISLNK(status.st_mode) ? Entry::Kind::link
                                           : Entry::Kind::special;
    if (!handle(entry)) return false;
    if (folder_too && entry.parts.size() < most_folders && !scan(path, entry.parts, handle)) return false;
  }
  return true;
}

}  // namespace

std::string Entry::path() const {
  std::string path;
  for (const std::string& part : parts) path.append(path.empty() ? "" : "/").append(part);
  return path;
}

void scan_folder(const fs::path& folder, const EntryHandler& handle) { scan(folder, {}, handle); }

}  // namespace odori::grader
