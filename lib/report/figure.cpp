#include "report/figure.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "report/figure_template.h"  // figure.html, made by CMake
#include "report/html.h"
#include "report/page.h"
#include "report/table.h"

namespace odori {
namespace {

std::string cell(const std::optional<double>& value) { return value ? fmt::format("{:.10g}", *value) : "-"; }

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

std::string html_row(const TableRow& cells, const char* element) {
  std::string row = "<tr>";
  for (const std::string& text : cells) row += fmt::format("<{0}>{1}</{0}>", element, html::escape(text));
  return row + "</tr>\n";
}

nlohmann::json data_of(const Figure& figure) {
  nlohmann::json data{{"x", figure.x}, {"bars", figure.bars}, {"x_name", figure.x_name}, {"y_name", figure.y_name}};
  for (const Curve& curve : figure.curves) {
    nlohmann::json& json = data["curves"].emplace_back();
    json = {{"name", curve.name}, {"measured", curve.measured}, {"points", nlohmann::json::array()}};
    for (std::size_t i = 0; i < figure.bars.size(); ++i)
      json["points"].push_back(curve.values[i] ? nlohmann::json(*curve.values[i]) : nullptr);
    for (std::size_t i = 0; i < figure.x.size(); ++i)
      if (curve.values[i]) json["points"].push_back({{"x", figure.x[i]}, {"y", *curve.values[i]}});
  }
  return data;
}

}  // namespace

std::string to_table(const Figure& figure, std::size_t (*width_of)(std::string_view)) {
  return text_table(header_of(figure), rows_of(figure), width_of);
}

std::string to_page(const Figure& figure, const std::string& language, const std::string& chart_js) {
  std::string rows;
  for (const TableRow& row : rows_of(figure)) rows += html_row(row, "td");
  return html::fill(figure_template, {{"lang", html::escape(language)},
                                      {"title", html::escape(figure.title)},
                                      {"text", html::escape(figure.text)},
                                      {"chart_note", chart_note(chart_js)},
                                      {"header", html_row(header_of(figure), "th")},
                                      {"rows", rows},
                                      {"data", html::json_in_script(data_of(figure))},
                                      {"chart_js", html::code_in_script(chart_js)}});
}

}  // namespace odori
