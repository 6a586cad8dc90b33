// Where the library writes a run's evidence (lib/observe/evidence.h).
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "runner/evidence.h"

namespace odori::grader {

/// A file for each rank, of a size that doesn't change and a name that nobody can guess.
class EvidenceFiles {
 public:
  /// In a folder that is there. `parameters`: the steps are written with them; without, the evidence of a training is
  /// small, and costs it next to no time. Throws EnvironmentFault if the disk is full.
  EvidenceFiles(const std::filesystem::path& folder, int n_ranks, bool parameters = true);
  ~EvidenceFiles();
  EvidenceFiles(const EvidenceFiles&) = delete;
  EvidenceFiles& operator=(const EvidenceFiles&) = delete;

  /// For $ODORI_EVIDENCE.
  const std::string& name() const { return name_; }
  const std::vector<std::filesystem::path>& paths() const { return paths_; }
  /// How many bytes all ranks have written so far. What is there now has to be there at the end.
  std::uint64_t look();
  /// A record in which something has changed since a look counts as forged.
  std::vector<RankSeen> read(const EvidenceLimits& limits, bool marked = false) const;

 private:
  std::string name_;
  std::vector<std::filesystem::path> paths_;
  std::vector<int> files_;         // open from the begin: the library's opening is the only one by their names
  std::vector<std::string> seen_;  // of each, at the last look
};

}  // namespace odori::grader
