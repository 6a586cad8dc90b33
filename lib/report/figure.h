// SPDX-License-Identifier: Apache-2.0
// Curves over one quantity, and what was measured of them, or bars: as a table for a terminal, and as a self-contained
// page.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace odori {

struct Curve {
  std::string name;
  std::vector<std::optional<double>> values;  // one for each x or bar
  bool measured = false;                      // drawn as marks, else as a line
};

struct Figure {
  std::string title, text;
  std::string x_name, y_name;
  std::vector<double> x;  // with logarithmic axes above 0, as the values are
  std::vector<Curve> curves;
  std::vector<std::string> bars = {};  // in place of x: a bar for each value, from 0, with these names
  bool linear = false;                 // both axes, from 0; else both are logarithmic
};

/// A line for each x or bar, and a column for each curve. `width_of`: how many columns of the terminal a text takes.
std::string to_table(const Figure& figure, std::size_t (*width_of)(std::string_view));

/// `language`: of the figure's texts ("en", "ja"). `chart_js`: as for a comparison's page.
std::string to_page(const Figure& figure, const std::string& language, const std::string& chart_js);

}  // namespace odori
