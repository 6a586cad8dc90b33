// SPDX-License-Identifier: Apache-2.0
// Collects the submissions of a class: takes the exercises' files out of whatever was submitted.
//
// SUBMISSIONS is a folder or an archive (zip, tar) with one folder or one archive for each student, as Moodle,
// Gradescope, GitHub Classroom and shared folders produce it. The exercises' files may be anywhere in a student's.
// Nothing else is unpacked or copied, and no link is followed. Files that are too large or not plain are flagged and
// left out.
//
// Files below solutions/, out/ and build folders (with a CMakeCache.txt) never count; in a clone of the kit, an answer
// counts only in its place (exercises/01_multi_gpu/NAME, jobscripts/NAME), at the top, and in an archive. Of several
// answers, choice.h takes one.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "blanks/finding.h"
#include "classroom/course/overrides.h"
#include "classroom/course/settings.h"
#include "classroom/marking/record.h"

namespace odori::grader {

/// A student's answer to one task: the texts of its files.
struct HandedIn {
  std::optional<std::string> program, script;
  std::vector<Finding> flags;     // which file was taken of several, what was left out
  std::int64_t submitted = 0;     // as the platform says, else of the newest file; seconds since 1970, 0: unknown
  std::vector<ChosenFile> files;  // which file was taken, and which were not
  bool absent() const { return !program && !script; }
};

struct Student {
  std::string name;                       // valid as a folder's name, and different from all others
  std::map<std::string, HandedIn> tasks;  // every task, by its name
  std::vector<Person> people;             // none: the folder is all that is known
};

struct Intake {
  std::vector<Student> students;  // by name; those in a list of students who submitted nothing too
  std::vector<Finding> problems;  // what can't be read, or belongs to no student
  Overrides overrides;
};

/// What the instructor says about the class: RESULTS/course.json and overrides.csv.
struct Choosing {
  Terms terms;
  std::vector<RosterEntry> roster;
  std::filesystem::path overrides;                         // the file
  std::map<std::string, std::map<int, double>> points_of;  // by task and blank, as the reports have them
  std::filesystem::path kit = {};  // whose exercises say what was given; empty: PUT_YOUR_CODE alone
};

/// Reads the submissions. `scratch`: a folder for copies of students' archives. Throws Refusal if `submissions` can't
/// be read, contains no student, or is one student's folder, and for a wrong line of the overrides.
Intake take_in(const std::filesystem::path& submissions, const std::filesystem::path& scratch,
               const Choosing& choosing = {});

/// Writes a student's answers to `folder`, each under its exercise's name, and removes those that were taken back.
/// Throws WriteError.
void write_answers(const Student& student, const std::filesystem::path& folder);

}  // namespace odori::grader
