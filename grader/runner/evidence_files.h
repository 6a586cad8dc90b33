// SPDX-License-Identifier: Apache-2.0
// Where the library writes a run's evidence (lib/observe/evidence.h), and which files are really opened.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "runner/evidence.h"

namespace odori::grader {

/// A file for each rank, with a fixed size and a random name.
class EvidenceFiles {
 public:
  /// The folder must exist. Without `parameters`, steps are written without their weights, which takes next to no time.
  /// Throws EnvironmentFault if the disk is full.
  EvidenceFiles(const std::filesystem::path& folder, int n_ranks, bool parameters = true);
  ~EvidenceFiles();
  EvidenceFiles(const EvidenceFiles&) = delete;
  EvidenceFiles& operator=(const EvidenceFiles&) = delete;

  /// For $ODORI_EVIDENCE.
  const std::string& name() const { return name_; }
  const std::vector<std::filesystem::path>& paths() const { return paths_; }
  /// Bytes that all ranks have written so far. A record that changes after a look counts as forged.
  std::uint64_t look();
  std::vector<RankSeen> read(const EvidenceLimits& limits, bool marked = false) const;

 private:
  std::string name_;
  std::vector<std::filesystem::path> paths_;
  std::vector<int> files_;         // open from the begin: the library's opening is the only one by their names
  std::vector<std::string> seen_;  // of each, at the last look
};

/// Counts how often each file of a folder is opened, by whichever process on this machine.
class FileWatch {
 public:
  /// Sees nothing where the user has no inotify instance left. `closely`: counts writes too, and tells openings apart
  /// by the closing in between.
  explicit FileWatch(const std::filesystem::path& folder, bool closely = false);
  ~FileWatch();
  FileWatch(const FileWatch&) = delete;
  FileWatch& operator=(const FileWatch&) = delete;

  /// Openings of the file that was opened most. A lower bound: the kernel merges equal events in a row.
  int most_openings();

 private:
  int watch_;
};

}  // namespace odori::grader
