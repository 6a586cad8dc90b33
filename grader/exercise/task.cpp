#include "exercise/task.h"

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "exercise/blanks.h"

namespace odori::grader {

const std::vector<Task>& all_tasks() {
  static const std::vector<Task> tasks{{.name = "multi_gpu",
                                        .program = "01_multi_gpu/train_cifar_multi_gpu.cpp",
                                        .script = "run_multi_gpu_training.sh",
                                        .n_program_blanks = 7},
                                       {.name = "multi_node",
                                        .program = "02_multi_node/train_cifar_multi_node.cpp",
                                        .script = "run_multi_node_training.sh",
                                        .n_program_blanks = 6,
                                        .under_mpi = true}};
  return tasks;
}

std::vector<std::string> names_of_tasks() {
  std::vector<std::string> names;
  for (const Task& task : all_tasks()) names.push_back(task.name);
  return names;
}

const Task& task_named(std::string_view name) {
  for (const Task& task : all_tasks())
    if (task.name == name) return task;
  throw UsageError(fmt::format("There is no task \"{}\". The tasks are multi_gpu and multi_node.", name));
}

std::map<int, double> points_of(const Task& task, const std::filesystem::path& kit) {
  const std::string path = (kit / "grader" / "points.json").string();
  const auto table = nlohmann::json::parse(read_file(path), nullptr, false);
  require(table.is_object() && table.contains(task.name) && table[task.name].is_object(),
          "{} should be a JSON object that gives the points of {}, and isn't.", path, task.name);
  std::map<int, double> points;
  double sum = 0;
  for (int blank = 0; blank <= task.n_blanks(); ++blank) {
    const std::string name = blank == 0 ? "speedup" : std::to_string(blank);
    const auto& row = table[task.name];
    require(row.contains(name) && row[name].is_number() && row[name] >= 0,
            "{} should give the points of {}'s \"{}\", a number from 0.", path, task.name, name);
    sum += points[blank] = row[name];
  }
  require(sum > 99.99 && sum < 100.01, "{}: the points of {} should make 100 in all, and make {}.", path, task.name,
          sum);
  return points;
}

}  // namespace odori::grader
