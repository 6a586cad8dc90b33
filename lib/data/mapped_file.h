// SPDX-License-Identifier: Apache-2.0
// A file as memory: its pages are read when they are first touched, and shared by all processes that map it. Where the
// file is cut short meanwhile, the first touch of a page that is gone ends the program with a sentence (SIGBUS).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace odori {

/// Read-only, move-only, unmapped once.
class MappedFile {
 public:
  /// Throws Error if the file can't be read, isn't a file, or is empty.
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
