#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "report/html.h"
#include "report/timeline.h"
#include "report/timeline_template.h"  // timeline.html, made by CMake

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
      spans.push_back({number_of(span.name), span.time.begin, span.time.end - span.time.begin, span.bytes});
    const Shares shares = shares_of(timeline, row);
    rows.push_back({{"rank", row.rank},
                    {"device", row.device},
                    {"spans", spans},
                    {"iterations", intervals(row.iterations)},
                    {"exposed_parts", intervals(exposed_communication(row))},
                    {"iteration", shares.iteration_us},
                    {"compute", shares.compute_us},
                    {"exposed", shares.exposed_us},
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

}  // namespace

std::string to_page(const Timeline& timeline, const PageTexts& texts, const std::string& d3) {
  return html::fill(timeline_template, {{"title", html::escape(texts.title)},
                                        {"lang", html::escape(texts.language)},
                                        {"machine", html::escape(describe(texts.machine))},
                                        {"date", html::escape(texts.date)},
                                        {"data", html::json_in_script(data_of(timeline))},
                                        {"d3", html::code_in_script(d3)}});
}

std::string read_d3() { return html::read_library("ODORI_D3_JS", "/usr/share/nodejs/d3/dist/d3.min.js"); }

}  // namespace odori::timeline
