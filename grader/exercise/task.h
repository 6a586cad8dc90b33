// The two tasks: where their files are, and what each blank is worth.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace odori::grader {

/// Task 1 and task 2, by the names that learners use: "multi_gpu", "multi_node".
struct Task {
  std::string name;
  std::filesystem::path program;  // below exercises/ and solutions/: 01_multi_gpu/train_cifar_multi_gpu.cpp
  std::filesystem::path script;   // below jobscripts/ and solutions/jobscripts/
  int n_program_blanks = 0;       // 1 .. n in the program; the job script's blank is the next
  bool under_mpi = false;
  int n_blanks() const { return n_program_blanks + 1; }
};

/// Throws UsageError, naming both, for another name.
const Task& task_named(std::string_view name);
const std::vector<Task>& all_tasks();
std::vector<std::string> names_of_tasks();

/// Points a blank (key: its number) and for the speedup (key 0), 100 in all; from KIT/grader/points.json.
/// Throws Error if the file can't be used.
std::map<int, double> points_of(const Task& task, const std::filesystem::path& kit);

}  // namespace odori::grader
