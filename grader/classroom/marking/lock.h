// SPDX-License-Identifier: Apache-2.0
// Locks: one batch at a time works in a RESULTS folder; on a machine, several batches judge, or one measures alone.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

namespace odori::grader {

/// A lock of flock(2)'s on a file: gone with the process, however it ends. The file names the process that took the
/// lock last.
class Lock {
 public:
  enum class Kind { shared, exclusive };
  /// Called every 20 ms with what the file says. May throw.
  using WhileWaiting = std::function<void(const std::string& holder)>;

  Lock() = default;
  ~Lock();
  Lock(Lock&& other) noexcept;
  Lock& operator=(Lock&& other) noexcept;

  /// Holds nothing if another process has the lock. Makes the file, which nobody else may read: a process that can read a
  /// file can lock it. Throws WriteError if that can't be.
  static Lock try_for(const std::filesystem::path& file, Kind kind);
  /// Waits for it. Throws Error on Ctrl-C.
  static Lock wait_for(const std::filesystem::path& file, Kind kind, const WhileWaiting& meanwhile);

  explicit operator bool() const { return descriptor_ >= 0; }

 private:
  bool take(const std::filesystem::path& file, Kind kind) const;

  int descriptor_ = -1;
};

/// This process, as it is named in the files of its locks: "cosmos, process 4711, since 2026-11-21 14:30:00".
const std::string& this_process();

/// A folder of this user's alone, for locks: ~/.cache/odori, or else one below XDG_RUNTIME_DIR. Throws Refusal if there
/// is none.
std::filesystem::path folder_of_locks();

/// This machine, for judging next to others (shared) or for a measurement (exclusive), against all batches of this
/// user, by files in `folder`. A process that waits to measure goes before those that come later.
Lock this_machine_for(
    Lock::Kind kind, const std::filesystem::path& folder, const Lock::WhileWaiting& meanwhile = [](const auto&) {});

}  // namespace odori::grader
