// SPDX-License-Identifier: Apache-2.0
// Files that are read whole, and written whole or not at all.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "errors/error.h"

namespace odori {

/// A file that can't be written: the system's errno, and a sentence of it ("No space left on device").
class WriteError : public Error {
 public:
  WriteError(const std::string& sentence, int reason) : Error(sentence), reason_(reason) {}
  int reason() const noexcept { return reason_; }

 private:
  int reason_;
};

/// All of a file; empty if there is none.
std::string read_file(const std::filesystem::path& path);

/// Writes the pieces one after another, down to the disk. Throws WriteError if not every byte has arrived there.
void write_file(const std::filesystem::path& path, std::span<const std::span<const std::byte>> pieces);
void write_file(const std::filesystem::path& path, std::string_view text);

/// The end of the name of a file or folder that isn't whole yet. One that nobody writes any more is of no use.
inline constexpr std::string_view unfinished_suffix = ".part";

/// Writes a new file next to it, on the disk before it takes the old one's place, with the old one's permissions:
/// whenever this is cut short, the old text or the new one is there, whole. Makes the folders that are missing. Throws
/// WriteError if that can't be done.
void replace_file(const std::filesystem::path& path, std::string_view text);

/// Removes what processes that were killed within replace_file(path) have left. While no other process writes it.
void remove_unfinished(const std::filesystem::path& path);

/// A folder that others can neither write to nor have put there.
bool is_own_folder(const std::filesystem::path& path);

/// A new folder of this user's alone, gone with the object.
class TemporaryFolder {
 public:
  /// Its path begins with `prefix`; nobody can know how it ends. Makes the folders that are missing on the way. Throws
  /// WriteError if that can't be done.
  explicit TemporaryFolder(const std::filesystem::path& prefix);
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// Gives a folder that is written under `from` its name `to`, where an older one may be.
void replace_folder(const std::filesystem::path& from, const std::filesystem::path& to);

}  // namespace odori
