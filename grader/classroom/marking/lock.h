// Who works: on a RESULTS folder one batch, on a machine many or, for timings, one alone.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

namespace odori::grader {

/// A lock of flock(2)'s on a file: gone with the process, however it ends.
class Lock {
 public:
  enum class Kind { shared, exclusive };

  Lock() = default;
  ~Lock();
  Lock(Lock&& other) noexcept;
  Lock& operator=(Lock&& other) noexcept;

  /// Holds nothing if another process has the lock. Makes the file, which nobody else may read: whoever can read a
  /// file can lock it. Throws Refusal if that can't be.
  static Lock try_for(const std::filesystem::path& file, Kind kind);
  /// Waits for it. `meanwhile` is called every 20 ms, and may throw. Throws Error on Ctrl-C.
  static Lock wait_for(
      const std::filesystem::path& file, Kind kind, const std::function<void()>& meanwhile = [] {});

  explicit operator bool() const { return descriptor_ >= 0; }
  /// What the file says: who holds the lock, for others to read.
  void write(const std::string& text) const;

 private:
  bool take(const std::filesystem::path& file, Kind kind) const;

  int descriptor_ = -1;
};

/// A folder of this user's alone, for locks: ~/.cache/odori, or else one below XDG_RUNTIME_DIR. Throws Refusal if there
/// is none.
std::filesystem::path folder_of_locks();

/// This machine, for a marking that others may run beside (shared) or for a timing (exclusive), against all batches of
/// this user, by files in `folder`. Who waits for a timing isn't passed by those who mark. `meanwhile` as for
/// Lock::wait_for.
Lock this_machine_for(
    Lock::Kind kind, const std::filesystem::path& folder, const std::function<void()>& meanwhile = [] {});

/// The other processes that this_machine_for() would wait for: "PID 4711, since 14:30:00". Empty if the system
/// doesn't tell.
std::string who_has_this_machine(const std::filesystem::path& folder);

std::string this_host();

}  // namespace odori::grader
