// Who works: on a RESULTS folder one batch, on a machine many or, for timings, one alone.
#pragma once

#include <filesystem>
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

  /// Holds nothing if somebody else has the lock. Makes the file. Throws Refusal if that can't be.
  static Lock try_for(const std::filesystem::path& file, Kind kind);
  /// Waits for it. Throws Error on Ctrl-C.
  static Lock wait_for(const std::filesystem::path& file, Kind kind);

  explicit operator bool() const { return descriptor_ >= 0; }
  /// What the file says: who holds the lock, for others to read.
  void write(const std::string& text) const;

 private:
  bool take(Kind kind) const;

  int descriptor_ = -1;
};

/// This machine, for a marking that others may run beside (shared) or for a timing (exclusive), against all batches of
/// all users, by files in `folder`: everybody's, whatever TMPDIR says. Who waits for a timing isn't passed by those who
/// mark. Throws Error on Ctrl-C.
Lock this_machine_for(Lock::Kind kind, const std::filesystem::path& folder = "/tmp");

}  // namespace odori::grader
