// SPDX-License-Identifier: Apache-2.0
#include "demo/plan.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace odori::demo {
namespace {

/// A training's place in the comparison, what it is called, and what is special about its command.
Training training(const Setting& setting, Run run, const std::string& folder, std::vector<std::string> words) {
  Training training{std::move(run), {setting.driver, "run"}, setting.out + "/" + folder};
  auto& command = training.command;
  command.insert(command.end(), words.begin(), words.end());
  command.insert(command.end(), setting.flags.begin(), setting.flags.end());
  command.insert(command.end(), {"--out", training.out});
  training.run.command = fmt::format("{}", fmt::join(command, " "));
  if (Run& run = training.run; run.devices > setting.n_devices) {
    const bool ranks = !run.communicator.empty();
    run.not_timed = fmt::format("{} {} would have to share this machine's {} {}", run.devices,
                                ranks ? "ranks" : "devices", setting.n_devices, setting.gpus ? "GPUs" : "cores");
    run.not_timed_ja = fmt::format("{} {}がこのマシンの {} {}を取り合うことになるため", run.devices,
                                   ranks ? "ランク" : "デバイス", setting.n_devices, setting.gpus ? "GPU " : "コア");
  }
  return training;
}

Training on_two_nodes(const Setting& setting, int n_ranks_a_node) {
  const int n_ranks = 2 * n_ranks_a_node;
  return training(
      setting,
      {.name = fmt::format("task 2: 2 nodes x {} rank{}", n_ranks_a_node, n_ranks_a_node == 1 ? "" : "s"),
       .name_ja = fmt::format("タスク2：2 ノード × {} ランク", n_ranks_a_node),
       .devices = n_ranks,
       .nodes = 2,
       .communicator = "flat"},
      fmt::format("2_nodes_{}_ranks", n_ranks),
      {"multi_node", "--solution", "--ranks", std::to_string(n_ranks), "--nodes", "2", "--communicator", "flat"});
}

}  // namespace

std::vector<Training> plan(const Setting& setting) {
  // ./odori compare compares the communicators.
  return {
      training(setting, {.name = "one device", .name_ja = "1 デバイス"}, "one_device", {"single_gpu", "--solution"}),
      training(setting,
               {.name = "task 1: 1 process x 2 devices", .name_ja = "タスク1：1 プロセス × 2 デバイス", .devices = 2},
               "two_devices", {"multi_gpu", "--solution", "--n-gpus", "2"}),
      on_two_nodes(setting, 1), on_two_nodes(setting, 2)};
}

std::vector<std::size_t> order(std::size_t n) {
  std::vector<std::size_t> places = {0, 1};
  for (std::size_t i = 2; i < n; ++i) {
    if (i == (n + 2) / 2) places.insert(places.end(), {0, 1});
    places.push_back(i);
  }
  places.insert(places.end(), {1, 0});
  return places;
}

std::size_t images_for(double seconds, double images_per_second, int epochs, std::size_t all) {
  constexpr double fewest = 600;  // about ten iterations; accuracies of fewer images say nothing
  const double wanted = std::max(fewest, seconds * images_per_second / epochs);
  return std::min(all, 100 * static_cast<std::size_t>(std::llround(wanted / 100)));
}

double seconds_of(std::span<const Run> runs, std::span<const std::size_t> places, double n_images, const Speed& speed) {
  double seconds = 0;
  for (const std::size_t place : places)
    if (const Run& run = runs[place]; run.not_timed.empty())
      seconds += speed.start + n_images / (speed.images_per_second * run.devices);
  return seconds;
}

}  // namespace odori::demo
