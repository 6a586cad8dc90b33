// SPDX-License-Identifier: Apache-2.0
// Locks between processes: one training at a time writes into a folder, one batch works in a RESULTS folder.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

namespace odori {

/// A lock of flock(2)'s on a file: gone with the process, however it ends. The file names the process that took the
/// lock last.
class Lock {
 public:
  enum class Kind { shared, exclusive };

  Lock() = default;
  ~Lock();
  Lock(Lock&& other) noexcept;
  Lock& operator=(Lock&& other) noexcept;

  /// Opens the file, which is made with the permissions `mode` if it is missing, without taking the lock. A process that
  /// can read a file can lock it. Throws WriteError if it can't be opened.
  Lock(const std::filesystem::path& file, unsigned mode);
  /// Returns false if another process has the lock. Throws WriteError where the file system has no locks.
  bool take(Kind kind) const;
  /// What the file says of the process that took the lock last.
  std::string holder() const;

  explicit operator bool() const { return descriptor_ >= 0; }

 private:
  std::string file_;
  int descriptor_ = -1;
};

/// The name of this machine.
std::string this_host();

/// This process, as it is named in the files of its locks: "cosmos, process 4711, since 2026-11-21 14:30".
const std::string& this_process();

}  // namespace odori
