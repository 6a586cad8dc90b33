// One scan of a class's submissions: what is whose.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "batch/candidates.h"
#include "exercise/finding.h"

namespace odori::grader {

/// What one student handed in, or so it seems.
struct ScannedStudent {
  std::string place;                                  // what it lies in: a folder's or an archive's name
  std::map<std::string, Candidates> files;            // by the wanted file's name
  std::vector<std::string> others;                    // of wanted kinds, but with other names: the first few
  std::vector<std::string> unreadable;                // archives of other kinds: the first few
  std::vector<std::string> rest;                      // whatever else lies there: the first few
  std::vector<Finding> flags;                         // on all tasks
  std::map<std::string, std::set<std::string>> held;  // by the wanted file's name: folders and archives at the top that
                                                      // hold it; "" is the top itself, as a copy of the kit is
  std::set<std::string> kits;                         // of those places, whole copies of the kit
  int n_entries = 0, n_archives = 0, n_closed = 0;    // archives; those that weren't looked into
};

struct Scan {
  std::map<std::string, ScannedStudent> students;  // by what they are called there
  std::vector<Finding> problems;                   // what couldn't be read, or is nobody's
  bool has_answers_at_top = false;                 // wanted files by their exact names
};

/// Scans a folder or an archive. `scratch`: a folder for archives within, which aren't opened without one. Throws
/// Refusal if there is none or it can't be read.
Scan scan_submissions(const std::filesystem::path& submissions, const std::optional<std::filesystem::path>& scratch);

}  // namespace odori::grader
