// SPDX-License-Identifier: Apache-2.0
#include "classroom/marking/lock.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <utility>

#include "classroom/refusal.h"
#include "files/file.h"
#include "program/program.h"
#include "report/machine.h"

namespace odori::grader {

namespace fs = std::filesystem;

namespace {

[[noreturn]] void cannot_lock(const fs::path& file, int error) {
  throw Refusal({"cannot_lock", {{"file", file.string()}, {"reason", std::strerror(error)}}}, 20);
}

int open_lock(const fs::path& file) {
  const int descriptor = open(file.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (descriptor < 0) cannot_lock(file, errno);
  fchmod(descriptor, 0600);  // one that was made before may be open to others
  return descriptor;
}

std::string this_host() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

}  // namespace

const std::string& this_process() {
  static const std::string text = fmt::format("{}, process {}, since {}", this_host(), getpid(), now());
  return text;
}

Lock::~Lock() {
  if (descriptor_ >= 0) close(descriptor_);
}

Lock::Lock(Lock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

Lock& Lock::operator=(Lock&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

bool Lock::take(const fs::path& file, Kind kind) const {
  if (flock(descriptor_, (kind == Kind::shared ? LOCK_SH : LOCK_EX) | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) cannot_lock(file, errno);  // some network file systems have no locks
    return false;
  }
  const std::string& text = this_process();
  // Written first and cut then: waiting processes read the file meanwhile.
  if (pwrite(descriptor_, text.data(), text.size(), 0) < 0 ||
      ftruncate(descriptor_, static_cast<off_t>(text.size())) != 0)
    cannot_lock(file, errno);
  return true;
}

Lock Lock::try_for(const fs::path& file, Kind kind) {
  Lock lock;
  lock.descriptor_ = open_lock(file);
  return lock.take(file, kind) ? std::move(lock) : Lock();
}

Lock Lock::wait_for(const fs::path& file, Kind kind, const WhileWaiting& meanwhile) {
  Lock lock;
  lock.descriptor_ = open_lock(file);
  while (!lock.take(file, kind)) {
    if (interrupted()) throw Error("Interrupted.", exit_code::interrupted);
    meanwhile(read_file(file));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return lock;
}

fs::path folder_of_locks() {
  const auto below = [](const char* variable, const fs::path& path) {
    const char* value = std::getenv(variable);
    return value && fs::path(value).is_absolute() ? value / path : fs::path();
  };
  for (const fs::path& folder :
       {below("XDG_CACHE_HOME", "odori"), below("HOME", ".cache/odori"), below("XDG_RUNTIME_DIR", "odori")}) {
    // Root that works with another user's HOME leaves nothing of root's there.
    fs::path there = folder;
    std::error_code error;
    while (!there.empty() && !fs::exists(there, error)) there = there.parent_path();
    struct stat status {};
    if (there.empty() || stat(there.c_str(), &status) != 0 || status.st_uid != geteuid()) continue;
    fs::create_directories(folder.parent_path(), error);
    mkdir(folder.c_str(), 0700);
    if (is_own_folder(folder)) return folder;
  }
  throw Refusal({"no_folder_for_locks", {}}, 20);
}

Lock this_machine_for(Lock::Kind kind, const fs::path& folder, const Lock::WhileWaiting& meanwhile) {
  // In a home folder on the network, each machine has its own files.
  const fs::path machine = folder / (this_host() + ".machine"), gate = folder / (this_host() + ".gate");
  // Everybody passes the gate one by one; a process that waits to measure waits in it.
  const Lock passing = Lock::wait_for(gate, Lock::Kind::exclusive, meanwhile);
  return Lock::wait_for(machine, kind, meanwhile);
}

}  // namespace odori::grader
