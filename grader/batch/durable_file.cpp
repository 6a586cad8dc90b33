#include "batch/durable_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "batch/refusal.h"

namespace odori::grader {
namespace {

namespace fs = std::filesystem;

constexpr int cannot_write = 20;

/// A file or folder that is open for as long as this lives.
class Open {
 public:
  Open(const fs::path& path, int flags) : path_(path), descriptor_(open(path.c_str(), flags | O_CLOEXEC, 0644)) {
    if (descriptor_ < 0) refuse_to_write(path_, errno);
  }
  ~Open() { close(descriptor_); }
  Open(const Open&) = delete;
  Open& operator=(const Open&) = delete;

  void write_all(std::string_view text) const {
    while (!text.empty()) {
      const ssize_t written = write(descriptor_, text.data(), text.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) refuse_to_write(path_, errno);
      text.remove_prefix(static_cast<std::size_t>(written));
    }
  }
  /// Waits until it is on the disk.
  void synchronize() const {
    // Some network file systems can't say so of a folder.
    if (fsync(descriptor_) != 0 && errno != EINVAL && errno != ENOTSUP) refuse_to_write(path_, errno);
  }

 private:
  const fs::path& path_;
  int descriptor_;
};

}  // namespace

void refuse_to_write(const fs::path& path, int error) {
  throw Refusal({error == ENOSPC || error == EDQUOT ? "batch_disk_full" : "batch_cannot_write",
                 {{"file", path.string()}, {"reason", std::strerror(error)}}},
                cannot_write);
}

void write_durably(const fs::path& path, std::string_view text) {
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  if (error) refuse_to_write(path.parent_path(), error.value());
  const fs::path unfinished = path.string() + std::string(unfinished_suffix);
  try {
    const Open file(unfinished, O_WRONLY | O_CREAT | O_TRUNC);
    file.write_all(text);
    file.synchronize();
  } catch (const Refusal&) {
    fs::remove(unfinished, error);
    throw;
  }
  fs::rename(unfinished, path, error);
  if (error) refuse_to_write(path, error.value());
  Open(path.parent_path(), O_RDONLY | O_DIRECTORY).synchronize();
}

}  // namespace odori::grader
