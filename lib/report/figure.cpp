// SPDX-License-Identifier: Apache-2.0
#include "report/figure.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "report/html.h"
#include "report/pages.h"  // made by CMake
#include "report/table.h"

namespace odori {
namespace {

/// With the digits that a float has: what is shown was one mostly, and 0.02 is to be 0.02.
std::string text_of(double value) { return fmt::format("{:.7g}", value); }
double shown(double value) { return std::stod(text_of(value)); }
std::string cell(const std::optional<double>& value) { return value ? text_of(*value) : "-"; }

TableRow header_of(const Figure& figure) {
  TableRow header{figure.x_name};
  for (const Curve& curve : figure.curves) header.push_back(curve.name);
  return header;
}

std::vector<TableRow> rows_of(const Figure& figure) {
  std::vector<TableRow> rows;
  for (std::size_t i = 0; i < figure.x.size() + figure.bars.size(); ++i) {
    TableRow& row = rows.emplace_back(TableRow{figure.bars.empty() ? cell(figure.x[i]) : figure.bars[i]});
    for (const Curve& curve : figure.curves) row.push_back(cell(curve.values.at(i)));
  }
  return rows;
}

nlohmann::json data_of(const Figure& figure) {
  nlohmann::json data{{"x", figure.x},
                      {"bars", figure.bars},
                      {"linear", figure.linear},
                      {"x_name", figure.x_name},
                      {"y_name", figure.y_name}};
  for (const Curve& curve : figure.curves) {
    nlohmann::json& json = data["curves"].emplace_back();
    json = {{"name", curve.name}, {"measured", curve.measured}, {"points", nlohmann::json::array()}};
    for (std::size_t i = 0; i < figure.bars.size(); ++i)
      json["points"].push_back(curve.values[i] ? nlohmann::json(shown(*curve.values[i])) : nullptr);
    for (std::size_t i = 0; i < figure.x.size(); ++i)
      if (curve.values[i]) json["points"].push_back({{"x", figure.x[i]}, {"y", shown(*curve.values[i])}});
  }
  return data;
}

}  // namespace

std::string to_table(const Figure& figure, std::size_t (*width_of)(std::string_view)) {
  return text_table(header_of(figure), rows_of(figure), width_of);
}

std::string to_page(const Figure& figure, const std::string& language, const std::string& chart_js) {
  nlohmann::json rows = nlohmann::json::array();
  for (TableRow& row : rows_of(figure)) rows.push_back({{"cells", std::move(row)}});
  return html::render(pages::figure_html, {{"lang", language},
                                           {"one_language", true},
                                           {"title", figure.title},
                                           {"text", figure.text},
                                           {"header", header_of(figure)},
                                           {"rows", std::move(rows)},
                                           {"data", html::json_in_script(data_of(figure))},
                                           {"chart_js", html::code_in_script(chart_js)}});
}

}  // namespace odori
