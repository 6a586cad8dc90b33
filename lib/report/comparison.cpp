#include "report/comparison.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "report/table.h"

namespace odori {
namespace {

TableRow to_row(const Comparison& comparison, const Run& run) {
  TableRow row{run.name, std::to_string(run.devices), std::to_string(run.nodes),
               run.communicator.empty() ? "-" : run.communicator};
  if (!run.not_timed.empty()) {
    row.insert(row.end(), {"-", "-", "-", "-"});
    return row;
  }
  row.push_back(fmt::format("{:.0f}", run.images_per_second));
  row.push_back(fmt::format("{:.2f}", comparison.speedup(run)));
  row.push_back(fmt::format("{:.0f} %", 100 * comparison.efficiency(run)));
  row.push_back(run.accuracy.empty() ? "-" : fmt::format("{:.1f} %", 100 * run.accuracy.back()));
  return row;
}

}  // namespace

const Run& Comparison::fastest() const {
  return *std::max_element(runs.begin(), runs.end(),
                           [](const Run& a, const Run& b) { return a.images_per_second < b.images_per_second; });
}

void Comparison::time_first_again(double images_per_second) {
  baseline = {runs.front().images_per_second, images_per_second};
  runs.front().images_per_second = (baseline[0] + baseline[1]) / 2;
}

std::string Comparison::baseline_note() const {
  if (baseline.empty()) return "";
  const double drift = std::abs(baseline[1] - baseline[0]) / runs.front().images_per_second;
  return fmt::format(
      "The baseline, {}, was timed before and after the others, at {:.0f} and {:.0f} images/s; speedups are relative "
      "to "
      "the mean.{}",
      runs.front().name, baseline[0], baseline[1],
      drift <= 0.1 ? ""
                   : " The two differ by more than a tenth: this machine is busy, so read the speedups with care.");
}

std::string to_text(const Comparison& comparison) {
  std::vector<TableRow> rows;
  std::string notes;
  for (const Run& run : comparison.runs) {
    rows.push_back(to_row(comparison, run));
    if (!run.not_timed.empty()) notes += fmt::format("Not timed: {}: {}\n", run.name, run.not_timed);
  }
  if (!comparison.baseline.empty()) notes += comparison.baseline_note() + "\n";
  return text_table({"run", "devices", "nodes", "communicator", "images/s", "speedup", "efficiency", "test accuracy"},
                    rows) +
         notes + (comparison.simulated_nodes ? "Nodes are simulated: this machine plays all of them.\n" : "") +
         fmt::format("{}: {} images x {} epochs, network {}, {} images a device and iteration.\n{}, {}.\n",
                     comparison.dataset, comparison.n_images, comparison.epoch, comparison.model, comparison.batchsize,
                     describe(comparison.machine), comparison.date);
}

void to_json(nlohmann::json& json, const Comparison& comparison) {
  nlohmann::json runs = nlohmann::json::array();
  for (const Run& run : comparison.runs) {
    nlohmann::json entry = {{"name", run.name},       {"name_ja", run.name_ja}, {"command", run.command},
                            {"devices", run.devices}, {"nodes", run.nodes},     {"communicator", run.communicator}};
    if (run.not_timed.empty()) {
      entry["images_per_second"] = run.images_per_second;
      entry["speedup"] = comparison.speedup(run);
      entry["efficiency"] = comparison.efficiency(run);
      entry["accuracy"] = run.accuracy;
    } else {
      entry["not_timed"] = run.not_timed;
    }
    runs.push_back(std::move(entry));
  }
  json = {{"date", comparison.date},           {"machine", comparison.machine},   {"dataset", comparison.dataset},
          {"images", comparison.n_images},     {"epochs", comparison.epoch},      {"model", comparison.model},
          {"batchsize", comparison.batchsize}, {"baseline", comparison.baseline}, {"runs", std::move(runs)}};
}

}  // namespace odori
