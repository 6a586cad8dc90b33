// Files that are written whole or not at all, and read only if they are what was written.
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

/// Writes the pieces one after another, down to the disk. Throws Error, with the system's reason, if not every byte
/// has arrived there ("No space left on device").
FileCheck write_file(const std::string& path, std::span<const std::span<const std::byte>> pieces);
FileCheck write_file(const std::string& path, const std::string& text);

/// The whole file. Throws Error if it isn't there.
std::vector<std::byte> read_file(const std::string& path);
/// The same; throws Error as well if it is cut or not what was written.
std::vector<std::byte> read_file(const std::string& path, const FileCheck& check);

/// Writes a text under another name, then renames: a reader sees the old file or the new one.
void replace_file(const std::string& path, const std::string& text);

/// Gives a folder that is written under `from` its name `to`, where an older one may stand.
void replace_folder(const std::string& from, const std::string& to);

}  // namespace odori
