// SPDX-License-Identifier: Apache-2.0
// Charts of curves or bars, as a table for a terminal and as a self-contained web page.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace odori {

struct Curve {
  std::string name;
  std::vector<std::optional<double>> values;  // one per x or bar
  bool measured = false;                      // drawn as marks instead of a line
};

struct Figure {
  std::string title, text;
  std::string x_name, y_name;
  std::vector<double> x;  // with logarithmic axes, x and values must be above 0
  std::vector<Curve> curves;
  std::vector<std::string> bars = {};  // instead of x: the names of bars, which start at 0
  bool linear = false;                 // both axes are linear, from 0; otherwise logarithmic
};

/// One line per x or bar, one column per curve. `width_of`: width of a text in terminal columns.
std::string to_table(const Figure& figure, std::size_t (*width_of)(std::string_view));

/// `language`: of the figure's texts, "en" or "ja". `chart_js`: as in comparison.h.
std::string to_page(const Figure& figure, const std::string& language, const std::string& chart_js);

}  // namespace odori
