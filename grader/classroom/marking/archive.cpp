// SPDX-License-Identifier: Apache-2.0
// Entries of an archive, by libarchive.
#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <clocale>
#include <ctime>
#include <memory>
#include <optional>

#include "classroom/marking/archive_writer.h"
#include "classroom/marking/entries.h"
#include "errors/error.h"
#include "errors/text.h"
#include "files/file.h"

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

namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_folders = 32;  // nested

/// Opens it if it is a plain file when opened, whatever it was before. Returns -1 if not.
int open_file(const fs::path& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  struct stat status {};
  if (descriptor >= 0 && (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode))) {
    close(descriptor);
    return -1;
  }
  return descriptor;
}

bool read_pieces(const fs::path& path, const std::function<bool(std::string_view)>& take) {
  const int descriptor = open_file(path);
  if (descriptor < 0) return false;
  std::array<char, 1 << 16> piece;
  ssize_t n = 0;
  do {
    n = read(descriptor, piece.data(), piece.size());
  } while ((n < 0 && errno == EINTR) || (n > 0 && take({piece.data(), static_cast<std::size_t>(n)})));
  close(descriptor);
  return n >= 0;
}

bool scan(const fs::path& folder, const std::vector<std::string>& parts, const EntryHandler& handle) {
  std::error_code error;
  std::vector<fs::path> paths;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    paths.push_back(at->path());
  if (error) return handle({.parts = parts, .kind = Entry::Kind::unreadable});
  std::sort(paths.begin(), paths.end());
  for (const fs::path& path : paths) {
    struct stat status {};
    if (lstat(path.c_str(), &status) != 0) continue;  // gone since
    Entry entry{.parts = parts,
                .bytes = static_cast<std::uintmax_t>(status.st_size),
                .modified = status.st_mtime,
                .read = [&path](const auto& take) { return read_pieces(path, take); }};
    entry.parts.push_back(path.filename());
    const bool folder_too = S_ISDIR(status.st_mode);
    entry.kind = folder_too                ? Entry::Kind::folder
                 : S_ISREG(status.st_mode) ? Entry::Kind::file
                 : S_ISLNK(status.st_mode) ? Entry::Kind::link
                                           : Entry::Kind::special;
    if (!handle(entry)) return false;
    if (folder_too && entry.parts.size() < most_folders && !scan(path, entry.parts, handle)) return false;
  }
  return true;
}

}  // namespace

std::string Entry::path() const {
  std::string path;
  for (const std::string& part : parts) path.append(path.empty() ? "" : "/").append(part);
  return path;
}

void scan_folder(const fs::path& folder, const EntryHandler& handle) { scan(folder, {}, handle); }

ArchiveWriter::ArchiveWriter(const std::filesystem::path& path, Format format)
    : path_(path), archive_(archive_write_new(), &archive_write_free) {
  std::setlocale(LC_CTYPE, "C.UTF-8");  // libarchive converts names from the locale's character set
  const bool is_zip = format == Format::zip;
  (is_zip ? archive_write_set_format_zip : archive_write_set_format_pax)(archive_.get());
  if (is_zip) archive_write_set_options(archive_.get(), "zip:hdrcharset=UTF-8");
  require(archive_write_open_filename(archive_.get(), path.c_str()));
}

void ArchiveWriter::add(const std::string& name, std::string_view text) {
  const std::unique_ptr<archive_entry, decltype(&archive_entry_free)> entry(archive_entry_new(), &archive_entry_free);
  archive_entry_set_pathname(entry.get(), name.c_str());
  archive_entry_set_perm(entry.get(), 0644);
  archive_entry_set_filetype(entry.get(), AE_IFREG);
  archive_entry_set_size(entry.get(), static_cast<la_int64_t>(text.size()));
  archive_entry_set_mtime(entry.get(), std::time(nullptr), 0);
  require(archive_write_header(archive_.get(), entry.get()));
  if (archive_write_data(archive_.get(), text.data(), text.size()) < 0) require(ARCHIVE_FATAL);
}

void ArchiveWriter::close() { require(archive_write_close(archive_.get())); }

void ArchiveWriter::require(int status) const {
  if (status == ARCHIVE_OK || status == ARCHIVE_WARN) return;
  const char* reason = archive_error_string(archive_.get());
  throw WriteError(path_.string() + " can't be written: " + (reason ? reason : "?"), archive_errno(archive_.get()));
}

}  // namespace odori::grader
