// SPDX-License-Identifier: Apache-2.0
// Writes archives.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

struct archive;

namespace odori::grader {

/// Names of files are in UTF-8.
class ArchiveWriter {
 public:
  enum class Format { zip, tar };

  /// Throws WriteError, here and below.
  ArchiveWriter(const std::filesystem::path& path, Format format);
  void add(const std::string& name, std::string_view text);
  /// Completes the archive.
  void close();

 private:
  void require(int status) const;

  std::filesystem::path path_;
  std::unique_ptr<archive, int (*)(archive*)> archive_;
};

}  // namespace odori::grader
