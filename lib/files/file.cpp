// SPDX-License-Identifier: Apache-2.0
#include "files/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <vector>

namespace odori {
namespace {

namespace fs = std::filesystem;

/// `what`: "written".
[[noreturn]] void refuse(const fs::path& path, const Text& what, int reason) {
  throw WriteError(
      in_language({"{} can't be {}: {}.", "{} {}: {}。"}, path.string(), in_language(what), std::strerror(reason)),
      reason);
}

/// A file or folder that is open; closed once.
class Descriptor {
 public:
  Descriptor(const fs::path& path, int flags) : path_(path), fd_(::open(path.c_str(), flags | O_CLOEXEC, 0666)) {
    check(fd_ >= 0);
  }
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  void write(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const ssize_t n = ::write(fd_, bytes.data(), bytes.size());
      if (n < 0 && errno == EINTR) continue;
      check(n >= 0);
      bytes = bytes.subspan(static_cast<std::size_t>(n));
    }
  }
  /// Some file systems tell only now that they have no room.
  void sync_and_close() {
    // Some network file systems can't say so of a folder; and what isn't on a disk, a terminal say, never can.
    check(::fsync(fd_) == 0 || errno == EINVAL || errno == ENOTSUP);
    const int fd = fd_;
    fd_ = -1;
    check(::close(fd) == 0);
  }

 private:
  void check(bool succeeded) const {
    if (!succeeded) refuse(path_, {"written", "に書き込めません"}, errno);
  }

  fs::path path_;
  int fd_;
};

void make_folder_of(const fs::path& path) {
  std::error_code error;
  if (path.has_parent_path()) fs::create_directories(path.parent_path(), error);
  if (error) refuse(path.parent_path(), {"made", "を作れません"}, error.value());
}

void rename_durably(const fs::path& from, const fs::path& to) {
  if (std::rename(from.c_str(), to.c_str()) != 0)
    refuse(from, {"renamed to " + to.string(), "の名前を " + to.string() + " に変えられません"}, errno);
  const fs::path folder = to.parent_path();
  Descriptor(folder.empty() ? "." : folder, O_RDONLY | O_DIRECTORY).sync_and_close();
}

}  // namespace

std::string read_file(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

void write_file(const fs::path& path, std::span<const std::span<const std::byte>> pieces) {
  Descriptor file(path, O_WRONLY | O_CREAT | O_TRUNC);
  for (const auto& piece : pieces) file.write(piece);
  file.sync_and_close();
}

void write_file(const fs::path& path, std::string_view text) {
  const std::span<const std::byte> piece = std::as_bytes(std::span(text));
  write_file(path, {&piece, 1});
}

void replace_file(const fs::path& path, std::string_view text) {
  make_folder_of(path);
  std::error_code error;
  // Of this process: another one may write the same file.
  const fs::path unfinished = fmt::format("{}.{}{}", path.string(), ::getpid(), unfinished_suffix);
  try {
    write_file(unfinished, text);
    if (const auto old = fs::status(path, error); fs::exists(old))
      fs::permissions(unfinished, old.permissions(), error);
    rename_durably(unfinished, path);
  } catch (const WriteError&) {
    fs::remove(unfinished, error);
    throw;
  }
}

void remove_unfinished(const fs::path& path) {
  const fs::path folder = path.has_parent_path() ? path.parent_path() : ".";
  const std::string begin = path.filename().string() + ".", end(unfinished_suffix);
  std::vector<fs::path> unfinished;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(begin) || !name.ends_with(end) || name.size() <= begin.size() + end.size()) continue;
    const std::string_view pid = std::string_view(name).substr(begin.size(), name.size() - begin.size() - end.size());
    if (pid.find_first_not_of("0123456789") == pid.npos) unfinished.push_back(entry.path());
  }
  for (const fs::path& left : unfinished) fs::remove(left, error);
}

bool is_own_folder(const fs::path& path) {
  struct stat status {};
  return lstat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == geteuid() &&
         (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

TemporaryFolder::TemporaryFolder(const fs::path& prefix) {
  make_folder_of(prefix);
  std::string name = prefix.string() + "XXXXXX";
  if (::mkdtemp(name.data()) == nullptr)
    refuse(fs::absolute(prefix).parent_path(), {"written to", "に書き込めません"}, errno);
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

void replace_folder(const fs::path& from, const fs::path& to) {
  if (!fs::exists(to)) return rename_durably(from, to);
  // Both change names at once, so that a kill leaves one of them whole under `to`. Some file systems can't.
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_EXCHANGE) == 0) {
    fs::remove_all(from);
    return;
  }
  const fs::path old = to.string() + ".old";
  fs::remove_all(old);
  rename_durably(to, old);
  rename_durably(from, to);
  fs::remove_all(old);
}

}  // namespace odori
