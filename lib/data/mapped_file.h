// SPDX-License-Identifier: Apache-2.0
// A memory-mapped file: pages are read at first access, and shared by all processes that map it. If the file is
// truncated meanwhile, access to a missing page (SIGBUS) ends the program with an error message.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace odori {

/// Read-only, move-only, unmapped once.
class MappedFile {
 public:
  /// Throws Error if the file cannot be read, is not a regular file, or is empty.
  explicit MappedFile(const std::string& path);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&&) = delete;

  const std::uint8_t* data() const { return data_; }
  std::size_t size() const { return size_; }

 private:
  const std::uint8_t* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace odori
