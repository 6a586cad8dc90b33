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

namespace odori::grader {

/// A file of an exercise.
struct Wanted {
  std::string name;    // train_cifar_multi_gpu.cpp
  std::string folder;  // below the kit: exercises/01_multi_gpu/
};

struct Named {
  const Wanted* wanted = nullptr;  // null: none
  bool exact = false;
  std::string prefix;  // "Tanaka_Taro_12345_assignsubmission_file_"
};

/// The file that a name means: NAME.cpp, PREFIX_NAME.cpp, NAME (1).cpp, NAME - Copy.cpp, NAME - コピー.cpp. Hidden
/// files have no meaning.
Named wanted_named(const std::string& name);

/// "aoki" for "aoki (2)" and "aoki - Copy"; nothing if the name does not end as a copy's.
std::optional<std::string> copied_name(const std::string& name);

/// The student of a folder or file of Moodle's: NAME_NUMBER of NAME_NUMBER_assignsubmission_file_, also with FILE after
/// it, and of ..._onlinetext_. Nothing for other names.
struct MoodleOwner {
  std::string folder, name, number;  // "Kim Min_4009", "Kim Min", "4009"
};
std::optional<MoodleOwner> moodle_owner(const std::string& name);

/// The student that a loose file belongs to: Moodle's, or PREFIX for PREFIX_FILE if FILE is wanted. Nothing if the name
/// does not contain one.
std::optional<std::string> owner_of_loose(const std::string& name);

/// exercises, jobscripts, and the exercises' own folders.
bool is_folder_of_answers(const std::string& name);
/// solutions and out: the kit's answers, and what the kit wrote.
bool is_folder_without_answers(const std::string& name);

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
