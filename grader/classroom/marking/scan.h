// SPDX-License-Identifier: Apache-2.0
// One scan of a class's submissions: the files of each student that may be answers.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "blanks/finding.h"
#include "classroom/course/roster.h"
#include "classroom/marking/answer_names.h"

namespace odori::grader {

/// A file with the name of an answer. Folders are below the student's own, and end in "/".
struct Candidate {
  Named named;
  std::string folder, name;
  std::int64_t modified = 0;        // seconds since 1970; 0: unknown
  std::int64_t arrived = 0;         // the same of the archive that it was in
  std::string archive;              // the folder that stands for the student's archive that it was in; empty: none
  std::optional<std::string> text;  // in UTF-8 if it was in UTF-16
  std::string problem;              // without a text: the key of the reason
};

struct ScannedStudent {
  std::vector<Candidate> candidates;
  std::set<std::string> kits, build_folders;      // that contain the kit's driver `odori`, or CMakeCache.txt
  bool is_clone = false;                          // made by git: times of its files are those of the clone
  Person moodle;                                  // name and number, if the folder is Moodle's
  std::set<std::pair<bool, std::string>> others;  // names of other files, those of code (false) first: the first few
  std::vector<Finding> flags;                     // on all tasks
  int n_entries = 0, n_archives = 0;
  bool is_cut = false;  // there is more than was looked at
};

struct Scan {
  std::map<std::string, ScannedStudent> students;  // by the name of their folder, archive or prefix
  std::vector<Finding> problems;                   // what can't be read, or belongs to no student
  bool has_answers_at_top = false;                 // answers that no student's folder contains
  std::vector<RosterEntry> roster;                 // of files named ...roster....csv next to the students' folders
  std::map<std::string, Submitters> submitters;    // by student, from Gradescope's submission_metadata.yml
};

/// Scans a folder or an archive. If all students' folders are in a single one, as in an export of Gradescope's, scans
/// that. `scratch`: a folder for copies of students' archives. Throws Refusal if `submissions` is missing or can't be
/// read.
Scan scan_submissions(const std::filesystem::path& submissions, const std::filesystem::path& scratch);

}  // namespace odori::grader
