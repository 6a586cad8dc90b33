// SPDX-License-Identifier: Apache-2.0
// Reading and writing whole files: in place, or atomically by a rename; and folders of this user alone.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "errors/error.h"

namespace odori {

/// A file cannot be written. Carries the errno and its text ("No space left on device").
class WriteError : public Error {
 public:
  WriteError(const std::string& sentence, int reason) : Error(sentence), reason_(reason) {}
  int reason() const noexcept { return reason_; }

 private:
  int reason_;
};

/// All of a file; empty if it does not exist or cannot be read.
std::string read_file(const std::filesystem::path& path);

/// Overwrites the file in place with the pieces, one after another, and waits until they are on the disk (fsync). Not
/// atomic: use replace_file() if others may read it meanwhile. Its folder must exist. Throws WriteError.
void write_file(const std::filesystem::path& path, std::span<const std::span<const std::byte>> pieces);
void write_file(const std::filesystem::path& path, std::string_view text);

/// Suffix of the name of an incomplete file or folder. Leftovers of killed processes may be deleted.
inline constexpr std::string_view unfinished_suffix = ".part";

/// Replaces a file atomically: writes a temporary file in the same folder, with the permissions of the old file, waits
/// until it is on the disk, and renames it. Whenever this is interrupted, the complete old or the complete new text is
/// there. Makes missing folders. Throws WriteError.
void replace_file(const std::filesystem::path& path, std::string_view text);

/// Removes leftovers of processes that were killed in replace_file(path). Call it only when no process writes the file.
void remove_unfinished(const std::filesystem::path& path);

/// True if the folder belongs to this user, is no symbolic link, and is not writable for group or others.
bool is_own_folder(const std::filesystem::path& path);

/// A new folder that only this user can read; the destructor removes it.
class TemporaryFolder {
 public:
  /// Its path is `prefix` and random characters. Makes missing folders. Throws WriteError.
  explicit TemporaryFolder(const std::filesystem::path& prefix);
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// Renames the folder `from` to `to`, and replaces `to` if it exists: in one step where the file system can exchange
/// two names, otherwise in two.
void replace_folder(const std::filesystem::path& from, const std::filesystem::path& to);

}  // namespace odori
