// SPDX-License-Identifier: Apache-2.0
// The entries of a folder or an archive, one after the other. Nothing is unpacked, and no link is followed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "blanks/finding.h"

namespace odori::grader {

struct Entry {
  enum class Kind { file, folder, link, special, unreadable };

  std::vector<std::string> parts;  // of its path: "aoki", "exercises", ... None is ".." or empty
  Kind kind = Kind::file;
  std::uintmax_t bytes = 0;
  std::int64_t modified = 0;  // seconds since 1970

  /// Passes a file's bytes to `take`, piece by piece, until it returns false. Returns false if they can't be read.
  /// Valid during the scan only.
  std::function<bool(const std::function<bool(std::string_view)>& take)> read;

  std::string path() const;  // the parts, with slashes
};

/// Returns false to end the scan.
using EntryHandler = std::function<bool(const Entry&)>;

/// True for .zip, .tar, .tar.gz, .tgz, .tar.bz2 and .tar.xz.
bool is_archive(std::string_view name);
/// "aoki.tar.gz" -> "aoki"
std::string without_archive_suffix(std::string_view name);

/// Visits everything in a folder, in the order of the names.
void scan_folder(const std::filesystem::path& folder, const EntryHandler& handle);

/// Visits everything in an archive, in its order. The findings call it `name`. Returns what was wrong with it: damaged,
/// too large, protected by a password, names that point outside. The entries before that are visited.
std::vector<Finding> scan_archive(const std::filesystem::path& archive, const std::string& name,
                                  const EntryHandler& handle);

}  // namespace odori::grader
