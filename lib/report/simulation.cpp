// SPDX-License-Identifier: Apache-2.0
#include "report/simulation.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "report/html.h"
#include "report/pages.h"  // made by CMake
#include "report/table.h"

namespace odori {
namespace {

using Json = nlohmann::json;

Json json_of(const Text& text) { return html::both(text.english, text.japanese); }
Text text_of(const Json& json) { return {json.at("en"), json.at("ja")}; }

std::string value_text(const std::optional<double>& value) { return value ? fmt::format("{:.4g}", *value) : "-"; }

/// What the template shows of a curve's table, and of the chart.
Json table_of(const SimulationReport& report) {
  Json rows = Json::array();
  for (std::size_t i = 0; i < report.ranks.size(); ++i) {
    Json cells = Json::array({fmt::format("{}", report.ranks[i])});
    for (const auto& curve : report.curves) cells.push_back(value_text(curve.values.at(i)));
    rows.push_back({{"cells", std::move(cells)}});
  }
  return rows;
}

Json chart_of(const SimulationReport& report) {
  Json data{{"x", report.ranks},
            {"title", json_of(report.title)},
            {"x_name", html::both("ranks", "ランク数")},
            {"y_name", json_of(report.unit)},
            {"curves", Json::array()}};
  for (const auto& curve : report.curves) {
    Json points = Json::array();
    for (std::size_t i = 0; i < report.ranks.size(); ++i)
      if (curve.values.at(i)) points.push_back({{"x", report.ranks[i]}, {"y", *curve.values[i]}});
    data["curves"].push_back(
        {{"name", json_of(curve.name)}, {"simulated", curve.simulated}, {"points", std::move(points)}});
  }
  return data;
}

}  // namespace

void to_json(Json& json, const SimulationReport& report) {
  json = {
      {"title", json_of(report.title)}, {"place", json_of(report.place)}, {"conclusion", json_of(report.conclusion)},
      {"ranks", report.ranks},          {"unit", json_of(report.unit)},   {"rows", Json::array()},
      {"curves", Json::array()}};
  for (const auto& row : report.rows)
    json["rows"].push_back({{"name", json_of(row.name)}, {"simulated", row.simulated}, {"formula", row.formula}});
  for (const auto& curve : report.curves) {
    Json values = Json::array();
    for (const auto& value : curve.values) values.push_back(value ? Json(*value) : Json());
    json["curves"].push_back({{"name", json_of(curve.name)}, {"simulated", curve.simulated}, {"values", values}});
  }
}

void from_json(const Json& json, SimulationReport& report) {
  report = {.title = text_of(json.at("title")),
            .place = text_of(json.at("place")),
            .conclusion = text_of(json.at("conclusion")),
            .ranks = json.at("ranks"),
            .unit = text_of(json.at("unit"))};
  for (const Json& row : json.at("rows"))
    report.rows.push_back({text_of(row.at("name")), row.at("simulated"), row.at("formula")});
  for (const Json& curve : json.at("curves")) {
    auto& to = report.curves.emplace_back();
    to.name = text_of(curve.at("name"));
    to.simulated = curve.at("simulated");
    for (const Json& value : curve.at("values"))
      to.values.push_back(value.is_null() ? std::nullopt : std::optional<double>(value));
  }
}

std::string to_text(const SimulationReport& report, const std::string& language) {
  const auto in = [&](const Text& text) { return text.in(language); };
  std::vector<TableRow> rows, points;
  for (const auto& row : report.rows)
    rows.push_back({in(row.name), row.simulated, row.formula.empty() ? "-" : row.formula});
  TableRow header{in({"ranks", "ランク数"})};
  for (const auto& curve : report.curves) header.push_back(in(curve.name));
  for (std::size_t i = 0; i < report.ranks.size(); ++i) {
    TableRow& point = points.emplace_back(TableRow{fmt::format("{}", report.ranks[i])});
    for (const auto& curve : report.curves) point.push_back(value_text(curve.values.at(i)));
  }
  return fmt::format("{}\n{}\n\n{}\n{}\n{}\n{}\n", in(report.title), in(report.place),
                     text_table({"", in({"simulated", "シミュレーション"}), in({"formula", "式"})}, rows),
                     in(report.unit), text_table(header, points), in(report.conclusion));
}

std::string to_page(const SimulationReport& report, const timeline::Timeline& drawn, const timeline::PageTexts& texts,
                    const std::string& chart_js, const std::string& d3) {
  Json data = timeline::page_data(drawn, texts, d3);
  data.update(Json(report));
  data["title"]["in_language"] = report.title.in(texts.language);
  data["header"] = Json::array();
  for (const auto& curve : report.curves) data["header"].push_back(json_of(curve.name));
  data["points"] = table_of(report);
  data["curves"] = html::json_in_script(chart_of(report));
  data["chart_js"] = html::code_in_script(chart_js);
  return html::render(pages::simulation_html, data, timeline::page_parts());
}

}  // namespace odori
