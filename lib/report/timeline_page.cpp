// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "report/html.h"
#include "report/pages.h"  // made by CMake
#include "report/timeline.h"

namespace odori::timeline {
namespace {

using Json = nlohmann::json;

/// Numbers alone, with names by their place in a list: a tenth of the event stream's size.
Json data_of(const Timeline& timeline) {
  std::vector<std::string> names;
  const auto number_of = [&](const std::string& name) {
    const auto at = std::find(names.begin(), names.end(), name);
    if (at == names.end()) return names.push_back(name), names.size() - 1;
    return static_cast<std::size_t>(at - names.begin());
  };
  const auto intervals = [](const std::vector<Interval>& list) {
    Json json = Json::array();
    for (const Interval& interval : list) json.push_back({interval.begin, interval.end});
    return json;
  };
  Json rows = Json::array();
  for (const Row& row : timeline.rows) {
    Json spans = Json::array();
    for (const Span& span : row.spans)
      spans.push_back({number_of(span.name), span.time.begin, span.time.end - span.time.begin, span.bytes, span.wait});
    const Shares shares = shares_of(timeline, row);
    rows.push_back({{"rank", row.rank},
                    {"device", row.device},
                    {"spans", spans},
                    {"iterations", intervals(row.iterations)},
                    {"iteration", shares.iteration_us},
                    {"compute", shares.compute_us},
                    {"exposed", shares.exposed_us},
                    {"late", shares.late_us},
                    {"hidden", shares.hidden_us},
                    {"waiting", shares.waiting_us},
                    {"bytes", shares.bytes},
                    {"collectives", shares.collectives}});
  }
  Json kinds = Json::array();
  for (const std::string& name : names) {
    const Kind kind = kind_of(name);
    kinds.push_back(kind == Kind::compute ? "compute" : kind == Kind::communication ? "communication" : "");
  }
  return {{"names", names},
          {"kinds", kinds},
          {"rows", rows},
          {"first_iteration", timeline.first_iteration},
          {"n_iterations", timeline.n_iterations},
          {"cut", timeline.cut}};
}

/// How many ranks and devices, as a heading.
Json who(const Timeline& timeline) {
  std::set<int> ranks;
  for (const Row& row : timeline.rows) ranks.insert(row.rank);
  const std::size_t n = ranks.size(), devices = timeline.rows.size();
  if (devices == 1) return html::both("1 device", "1 デバイス");
  if (n == 1)
    return html::both(fmt::format("1 process, {} devices", devices), fmt::format("1 プロセス、{} デバイス", devices));
  if (n == devices)
    return html::both(fmt::format("{} ranks, one device each", n), fmt::format("{} ランク、各 1 デバイス", n));
  return html::both(fmt::format("{} ranks, {} devices", n, devices),
                    fmt::format("{} ランク、計 {} デバイス", n, devices));
}

}  // namespace

Json page_data(const Timeline& timeline, const PageTexts& texts, const std::string& d3) {
  return {{"who", who(timeline)},
          {"source", texts.source},
          {"lang", texts.language},
          {"machine", describe(texts.machine)},
          {"date", texts.date},
          {"data", html::json_in_script(data_of(timeline))},
          {"d3", html::code_in_script(d3)},
          {"scripts", std::string(pages::timeline_words_js) + pages::timeline_figures_js + pages::timeline_picture_js +
                          pages::timeline_moves_js}};
}

std::map<std::string, std::string> page_parts() {
  return {{"timeline_style", pages::timeline_style_mustache}, {"timeline_body", pages::timeline_body_mustache}};
}

std::string to_page(const Timeline& timeline, const PageTexts& texts, const std::string& d3) {
  return html::render(pages::timeline_html, page_data(timeline, texts, d3), page_parts());
}

std::string read_d3() { return html::read_library("ODORI_D3_JS", "/usr/share/nodejs/d3/dist/d3.min.js"); }

}  // namespace odori::timeline
