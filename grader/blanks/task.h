// SPDX-License-Identifier: Apache-2.0
// The exercises that have blanks: where the files of each are, how it is launched, and what each blank is worth. All of
// it is read from solutions/NN_NAME/ (solutions/README.md); nothing else knows which exercises there are.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "errors/language.h"

namespace odori::grader {

/// A file that has blanks, and the same with answers in them, both below the kit.
struct ExerciseFile {
  std::filesystem::path exercise, solution;
};

struct Task {
  std::string name;              // "multi_gpu", of the folder 01_multi_gpu
  std::filesystem::path folder;  // 01_multi_gpu, below solutions/, exercises/ and grader/exercises/
  ExerciseFile program;
  std::optional<ExerciseFile> script;  // the job script, if the exercise has one: it holds the last blank
  Text title;
  std::vector<Text> blanks;    // titles: "the main device"
  std::set<int> judged_alone;  // blanks that another one can compensate for: right only if right with the kit's
  std::vector<std::set<std::string>> siblings;  // words that are easily confused: ./odori exercise check swaps them
  bool under_mpi = false;                       // ranks under mpirun; else one process
  bool measures_speedup = true;                 // of a whole that is right
  bool optional = false;  // a class is marked on it only where its instructor says so (course.json)

  int n_blanks() const { return static_cast<int>(blanks.size()); }
  int n_program_blanks() const { return n_blanks() - (script ? 1 : 0); }
  bool is_in_script(int blank) const { return blank > n_program_blanks(); }
  /// The program, and the script if there is one.
  std::vector<ExerciseFile> files() const;
  /// What verdicts are given on, in order: the blanks, and then the speedup as 0 if it is measured.
  std::vector<int> judged() const;
};

/// In the order of their folders' names. Throws Error if an exercise.json can't be used.
const std::vector<Task>& all_tasks();
/// Throws UsageError, naming all, for another name.
const Task& task_named(std::string_view name);
std::vector<std::string> names_of_tasks();

/// Points a blank (key: its number) and for the speedup (key 0), if it is measured; 100 in all; from the exercise.json
/// of this kit. Throws Error if the file can't be used.
std::map<int, double> points_of(const Task& task, const std::filesystem::path& kit);

}  // namespace odori::grader
