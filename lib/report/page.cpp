// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "report/comparison.h"
#include "report/html.h"
#include "report/pages.h"  // made by CMake

namespace odori {
namespace {

using Json = nlohmann::json;

Json name_of(const Run& run) { return html::both(run.name, run.name_ja); }

Json row_of(const Comparison& comparison, const Run& run) {
  Json row{{"name", name_of(run)},   {"devices", run.devices},
           {"nodes", run.nodes},     {"communicator", run.communicator.empty() ? "–" : run.communicator},
           {"command", run.command}, {"not_timed", false}};
  if (!run.not_timed.empty()) {
    row["not_timed"] = html::both(run.not_timed, run.not_timed_ja);
    return row;
  }
  row["rate"] = fmt::format("{:.0f}", run.images_per_second);
  row["speedup"] = fmt::format("{:.2f}", comparison.speedup(run));
  row["efficiency"] = fmt::format("{:.0f}", 100 * comparison.efficiency(run));
  row["accuracy"] = run.accuracy.empty() ? "–" : fmt::format("{:.1f} %", 100 * run.accuracy.back());
  return row;
}

Json cards_of(const Comparison& comparison, const Run& best) {
  const Run& first = comparison.runs.front();
  Json cards = Json::array();
  const auto add = [&](const std::string& figure, const char* unit, Json name) {
    cards.push_back({{"figure", figure}, {"unit", unit}, {"name", std::move(name)}});
  };
  add(fmt::format("{:.0f}", first.images_per_second), "images/s", name_of(first));
  add(fmt::format("{:.0f}", best.images_per_second), "images/s", name_of(best));
  add(fmt::format("{:.0f}", 100 * comparison.efficiency(best)), "%",
      html::both("its parallel efficiency", "その並列化効率"));
  if (!best.accuracy.empty())
    add(fmt::format("{:.1f}", 100 * best.accuracy.back()), "%", html::both("its test accuracy", "そのテスト精度"));
  return cards;
}

/// On how the baseline was timed; false if only once.
Json note_of(const Comparison& comparison) {
  const std::string note = comparison.timing_note();
  if (note.empty()) return false;
  return html::both(
      note,
      fmt::format("{}をほかの実行の合間に {} 回計測し（{:.0f} "
                  "枚/秒）、それぞれ直前と直後の値を基準にしています。{}{}",
                  comparison.runs.front().name_ja, comparison.baseline.size(), fmt::join(comparison.baseline, "、"),
                  comparison.n_disturbed > 0
                      ? "計測中に他のプログラムもコアを使っていたので、静かなときに測り直してください。"
                      : "",
                  comparison.above_ceiling(comparison.headline())
                      ? "台数より大きい倍率はありえません。計測の間にマシンの速さが変わっています。"
                      : ""));
}

}  // namespace

std::string to_page(const Comparison& comparison, const std::string& chart_js) {
  const Run& best = comparison.headline();
  const auto [least, most] = comparison.speedup_range(best);
  Json page{{"faster", false},
            {"dataset", comparison.dataset},
            {"images", comparison.n_images},
            {"epochs", comparison.epoch},
            {"model", comparison.model},
            {"batchsize", comparison.batchsize},
            {"machine", describe(comparison.machine)},
            {"date", comparison.date},
            {"simulated", comparison.simulated_nodes},
            {"note", note_of(comparison)},
            {"cards", cards_of(comparison, best)},
            {"runs", Json::array()},
            {"data", html::json_in_script(comparison)},
            {"chart_js", html::code_in_script(chart_js)}};
  if (best.devices > 1 && comparison.speedup(best) > 1)
    page["faster"] = {
        {"devices", best.devices},
        {"speedup", fmt::format("{:.2f}", comparison.speedup(best))},
        // Word joiners: a line is broken neither before the dash nor after it.
        {"range", best.timings.size() > 1 ? fmt::format(" ({:.2f}\u2060–\u2060{:.2f})", least, most) : ""}};
  for (const Run& run : comparison.runs) page["runs"].push_back(row_of(comparison, run));
  return html::render(pages::page_html, page);
}

std::string read_chart_js() {
  return html::read_library("ODORI_CHART_JS", "/usr/share/javascript/chart.js/chart.min.js");
}

}  // namespace odori
