// A class's submissions: whatever was handed in, in; the exercises' files, out.
//
// SUBMISSIONS is a folder, or an archive (.zip, .7z, .rar, .tar, .tar.gz, .tar.bz2, .tar.xz, .tar.zst), with a folder
// or an archive for each student. The exercises' files may lie anywhere in it. Nothing else is ever unpacked or copied;
// no link is followed; what is too large, too much or not a plain file is left out and flagged.
//
// A file may have got a copy's number or a prefix on its way, or nearly its name from the student (candidates.h). Of
// several that is taken which has the exact name, else a copy's, else nearly the name, which is flagged; of these, which
// lies as the kit has it (exercises/01_multi_gpu/NAME, jobscripts/NAME), else the one in the fewest folders, else the
// newest. Copies of the kit's own answers (solutions/) and what it built (build*/, out/) never are.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "exercise/finding.h"

namespace odori::grader {

/// A student's answer to one task, copied.
struct HandedIn {
  std::optional<std::filesystem::path> program, script;
  std::vector<Finding> flags;  // which file was taken of several, what was left out
  bool absent() const { return !program && !script; }
};

struct Student {
  std::string name;                       // one that a folder may have; no two students have the same
  std::map<std::string, HandedIn> tasks;  // every task, by its name
};

struct Intake {
  std::vector<Student> students;  // by name
  std::vector<Finding> problems;  // what couldn't be read, or is nobody's
};

/// Copies the files to RESULTS/submitted/STUDENT/. `scratch`: a folder for archives within archives. `known`: names
/// that there are marks under. Throws Refusal if `submissions` can't be read, has no student in it, or is one student's
/// folder or a folder of classes.
Intake take_in(const std::filesystem::path& submissions, const std::filesystem::path& submitted,
               const std::filesystem::path& scratch, const std::set<std::string>& known = {});

/// The names of Intake::students. Writes nothing. Throws Refusal if `submissions` can't be read.
std::vector<std::string> students_in(const std::filesystem::path& submissions, const std::set<std::string>& known = {});

}  // namespace odori::grader
