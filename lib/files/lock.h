// SPDX-License-Identifier: Apache-2.0
// Locks between processes, for example so that only one training run writes into a folder.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

namespace odori {

/// A flock(2) lock on a file. The kernel releases it when the process ends. The file names the process that last took
/// the lock.
class Lock {
 public:
  enum class Kind { shared, exclusive };

  Lock() = default;
  ~Lock();
  Lock(Lock&& other) noexcept;
  Lock& operator=(Lock&& other) noexcept;

  /// Opens the file without taking the lock; creates it with permissions `mode` if needed. Anybody who may open a
  /// file can lock it, so choose `mode` with care. Throws WriteError if the file cannot be opened.
  Lock(const std::filesystem::path& file, unsigned mode);
  /// Tries to take the lock. Returns false if another process holds it. Throws WriteError if the file system does not
  /// support locks.
  bool take(Kind kind) const;
  /// The file's text about the process that last took the lock.
  std::string holder() const;

  explicit operator bool() const { return descriptor_ >= 0; }

 private:
  std::string file_;
  int descriptor_ = -1;
};

/// Host name of this machine.
std::string this_host();

/// This process as lock files name it: "cosmos, process 4711, since 2026-11-21 14:30".
const std::string& this_process();

}  // namespace odori
