// SPDX-License-Identifier: Apache-2.0
#include "train/folder_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "errors/error.h"
#include "report/machine.h"

namespace odori {
namespace {

std::string this_process() {
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  return fmt::format("process {} on {}, since {}", ::getpid(), host.data(), now());
}

}  // namespace

FolderLock::FolderLock(const std::string& folder) {
  const std::string path = folder + "/.lock";
  descriptor_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
  if (descriptor_ < 0) fail("The lock {} can't be opened: {}.", path, std::strerror(errno));
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) == 0) {
    const std::string text = this_process();
    if (::ftruncate(descriptor_, 0) != 0 || ::pwrite(descriptor_, text.data(), text.size(), 0) < 0) return;
  } else if (errno == EWOULDBLOCK) {
    std::array<char, 512> holder{};
    const ssize_t n = ::pread(descriptor_, holder.data(), holder.size() - 1, 0);
    ::close(descriptor_);
    fail("Another training writes into {} ({}). Give --out another folder, or wait until that one has ended.", folder,
         n > 0 ? holder.data() : "it doesn't say which");
  }
}

FolderLock::~FolderLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

FolderLock::FolderLock(FolderLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

FolderLock& FolderLock::operator=(FolderLock&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

}  // namespace odori
