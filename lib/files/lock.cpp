// SPDX-License-Identifier: Apache-2.0
#include "files/lock.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <utility>

#include "files/file.h"

namespace odori {
namespace {

[[noreturn]] void cannot_lock(const std::string& file, int reason) {
  throw WriteError(fmt::format("The lock {} can't be taken: {}.", file, std::strerror(reason)), reason);
}

}  // namespace

std::string this_host() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

const std::string& this_process() {
  static const std::string text = fmt::format("{}, process {}, since {:%Y-%m-%d %H:%M}", this_host(), ::getpid(),
                                              fmt::localtime(std::time(nullptr)));
  return text;
}

Lock::Lock(const std::filesystem::path& file, unsigned mode)
    : file_(file), descriptor_(::open(file.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, mode)) {
  if (descriptor_ < 0) cannot_lock(file_, errno);
}

Lock::~Lock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Lock::Lock(Lock&& other) noexcept : file_(std::move(other.file_)), descriptor_(std::exchange(other.descriptor_, -1)) {}

Lock& Lock::operator=(Lock&& other) noexcept {
  std::swap(file_, other.file_);
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

bool Lock::take(Kind kind) const {
  if (::flock(descriptor_, (kind == Kind::shared ? LOCK_SH : LOCK_EX) | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) cannot_lock(file_, errno);
    return false;
  }
  const std::string& text = this_process();
  // Written first and cut then: waiting processes read the file meanwhile.
  if (::pwrite(descriptor_, text.data(), text.size(), 0) < 0 ||
      ::ftruncate(descriptor_, static_cast<off_t>(text.size())) != 0)
    cannot_lock(file_, errno);
  return true;
}

std::string Lock::holder() const { return read_file(file_); }

}  // namespace odori
