// The exercises that have blanks: where the files of each are, how it is launched, and what each blank is worth. All of
// it is read from solutions/NN_NAME/ (solutions/README.md); nothing else knows which exercises there are.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/language.h"

namespace odori::grader {

struct Task {
  std::string name;               // "multi_gpu", of the folder 01_multi_gpu
  std::filesystem::path folder;   // 01_multi_gpu, below solutions/ and exercises/
  std::filesystem::path program;  // 01_multi_gpu/train_cifar_multi_gpu.cpp, below the same
  std::filesystem::path script;   // run_multi_gpu_training.sh, below jobscripts/ and solutions/01_multi_gpu/
  Text title;
  std::vector<Text> blanks;  // titles: "the main device"; those of the program, and then the job script's
  bool under_mpi = false;    // ranks under mpirun; else one process
  int n_blanks() const { return static_cast<int>(blanks.size()); }
  int n_program_blanks() const { return n_blanks() - 1; }
  /// The job script with its answer, below the kit.
  std::filesystem::path solution_of_script() const { return "solutions" / folder / script; }
};

/// In the order of their folders' numbers. Throws Error if an exercise.json can't be used.
const std::vector<Task>& all_tasks();
/// Throws UsageError, naming all, for another name.
const Task& task_named(std::string_view name);
std::vector<std::string> names_of_tasks();

/// Points a blank (key: its number) and for the speedup (key 0), 100 in all; from the exercise.json of this kit.
/// Throws Error if the file can't be used.
std::map<int, double> points_of(const Task& task, const std::filesystem::path& kit);

}  // namespace odori::grader
