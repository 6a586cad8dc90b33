// SPDX-License-Identifier: Apache-2.0
// Writes exercises/ and jobscripts/ from solutions/, the only hand-written copy of each exercise.
//
//   ./odori cut            writes what has changed, but for files that hold a learner's answers
//   ./odori cut --check    writes nothing; exit code 1 if an exercise isn't what cutting makes, answers left aside
#include <algorithm>
#include <filesystem>
#include <map>

#include "blanks/blanks.h"
#include "blanks/cutter.h"
#include "blanks/submission.h"
#include "files/file.h"
#include "flags/command_line.h"
#include "program/program.h"

using namespace odori;
namespace fs = std::filesystem;

namespace {

struct Flags {
  fs::path kit = ODORI_FOLDER;
  bool check = false, strict = false, force = false;
};

Flags parse_flags(int argc, char** argv) {
  Flags flags;
  CommandLine line(
      "Cuts the exercises out of the solutions: solutions/ -> exercises/ and jobscripts/. Files that hold answers of "
      "yours are left as they are.",
      "./odori cut", argc, argv);
  line.add_option("--kit", flags.kit, "The kit's folder").capture_default_str();
  const Flag check = line.add_flag("--check", flags.check,
                                   "Write nothing; fail if a file isn't what cutting makes, answers left aside");
  line.add_flag("--strict", flags.strict, "No answers either: each file has to be what cutting makes").needs(check);
  line.add_flag("--force", flags.force, "Write files with answers too; a copy is kept in out/kept").excludes(check);
  line.parse();
  return flags;
}

bool is_exercise_file(const fs::path& path) {
  return path.extension() == ".cpp" || (path.extension() == ".sh" && path.filename().string().starts_with("run_"));
}

/// The programs and job scripts below a folder of the kit, in order, relative to the kit. Support code and
/// exercises/common are not generated.
std::vector<fs::path> files_below(const fs::path& kit, const char* folder) {
  std::vector<fs::path> files;
  std::error_code missing;  // an exercises/ that isn't there yet has no files
  for (auto at = fs::recursive_directory_iterator(kit / folder, missing); at != fs::recursive_directory_iterator();
       ++at) {
    const fs::path name = at->path().filename();
    if (at->is_directory() && (name == "support" || name == "common")) at.disable_recursion_pending();
    if (at->is_regular_file() && is_exercise_file(at->path())) files.push_back(fs::relative(at->path(), kit));
  }
  std::sort(files.begin(), files.end());
  return files;
}

/// solutions/01_multi_gpu/x.cpp -> exercises/01_multi_gpu/x.cpp, solutions/01_multi_gpu/run_x.sh -> jobscripts/run_x.sh
fs::path exercise_of(const fs::path& solution) {
  if (solution.extension() == ".sh") return "jobscripts" / solution.filename();
  return "exercises" / solution.lexically_relative("solutions");
}

/// Each exercise's path and text.
std::map<fs::path, std::string> cut_all(const fs::path& kit) {
  std::map<fs::path, std::string> exercises;
  for (const fs::path& solution : files_below(kit, "solutions"))
    if (fs::exists((kit / solution).replace_filename("exercise.json")))  // without one it is a program of its own
      exercises[exercise_of(solution)] = grader::cut(read_file(kit / solution), solution.string());
  require(!exercises.empty(), "There is no solution under {}. --kit names the kit's folder.",
          (kit / "solutions").string());
  return exercises;
}

/// Are all blanks of this file as cutting makes them, maybe from an earlier version of the solution? (Of a program with
/// a planted fault, the present version alone is known.)
bool is_unsolved(const fs::path& file, const std::string& exercise) try {
  const auto blanks = grader::parse_blanks(split_lines(read_file(file)), file.string());
  const auto given = grader::read_submission(file, exercise).blanks;
  return !blanks.empty() && std::ranges::all_of(blanks, [&](const grader::Blank& blank) {
    const auto language = grader::language_of(file.string());
    const bool as_given = given.contains(blank.number) && is_as_given(given.at(blank.number));
    return as_given || (blank.text.size() == 1 && is_unfilled(blank, language));
  });
} catch (const Error&) {
  return false;
}

/// Did somebody fill in a blank of this file, or change it so that its blanks aren't found?
bool holds_answers(const fs::path& file, const std::string& exercise) {
  if (!fs::exists(file) || is_unsolved(file, exercise)) return false;
  const auto mine = grader::read_submission(file, exercise);
  for (const auto& blank : grader::parse_blanks(split_lines(exercise), file.string()))
    if (!mine.blanks.contains(blank.number) || mine.blanks.at(blank.number).text != blank.text) return true;
  return false;
}

/// How a file differs from what cutting makes, in a sentence; empty if it doesn't. What is in its blanks makes no
/// difference, unless `strict`.
std::string difference(const fs::path& kit, const fs::path& path, const std::string& exercise, bool strict) {
  if (strict || !fs::exists(kit / path)) return grader::first_difference(exercise, read_file(kit / path));
  const auto mine = grader::read_submission(kit / path, exercise);
  if (!mine.unreadable.empty())
    return fmt::format("blank {} can't be found in it any more", mine.unreadable.begin()->first);
  if (mine.changes.empty()) return {};
  const auto& [line, removed, text] = mine.changes.front();
  return fmt::format("line {} was changed outside of the blanks: \"{}\" {}", line, text,
                     removed ? "is missing" : "isn't the kit's");
}

/// One sentence for each file that isn't what cutting makes.
std::vector<std::string> differences(const fs::path& kit, const std::map<fs::path, std::string>& exercises,
                                     bool strict) {
  std::vector<std::string> found;
  for (const auto& [path, text] : exercises) {
    const std::string how = difference(kit, path, text, strict);
    if (!how.empty()) found.push_back(fmt::format("{}: {}.", path.string(), how));
  }
  for (const char* folder : {"exercises", "jobscripts"})
    for (const fs::path& path : files_below(kit, folder))
      if (!exercises.contains(path))
        found.push_back(fmt::format("{}: no solution makes it. Delete it.", path.string()));
  return found;
}

/// Writes what differs, so that nothing is built again for nothing. A script stays executable.
void write_all(const Flags& flags, const std::map<fs::path, std::string>& exercises) {
  for (const auto& [path, text] : exercises) {
    const fs::path file = flags.kit / path;
    if (fs::exists(file) && read_file(file) == text) continue;
    if (!flags.force && holds_answers(file, text)) {
      fmt::print(
          "{} holds answers of yours and is left as it is. (./odori cut --force writes it too, and keeps a copy.)\n",
          path.string());
      continue;
    }
    if (fs::exists(file)) fmt::print("{} is kept as {}.\n", path.string(), grader::keep_copy(file, flags.kit).string());
    replace_file(file, text);
    if (path.extension() == ".sh") fs::permissions(file, fs::perms::owner_exec, fs::perm_options::add);
    fmt::print("{} is written.\n", path.string());
  }
}

}  // namespace

int main(int argc, char** argv) try {
  const Flags flags = parse_flags(argc, argv);
  const auto exercises = cut_all(flags.kit);
  if (!flags.check) write_all(flags, exercises);
  const auto found = differences(flags.kit, exercises, flags.strict);
  for (const std::string& sentence : found) fmt::print(stderr, "{}\n", sentence);
  require(
      found.empty(),
      "{} of the exercises {} not what cutting the solutions makes. Is it your answer to an exercise? Only blanks "
      "are meant to be changed: `./odori reset TASK` puts all else back too, and keeps a copy. Do you work on the kit "
      "itself? Edit solutions/, then run `./odori cut`.",
      found.size(), found.size() == 1 ? "is" : "are");
  return 0;
} catch (...) {
  return report_failure();
}
