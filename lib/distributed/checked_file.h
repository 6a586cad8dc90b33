// SPDX-License-Identifier: Apache-2.0
// Files that are read only if they are what was written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace odori {

/// What a file has to be: its size, and zlib's CRC-32 of its bytes.
struct FileCheck {
  std::uint64_t bytes = 0;
  std::uint32_t crc32 = 0;
  bool operator==(const FileCheck&) const = default;
};

/// write_file(), and what later reads must find in the file.
FileCheck write_checked(const std::string& path, std::span<const std::span<const std::byte>> pieces);
FileCheck write_checked(const std::string& path, const std::string& text);

/// The whole file. Throws Error if it isn't there.
std::vector<std::byte> read_bytes(const std::string& path);
/// The same; throws Error as well if it is cut or not what was written.
std::vector<std::byte> read_checked(const std::string& path, const FileCheck& check);

}  // namespace odori
