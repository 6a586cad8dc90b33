// SPDX-License-Identifier: Apache-2.0
#include "distributed/checked_file.h"

#include <zlib.h>

#include "data/mapped_file.h"
#include "files/file.h"

namespace odori {
namespace {

std::uint32_t crc(std::uint32_t before, std::span<const std::byte> bytes) {
  return static_cast<std::uint32_t>(::crc32_z(before, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

}  // namespace

FileCheck write_checked(const std::string& path, std::span<const std::span<const std::byte>> pieces) {
  write_file(path, pieces);
  FileCheck check;
  for (const auto& piece : pieces) {
    check.bytes += piece.size();
    check.crc32 = crc(check.crc32, piece);
  }
  return check;
}

FileCheck write_checked(const std::string& path, const std::string& text) {
  const std::span<const std::byte> piece = std::as_bytes(std::span(text));
  return write_checked(path, {&piece, 1});
}

std::vector<std::byte> read_bytes(const std::string& path) {
  const MappedFile file(path);
  const auto* bytes = reinterpret_cast<const std::byte*>(file.data());
  return {bytes, bytes + file.size()};
}

std::vector<std::byte> read_checked(const std::string& path, const FileCheck& check) {
  std::vector<std::byte> bytes = read_bytes(path);
  require(bytes.size() == check.bytes, "{} is damaged: it has {} bytes, but {} were written.", path, bytes.size(),
          check.bytes);
  require(crc(0, bytes) == check.crc32, "{} is damaged: its checksum isn't that of what was written.", path);
  return bytes;
}

}  // namespace odori
