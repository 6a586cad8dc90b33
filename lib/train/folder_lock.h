// SPDX-License-Identifier: Apache-2.0
// One training writes into a folder at a time.
#pragma once

#include <string>

namespace odori {

/// Held until it goes, or the process ends, however it ends: flock(2) on FOLDER/.lock, which says who holds it.
class FolderLock {
 public:
  FolderLock() = default;
  /// Throws Error that names the holder, if another training writes there. Where the file system knows no locks, none
  /// is held.
  explicit FolderLock(const std::string& folder);
  ~FolderLock();
  FolderLock(FolderLock&& other) noexcept;
  FolderLock& operator=(FolderLock&& other) noexcept;

 private:
  int descriptor_ = -1;
};

}  // namespace odori
