// SPDX-License-Identifier: Apache-2.0
#include "report/comparison.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "errors/error.h"
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
  TableRow row{run.shown(), std::to_string(run.devices), std::to_string(run.nodes),
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

std::string Run::why_not_timed() const { return in_language({not_timed, not_timed_ja}); }
std::string Run::shown() const { return in_language({name, name_ja.empty() ? name : name_ja}); }

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
  std::string note = in_language(
      {"The baseline, {}, was timed {} times, in between the others, at {:.0f} images/s; each speedup is against the "
       "timings right before and after it.",
       "基準（{}）は、ほかの学習の合間に {} 回計測し、{:.0f} 枚/秒でした。速度向上は、直前と直後の基準との比です。"},
      runs.front().shown(), baseline.size(), fmt::join(baseline, ", "));
  if (const Run& first = headline(); first.timings.size() > 1 && &first != &runs.front())
    note += in_language(
        {" {} was {:.2f} to {:.2f} times as fast in {} rounds.", "{} は {:.2f}～{:.2f} 倍でした（{} 回）。"},
        first.shown(), speedup_range(first).first, speedup_range(first).second, first.timings.size());
  if (*most > 1.1 * *least)
    note += in_language(
        Text{" The baseline changed by more than a tenth: this machine is busy, so read the speedups with care.",
             "基準が 1 割以上変わりました。このマシンはほかの処理で忙しいため、速度向上は目安です。"});
  if (n_disturbed > 0)
    note += in_language(
        {" Other programs used the cores during {} timing{}: repeat the demo while nothing else runs, before you trust "
         "these speedups.",
         "{} 回の計測中に、ほかのプログラムがコアを使っていました。何も動いていないときにデモをやり直してください。"},
        n_disturbed, n_disturbed == 1 ? "" : "s");
  for (const Run& run : runs)
    if (run.not_timed.empty() && run.devices > runs.front().devices && above_ceiling(run))
      note += in_language({" {}{}: more than {} times can't be; this machine's speed changed between the timings.",
                           "{}{}: {} 倍を超えることはありえません。計測の間にこのマシンの速度が変わりました。"},
                          run.shown(), run.communicator.empty() ? "" : ", " + run.communicator, run.devices);
  return note;
}

std::string to_text(const Comparison& comparison) {
  std::vector<TableRow> rows;
  std::string notes;
  for (const Run& run : comparison.runs) {
    rows.push_back(to_row(comparison, run));
    if (!run.not_timed.empty())
      notes += in_language({"Not timed: {}: {}\n", "計測なし: {}: {}\n"}, run.shown(), run.why_not_timed());
  }
  if (const std::string note = comparison.timing_note(); !note.empty()) notes += note + "\n";
  const TableRow english{"run",      "devices", "nodes",      "communicator",
                         "images/s", "speedup", "efficiency", "test accuracy"},
      japanese{"学習", "デバイス数", "ノード数", "コミュニケータ", "枚/秒", "速度向上率", "並列化効率", "テスト正解率"};
  const Text simulated{"Nodes are simulated: this machine plays all of them.\n",
                       "ノードはシミュレーションです（このマシンがすべてのノードの役をします）。\n"};
  return text_table(language() == "ja" ? japanese : english, rows) + notes +
         (comparison.simulated_nodes ? in_language(simulated) : "") +
         in_language({"{}: {} images x {} epochs, network {}, {} images a device and iteration.\n{}, {}.\n",
                      "{}: {} 枚 × {} エポック、ネットワーク {}、デバイスごと・反復ごとに {} 枚。\n{}、{}。\n"},
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
