// SPDX-License-Identifier: Apache-2.0
// Entries of an archive, by libarchive.
#include <archive.h>
#include <archive_entry.h>

#include <algorithm>
#include <array>
#include <clocale>
#include <memory>
#include <optional>

#include "classroom/marking/entries.h"
#include "errors/error.h"
#include "errors/text.h"

namespace odori::grader {
namespace {

namespace fs = std::filesystem;

// Unpacked, an archive may have this many bytes in all, and this many more for each byte on the disk.
constexpr std::int64_t most_bytes_unpacked = std::int64_t{32} << 30;
constexpr std::int64_t always_allowed = std::int64_t{64} << 20;
constexpr std::int64_t most_times = 300;
constexpr std::size_t longest_path = 4096, deepest = 64;

using Archive = std::unique_ptr<archive, decltype(&archive_read_free)>;

/// Only formats and filters that start no program.
Archive open_archive(const fs::path& path) {
  Archive opened(archive_read_new(), &archive_read_free);
  require(opened != nullptr, "There is no memory left to open {}.", path.string());
  archive_read_support_filter_gzip(opened.get());
  archive_read_support_filter_bzip2(opened.get());
  archive_read_support_filter_xz(opened.get());
  archive_read_support_format_tar(opened.get());
  archive_read_support_format_gnutar(opened.get());
  archive_read_support_format_zip_seekable(opened.get());
  archive_read_open_filename(opened.get(), path.c_str(), 1 << 16);
  return opened;
}

/// The parts of a path; nothing if it points outside. Archives made on Windows may have "\" between them.
std::optional<std::vector<std::string>> parts_of(std::string_view name) {
  std::vector<std::string> parts;
  if (name.size() > longest_path || name.starts_with('/') || name.starts_with('\\')) return {};
  while (!name.empty()) {
    const auto end = std::min(name.find_first_of("/\\"), name.size());
    const std::string part(name.substr(0, end));
    if (part == ".." || parts.size() > deepest) return {};
    if (!part.empty() && part != ".") parts.push_back(part);
    name.remove_prefix(std::min(end + 1, name.size()));
  }
  return parts;
}

/// UTF-8, or the bytes as they are in the archive.
std::string name_of(archive_entry* entry) {
  if (const char* utf8 = archive_entry_pathname_utf8(entry)) return utf8;
  if (const char* bytes = archive_entry_pathname(entry)) return bytes;
  return {};
}

Entry::Kind kind_of(archive_entry* entry) {
  if (archive_entry_hardlink(entry) != nullptr) return Entry::Kind::link;
  switch (archive_entry_filetype(entry)) {
    case AE_IFREG:
      return Entry::Kind::file;
    case AE_IFDIR:
      return Entry::Kind::folder;
    case AE_IFLNK:
      return Entry::Kind::link;
    default:
      return Entry::Kind::special;
  }
}

bool read_pieces(archive* archive, const std::function<bool(std::string_view)>& take) {
  std::array<char, 1 << 16> piece;
  for (;;) {
    const la_ssize_t n = archive_read_data(archive, piece.data(), piece.size());
    if (n <= 0) return n == 0;
    if (!take({piece.data(), static_cast<std::size_t>(n)})) return true;
  }
}

/// Is so much unpacked to reach this entry that the archive is a bomb? In a zip, what is skipped isn't unpacked.
bool is_bomb(archive* archive, archive_entry* entry) {
  if ((archive_format(archive) & ARCHIVE_FORMAT_BASE_MASK) == ARCHIVE_FORMAT_ZIP) return false;
  const std::int64_t size = std::clamp<std::int64_t>(archive_entry_size(entry), 0, most_bytes_unpacked),
                     unpacked = archive_filter_bytes(archive, 0) + size, packed = archive_filter_bytes(archive, -1);
  return unpacked > std::min(most_bytes_unpacked, always_allowed + most_times * packed);
}

/// The archive's suffix; empty if it has none.
std::string_view suffix_of(std::string_view name) {
  for (const std::string_view suffix : {".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz"})
    if (lower(name).ends_with(suffix) && name.size() > suffix.size()) return suffix;
  return {};
}

}  // namespace

bool is_archive(std::string_view name) { return !suffix_of(name).empty(); }

std::string without_archive_suffix(std::string_view name) {
  return std::string(name.substr(0, name.size() - suffix_of(name).size()));
}

std::vector<Finding> scan_archive(const fs::path& path, const std::string& name, const EntryHandler& handle) {
  // libarchive converts names to the locale's character set. In that of "C", names that aren't ASCII would be lost.
  static const char* const utf8 = std::setlocale(LC_CTYPE, "C.UTF-8");
  require(utf8 != nullptr, "This system has no locale C.UTF-8, in which names in archives are read.");
  std::vector<Finding> problems;
  const Archive archive = open_archive(path);
  archive_entry* header = nullptr;
  bool encrypted = false;
  int n_outside = 0, status = ARCHIVE_OK;
  while ((status = archive_read_next_header(archive.get(), &header)) == ARCHIVE_OK || status == ARCHIVE_WARN) {
    encrypted |= archive_entry_is_data_encrypted(header) != 0;
    if (is_bomb(archive.get(), header)) {
      problems.push_back({"archive_too_large", {{"file", name}}});
      break;
    }
    const auto parts = parts_of(name_of(header));
    if (!parts) {
      ++n_outside;
      continue;
    }
    Entry entry{.parts = *parts,
                .kind = kind_of(header),
                .bytes = static_cast<std::uintmax_t>(archive_entry_size(header)),
                .modified = archive_entry_mtime(header),
                .read = [&](const auto& take) { return read_pieces(archive.get(), take); }};
    if (!parts->empty() && !handle(entry)) break;
  }
  if (status == ARCHIVE_FATAL || status == ARCHIVE_FAILED || status == ARCHIVE_RETRY) {
    const char* reason = archive_error_string(archive.get());
    problems.push_back({"archive_damaged", {{"file", name}, {"reason", reason ? reason : "?"}}});
  }
  if (encrypted) problems.push_back({"archive_encrypted", {{"file", name}}});
  if (n_outside > 0) problems.push_back({"archive_leads_out", {{"file", name}, {"n", std::to_string(n_outside)}}});
  return problems;
}

}  // namespace odori::grader
