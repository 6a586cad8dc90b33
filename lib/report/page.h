// SPDX-License-Identifier: Apache-2.0
// A comparison as one self-contained web page, for people who read English or Japanese.
#pragma once

#include <string>

#include "report/comparison.h"

namespace odori {

/// The page: figures, a speedup chart, the table, accuracy by epoch, the commands. `chart_js` is Chart.js's own text,
/// which goes into the page; with none the page says so and holds everything but the charts.
std::string to_page(const Comparison& comparison, const std::string& chart_js);

/// The text of Chart.js: of the file that the variable ODORI_CHART_JS names, else of Debian's libjs-chart.js; empty
/// if neither is there. Throws Error if the variable names a file that can't be read.
std::string read_chart_js();

}  // namespace odori
