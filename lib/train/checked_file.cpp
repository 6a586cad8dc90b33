#include "train/checked_file.h"

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "core/error.h"
#include "data/mapped_file.h"

namespace odori {
namespace {

namespace fs = std::filesystem;

/// A file or folder that is open; closed once.
class Descriptor {
 public:
  Descriptor(const std::string& path, int flags) : path_(path), fd_(::open(path.c_str(), flags | O_CLOEXEC, 0666)) {
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
    check(::fsync(fd_) == 0);
    const int fd = fd_;
    fd_ = -1;
    check(::close(fd) == 0);
  }

 private:
  void check(bool succeeded) const { require(succeeded, "{} can't be written: {}.", path_, std::strerror(errno)); }

  std::string path_;
  int fd_;
};

std::uint32_t crc(std::uint32_t before, std::span<const std::byte> bytes) {
  return static_cast<std::uint32_t>(::crc32_z(before, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

std::string folder_of(const std::string& path) {
  const fs::path folder = fs::path(path).parent_path();
  return folder.empty() ? "." : folder.string();
}

void rename(const std::string& from, const std::string& to) {
  if (std::rename(from.c_str(), to.c_str()) != 0)
    fail("{} can't be renamed to {}: {}.", from, to, std::strerror(errno));
  Descriptor(folder_of(to), O_RDONLY | O_DIRECTORY).sync_and_close();
}

}  // namespace

FileCheck write_file(const std::string& path, std::span<const std::span<const std::byte>> pieces) {
  Descriptor file(path, O_WRONLY | O_CREAT | O_TRUNC);
  FileCheck check;
  for (const auto& piece : pieces) {
    file.write(piece);
    check.bytes += piece.size();
    check.crc32 = crc(check.crc32, piece);
  }
  file.sync_and_close();
  return check;
}

FileCheck write_file(const std::string& path, const std::string& text) {
  const std::span<const std::byte> piece = std::as_bytes(std::span(text));
  return write_file(path, {&piece, 1});
}

std::vector<std::byte> read_file(const std::string& path) {
  const MappedFile file(path);
  const auto* bytes = reinterpret_cast<const std::byte*>(file.data());
  return {bytes, bytes + file.size()};
}

std::vector<std::byte> read_file(const std::string& path, const FileCheck& check) {
  std::vector<std::byte> bytes = read_file(path);
  require(bytes.size() == check.bytes, "{} is damaged: it has {} bytes, but {} were written.", path, bytes.size(),
          check.bytes);
  require(crc(0, bytes) == check.crc32, "{} is damaged: its checksum isn't that of what was written.", path);
  return bytes;
}

void replace_file(const std::string& path, const std::string& text) {
  const std::string part = path + ".part";
  try {
    write_file(part, text);
    rename(part, path);
  } catch (...) {
    std::error_code ignored;
    fs::remove(part, ignored);
    throw;
  }
}

void replace_folder(const std::string& from, const std::string& to) {
  if (!fs::exists(to)) return rename(from, to);
  // Both change names at once, so that a kill leaves one of them whole under `to`. Some file systems can't.
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_EXCHANGE) == 0) {
    fs::remove_all(from);
    return;
  }
  const std::string old = to + ".old";
  fs::remove_all(old);
  rename(to, old);
  rename(from, to);
  fs::remove_all(old);
}

}  // namespace odori
