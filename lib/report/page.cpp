#include "report/page.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "report/html.h"
#include "report/page_template.h"  // page.html, made by CMake

namespace odori {
namespace {

std::string cell(const std::string& content) { return "<td>" + content + "</td>"; }

std::string table_row(const Comparison& comparison, const Run& run) {
  std::string row = fmt::format("        <tr><td>{}<span lang=\"ja\">{}</span></td>", html::escape(run.name),
                                html::escape(run.name_ja)) +
                    cell(std::to_string(run.devices)) + cell(std::to_string(run.nodes)) +
                    cell(run.communicator.empty() ? "–" : html::escape(run.communicator));
  if (!run.not_timed.empty())
    return row +
           fmt::format("<td class=\"reason\" colspan=\"4\">not timed <span lang=\"ja\">計測なし</span> {}</td></tr>\n",
                       html::escape(run.not_timed));
  row += cell(fmt::format("{:.0f}", run.images_per_second)) + cell(fmt::format("{:.2f} ×", comparison.speedup(run))) +
         cell(fmt::format("{:.0f} %", 100 * comparison.efficiency(run))) +
         cell(run.accuracy.empty() ? "–" : fmt::format("{:.1f} %", 100 * run.accuracy.back()));
  return row + "</tr>\n";
}

std::string card(const std::string& figure, const char* unit, const std::string& text, const std::string& text_ja) {
  return fmt::format(
      "<div class=\"card\"><b>{} <small>{}</small></b><span>{}</span><span lang=\"ja\">{}</span></div>\n    ", figure,
      unit, html::escape(text), html::escape(text_ja));
}

std::string cards(const Comparison& comparison, const Run& best) {
  const Run& first = comparison.runs.front();
  std::string text =
      card(fmt::format("{:.0f}", first.images_per_second), "images/s", first.name, first.name_ja) +
      card(fmt::format("{:.0f}", best.images_per_second), "images/s", best.name, best.name_ja) +
      card(fmt::format("{:.0f}", 100 * comparison.efficiency(best)), "%", "its parallel efficiency", "その並列化効率");
  if (!best.accuracy.empty())
    text += card(fmt::format("{:.1f}", 100 * best.accuracy.back()), "%", "its test accuracy", "そのテスト精度");
  return text;
}

std::string baseline_of(const Comparison& comparison) {
  const std::string note = comparison.timing_note();
  if (note.empty()) return "";
  return fmt::format(
      "<p>{} <span lang=\"ja\">{}をほかの実行の合間に {} 回計測し（{:.0f} "
      "枚/秒）、それぞれ直前と直後の値を基準にしています。{}</span></p>",
      html::escape(note), html::escape(comparison.runs.front().name_ja), comparison.baseline.size(),
      fmt::join(comparison.baseline, "、"),
      comparison.above_ceiling(comparison.headline())
          ? "台数より大きい倍率はありえません。計測の間にマシンの速さが変わっています。"
          : "");
}

constexpr const char* simulated_nodes =
    "<p>One machine plays the nodes. <span lang=\"ja\">ノードは 1 台のマシンで模擬しています。</span></p>";

constexpr const char* no_chart_js =
    "<section><p class=\"note\">Chart.js was not found, so the charts are left out; the table holds all figures. "
    "(Debian: libjs-chart.js; or name the file: ODORI_CHART_JS=/path/chart.min.js) "
    "<span lang=\"ja\">Chart.js が見つからないためグラフを省きました。数値はすべて表にあります。</span></p></section>";

}  // namespace

std::string to_page(const Comparison& comparison, const std::string& chart_js) {
  std::string rows, commands;
  for (const Run& run : comparison.runs) {
    rows += table_row(comparison, run);
    commands += fmt::format("      <li><code>{}</code></li>\n", html::escape(run.command));
  }
  const Run& best = comparison.headline();
  const double speedup = comparison.speedup(best);
  const bool faster = best.devices > 1 && speedup > 1;
  const auto [least, most] = comparison.speedup_range(best);
  const std::string range = best.timings.size() > 1 ? fmt::format(" ({:.2f}–{:.2f})", least, most) : std::string();
  return html::fill(
      page_template,
      {{"headline", faster ? fmt::format("{} devices: {:.2f} times as fast as one{}", best.devices, speedup, range)
                           : "Several devices were not faster than one"},
       {"headline_ja", faster
                           ? fmt::format("{} デバイスで 1 デバイスの {:.2f} 倍の速さ{}", best.devices, speedup, range)
                           : "複数デバイスにしても速くなりませんでした"},
       {"setting", html::escape(fmt::format("{}: {} images × {} epochs, network {}, {} images a device and iteration",
                                            comparison.dataset, comparison.n_images, comparison.epoch, comparison.model,
                                            comparison.batchsize))},
       {"machine", html::escape(describe(comparison.machine))},
       {"date", html::escape(comparison.date)},
       {"simulated", comparison.simulated_nodes ? simulated_nodes : ""},
       {"baseline", baseline_of(comparison)},
       {"cards", cards(comparison, best)},
       {"chart_note", chart_note(chart_js)},
       {"rows", rows},
       {"commands", commands},
       {"data", html::json_in_script(comparison)},
       {"chart_js", html::code_in_script(chart_js)}});
}

std::string chart_note(const std::string& chart_js) { return chart_js.empty() ? no_chart_js : ""; }

std::string read_chart_js() {
  return html::read_library("ODORI_CHART_JS", "/usr/share/javascript/chart.js/chart.min.js");
}

}  // namespace odori
