// SPDX-License-Identifier: Apache-2.0
// The report of ./odori simulate on a learner's function, as text and as a web page.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "errors/language.h"
#include "report/machine.h"
#include "report/timeline.h"

namespace odori {

struct SimulationReport {
  /// A simulated quantity, and its value by a formula. Empty: there is no formula.
  struct Row {
    Text name;
    std::string simulated, formula;
  };
  struct Curve {
    Text name;
    std::vector<std::optional<double>> values;  // one per x
    bool simulated = false;                     // drawn as marks instead of a line
  };
  Text title, place, conclusion;
  std::vector<Row> rows;
  std::vector<int> ranks;  // the curves' x
  Text unit;               // unit of the curves' values
  std::vector<Curve> curves;
};

void to_json(nlohmann::json& json, const SimulationReport& report);
/// Reads what to_json() wrote. Throws nlohmann::json::exception.
void from_json(const nlohmann::json& json, SimulationReport& report);

/// Tables for a terminal. `language`: "en" or "ja".
std::string to_text(const SimulationReport& report, const std::string& language);

/// A self-contained web page in both languages: the rows, the curves as a chart and a table, and the timeline. `texts`
/// and `d3`: as in timeline.h; `chart_js`: as in comparison.h.
std::string to_page(const SimulationReport& report, const timeline::Timeline& drawn, const timeline::PageTexts& texts,
                    const std::string& chart_js, const std::string& d3);

}  // namespace odori
