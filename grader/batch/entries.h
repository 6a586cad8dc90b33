// What lies in a folder or an archive, one entry after the other: never unpacked, links never followed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "exercise/finding.h"

namespace odori::grader {

struct Entry {
  enum class Kind { file, folder, link, special, unreadable };

  std::vector<std::string> parts;  // of its path: "aoki", "exercises", ... No "..", no empty ones
  Kind kind = Kind::file;
  std::uintmax_t bytes = 0;
  std::int64_t modified = 0;  // seconds since 1970

  /// A file's bytes, piece by piece, until there are no more or `take` returns false. Returns false if they can't be
  /// read. Only during the scan.
  std::function<bool(const std::function<bool(std::string_view)>& take)> read;

  std::string path() const;  // the parts, with slashes
};

/// Returns false to end the scan.
using EntryHandler = std::function<bool(const Entry&)>;

/// Everything below a folder. `parts` is put before each entry's own.
void scan_folder(const std::filesystem::path& folder, const std::vector<std::string>& parts,
                 const EntryHandler& handle);

/// By its name: .zip, .7z, .rar, .tar, .tgz, .tar.gz, .tar.bz2, .tar.xz, .tar.zst
bool is_archive(std::string_view name);
/// An archive, or a file made smaller, of a kind that isn't read here: .lzh, .gz, ...
bool is_unreadable_archive(std::string_view name);
/// "aoki.tar.gz" -> "aoki", "aoki.lzh" -> "aoki"
std::string without_archive_suffix(std::string_view name);

/// Everything in an archive, which the findings call `name`. Returns what was wrong with it, if anything: damaged, too
/// large, behind a password, names that lead out of it. What comes before that is read all the same.
std::vector<Finding> scan_archive(const std::filesystem::path& archive, const std::string& name,
                                  const EntryHandler& handle);

}  // namespace odori::grader
