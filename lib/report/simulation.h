// SPDX-License-Identifier: Apache-2.0
// A function on simulated ranks: what ./odori simulate prints, and draws as a page.
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
  /// A quantity, and what a formula says of it; empty: none does.
  struct Row {
    Text name;
    std::string simulated, formula;
  };
  struct Curve {
    Text name;
    std::vector<std::optional<double>> values;  // one for each x
    bool simulated = false;                     // drawn as marks, else as a line
  };
  Text title, place, conclusion;
  std::vector<Row> rows;
  std::vector<int> ranks;  // the curves' x
  Text unit;               // of their values
  std::vector<Curve> curves;
};

void to_json(nlohmann::json& json, const SimulationReport& report);
/// What to_json() wrote. Throws nlohmann::json::exception.
void from_json(const nlohmann::json& json, SimulationReport& report);

/// For a terminal. `language`: "en" or "ja".
std::string to_text(const SimulationReport& report, const std::string& language);

/// One self-contained page in both languages: the rows, the curves as a chart and a table, and the timeline.
/// `texts` and `d3`: as for a timeline's page; `chart_js`: as for a comparison's.
std::string to_page(const SimulationReport& report, const timeline::Timeline& drawn, const timeline::PageTexts& texts,
                    const std::string& chart_js, const std::string& d3);

}  // namespace odori
