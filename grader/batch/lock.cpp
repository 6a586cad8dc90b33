#include "batch/lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

#include "batch/refusal.h"
#include "core/program.h"

namespace odori::grader {

namespace fs = std::filesystem;

namespace {

/// A lock file that is another user's can't be written to, but locked: reading is enough for that.
int open_lock(const fs::path& file) {
  for (const int flags : {O_RDWR | O_CREAT, O_RDONLY})
    if (const int descriptor = open(file.c_str(), flags | O_NOFOLLOW | O_CLOEXEC, 0644); descriptor >= 0)
      return descriptor;
  throw Refusal({"batch_cannot_write", {{"file", file.string()}, {"reason", std::strerror(errno)}}}, 20);
}

}  // namespace

Lock::~Lock() {
  if (descriptor_ >= 0) close(descriptor_);
}

Lock::Lock(Lock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

Lock& Lock::operator=(Lock&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

bool Lock::take(Kind kind) const {
  return flock(descriptor_, (kind == Kind::shared ? LOCK_SH : LOCK_EX) | LOCK_NB) == 0;
}

Lock Lock::try_for(const fs::path& file, Kind kind) {
  Lock lock;
  lock.descriptor_ = open_lock(file);
  return lock.take(kind) ? std::move(lock) : Lock();
}

Lock Lock::wait_for(const fs::path& file, Kind kind) {
  Lock lock;
  lock.descriptor_ = open_lock(file);
  while (!lock.take(kind)) {
    if (interrupted()) throw Error("Interrupted.", exit_code::interrupted);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return lock;
}

void Lock::write(const std::string& text) const {
  if (ftruncate(descriptor_, 0) != 0 || pwrite(descriptor_, text.data(), text.size(), 0) < 0)
    throw Refusal({"batch_cannot_write", {{"file", "lock"}, {"reason", std::strerror(errno)}}}, 20);
}

Lock this_machine_for(Lock::Kind kind, const fs::path& folder) {
  // Everybody passes the gate one by one; who waits for a timing waits in it.
  const Lock gate = Lock::wait_for(folder / "odori_grade.gate", Lock::Kind::exclusive);
  return Lock::wait_for(folder / "odori_grade.machine", kind);
}

}  // namespace odori::grader
