// Entries of an archive, by libarchive.
#include <archive.h>
#include <archive_entry.h>
#include <locale.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>

#include "batch/entries.h"
#include "errors/error.h"
#include "errors/text.h"

namespace odori::grader {
namespace {

namespace fs = std::filesystem;

// Beyond any class's, and nothing that a bomb could not pass at once.
constexpr std::int64_t most_bytes_unpacked = std::int64_t{32} << 30;  // unpacked
constexpr std::int64_t always_allowed = std::int64_t{64} << 20;
constexpr std::int64_t most_times = 300;  // unpacked beyond that by what it takes on the disk
constexpr std::int64_t most_entries = 3'000'000;
constexpr std::size_t longest_path = 4096, deepest = 64;

constexpr std::array<std::string_view, 11> suffixes{".zip",     ".7z",   ".rar",    ".tar", ".tgz",    ".tar.gz",
                                                    ".tar.bz2", ".tbz2", ".tar.xz", ".txz", ".tar.zst"};
constexpr std::array<std::string_view, 17> of_others{".lzh", ".lha", ".cab",  ".arj", ".ace", ".alz",
                                                     ".egg", ".sit", ".sitx", ".dmg", ".iso", ".zipx",
                                                     ".gz",  ".bz2", ".xz",   ".zst", ".z"};

using Archive = std::unique_ptr<archive, decltype(&archive_read_free)>;

/// No filter or format that would start a program of its own.
Archive open_archive(const fs::path& path) {
  Archive opened(archive_read_new(), &archive_read_free);
  require(opened != nullptr, "There is no memory left to open {}.", path.string());
  archive_read_support_filter_gzip(opened.get());
  archive_read_support_filter_bzip2(opened.get());
  archive_read_support_filter_xz(opened.get());
  archive_read_support_filter_zstd(opened.get());
  archive_read_support_format_tar(opened.get());
  archive_read_support_format_gnutar(opened.get());
  archive_read_support_format_zip_seekable(opened.get());
  archive_read_support_format_7zip(opened.get());
  archive_read_support_format_rar(opened.get());
  archive_read_support_format_rar5(opened.get());
  archive_read_open_filename(opened.get(), path.c_str(), 1 << 16);
  return opened;
}

/// The parts of a name; nothing if it leads elsewhere. Archives made on Windows may have "\" between them.
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

/// libarchive gives names in this thread's character set. Without one, those that aren't ASCII would be lost.
class Utf8Names {
 public:
  Utf8Names() : utf8_(newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr)), old_(uselocale(utf8_)) {}
  ~Utf8Names() {
    uselocale(old_);
    if (utf8_ != nullptr) freelocale(utf8_);
  }
  Utf8Names(const Utf8Names&) = delete;
  Utf8Names& operator=(const Utf8Names&) = delete;

 private:
  locale_t utf8_, old_;
};

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

/// Is it made to fill a disk or to take for ever?
class Bound {
 public:
  Bound(archive* archive, const fs::path& path) : archive_(archive) {
    std::error_code unknown;
    packed_ = static_cast<std::int64_t>(fs::file_size(path, unknown));
  }
  bool is_passed_by(archive_entry* entry) {
    const std::int64_t size = std::clamp<std::int64_t>(archive_entry_size(entry), 0, most_bytes_unpacked + 1);
    unpacked_ += size;
    if (++n_entries_ > most_entries) return true;
    const int format = archive_format(archive_) & ARCHIVE_FORMAT_BASE_MASK;
    if (format == ARCHIVE_FORMAT_ZIP) return false;  // what is skipped isn't unpacked
    if (format != ARCHIVE_FORMAT_TAR) return is_passed(unpacked_, packed_);
    return is_passed(archive_filter_bytes(archive_, 0) + size, archive_filter_bytes(archive_, -1));
  }

 private:
  static bool is_passed(std::int64_t unpacked, std::int64_t packed) {
    return unpacked > most_bytes_unpacked || unpacked > always_allowed + most_times * packed;
  }

  archive* archive_;
  std::int64_t packed_ = 0, unpacked_ = 0, n_entries_ = 0;
};

/// The end of a name that is one of these; empty if none is.
template <std::size_t n>
std::string_view suffix_of(std::string_view name, const std::array<std::string_view, n>& all) {
  const std::string lowered = lower(name);
  const auto found = std::find_if(all.begin(), all.end(), [&](std::string_view suffix) {
    return lowered.ends_with(suffix) && lowered.size() > suffix.size();
  });
  return found == all.end() ? std::string_view() : *found;
}

}  // namespace

bool is_archive(std::string_view name) { return !suffix_of(name, suffixes).empty(); }

bool is_unreadable_archive(std::string_view name) { return !is_archive(name) && !suffix_of(name, of_others).empty(); }

std::string without_archive_suffix(std::string_view name) {
  const std::string_view suffix = is_archive(name) ? suffix_of(name, suffixes) : suffix_of(name, of_others);
  return std::string(name.substr(0, name.size() - suffix.size()));
}

std::vector<Finding> scan_archive(const fs::path& path, const std::string& name, const EntryHandler& handle) {
  const Utf8Names names;
  std::vector<Finding> problems;
  const Archive archive = open_archive(path);
  archive_entry* header = nullptr;
  Bound bound(archive.get(), path);
  bool encrypted = false, empty = true;
  int n_leading_out = 0, said = ARCHIVE_OK;
  while ((said = archive_read_next_header(archive.get(), &header)) == ARCHIVE_OK || said == ARCHIVE_WARN) {
    encrypted |= archive_entry_is_data_encrypted(header) != 0;
    empty = false;
    if (bound.is_passed_by(header)) {
      problems.push_back({"archive_too_large", {{"file", name}}});
      break;
    }
    const auto parts = parts_of(name_of(header));
    if (!parts) {
      ++n_leading_out;
      continue;
    }
    Entry entry{.parts = *parts,
                .kind = kind_of(header),
                .bytes = static_cast<std::uintmax_t>(archive_entry_size(header)),
                .modified = archive_entry_mtime(header),
                .read = [&](const auto& take) { return read_pieces(archive.get(), take); }};
    if (!parts->empty() && !handle(entry)) break;
  }
  if (said == ARCHIVE_FATAL || said == ARCHIVE_FAILED || said == ARCHIVE_RETRY) {
    const char* reason = archive_error_string(archive.get());
    problems.push_back({"archive_damaged", {{"file", name}, {"reason", reason ? reason : "?"}}});
  }
  if (empty && problems.empty()) problems.push_back({"archive_empty", {{"file", name}}});
  if (encrypted) problems.push_back({"archive_encrypted", {{"file", name}}});
  if (n_leading_out > 0)
    problems.push_back({"archive_leads_out", {{"file", name}, {"n", std::to_string(n_leading_out)}}});
  return problems;
}

}  // namespace odori::grader
