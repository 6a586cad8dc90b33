// SPDX-License-Identifier: Apache-2.0
#include "report/comparison.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "report/table.h"

namespace odori {
namespace {

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  return (values[(n - 1) / 2] + values[n / 2]) / 2;
}

std::vector<double> ratios(const Run& run) {
  std::vector<double> all;
  for (const Run::Timing& timing : run.timings) all.push_back(timing.images_per_second / timing.baseline);
  return all;
}

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

double Comparison::speedup(const Run& run) const {
  if (run.timings.empty()) return run.images_per_second / runs.front().images_per_second;
  return median(ratios(run));
}

std::pair<double, double> Comparison::speedup_range(const Run& run) const {
  if (run.timings.empty()) return {speedup(run), speedup(run)};
  const std::vector<double> all = ratios(run);
  const auto [least, most] = std::minmax_element(all.begin(), all.end());
  return {*least, *most};
}

const Run& Comparison::headline() const {
  const auto found =
      std::find_if(runs.begin(), runs.end(), [](const Run& run) { return run.devices > 1 && run.not_timed.empty(); });
  return found == runs.end() ? runs.front() : *found;
}

void Comparison::take(const std::vector<std::pair<std::size_t, double>>& timings) {
  double before = timings.front().second;
  for (auto at = timings.begin(); at != timings.end(); ++at) {
    const auto [which, rate] = *at;
    if (which == 0) before = rate;
    const auto after = std::find_if(at, timings.end(), [](const auto& timing) { return timing.first == 0; });
    const double baseline_here = which == 0 ? rate : (before + after->second) / 2;
    runs[which].timings.push_back({rate, baseline_here});
    if (which == 0) baseline.push_back(rate);
  }
  for (Run& run : runs) {
    std::vector<double> rates;
    for (const Run::Timing& timing : run.timings) rates.push_back(timing.images_per_second);
    if (!rates.empty()) run.images_per_second = median(rates);
  }
}

std::string Comparison::timing_note() const {
  if (baseline.size() < 2) return "";
  const auto [least, most] = std::minmax_element(baseline.begin(), baseline.end());
  std::string note = fmt::format(
      "The baseline, {}, was timed {} times, in between the others, at {:.0f} images/s; each speedup is against the "
      "timings right before and after it.",
      runs.front().name, baseline.size(), fmt::join(baseline, ", "));
  if (const Run& first = headline(); first.timings.size() > 1 && &first != &runs.front())
    note += fmt::format(" {} was {:.2f} to {:.2f} times as fast in {} rounds.", first.name, speedup_range(first).first,
                        speedup_range(first).second, first.timings.size());
  if (*most > 1.1 * *least)
    note += " The baseline changed by more than a tenth: this machine is busy, so read the speedups with care.";
  if (n_disturbed > 0)
    note += fmt::format(
        " Other programs used the cores during {} timing{}: repeat the demo while nothing else runs, before you trust "
        "these speedups.",
        n_disturbed, n_disturbed == 1 ? "" : "s");
  for (const Run& run : runs)
    if (run.not_timed.empty() && run.devices > runs.front().devices && above_ceiling(run))
      note += fmt::format(" {}{}: more than {} times can't be; this machine's speed changed between the timings.",
                          run.name, run.communicator.empty() ? "" : ", " + run.communicator, run.devices);
  return note;
}

std::string to_text(const Comparison& comparison) {
  std::vector<TableRow> rows;
  std::string notes;
  for (const Run& run : comparison.runs) {
    rows.push_back(to_row(comparison, run));
    if (!run.not_timed.empty()) notes += fmt::format("Not timed: {}: {}\n", run.name, run.not_timed);
  }
  if (const std::string note = comparison.timing_note(); !note.empty()) notes += note + "\n";
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
      entry["speedup_range"] = comparison.speedup_range(run);
      entry["rounds"] = std::max<std::size_t>(run.timings.size(), 1);
      entry["speedups"] = run.timings.empty() ? std::vector<double>{comparison.speedup(run)} : ratios(run);
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
