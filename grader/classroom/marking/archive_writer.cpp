// SPDX-License-Identifier: Apache-2.0
#include "classroom/marking/archive_writer.h"

#include <archive.h>
#include <archive_entry.h>

#include <clocale>
#include <ctime>

#include "files/file.h"

namespace odori::grader {

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
