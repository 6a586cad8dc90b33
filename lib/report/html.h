// SPDX-License-Identifier: Apache-2.0
// Renders self-contained web pages from templates, data and embedded JavaScript libraries.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace odori::html {

/// Renders a Mustache template. {{name}} is escaped for HTML elements and quoted attributes; values are not parsed as
/// templates. {{{name}}} is not escaped: use it only for text that this program generates, such as scripts and
/// json_in_script(). An empty text counts as false. All pages can use the partials {{> head}}, {{> mark}}, {{> both}}
/// and {{> chart_missing}} (lib/report), {{{style}}} and {{{page_js}}}; `parts`: further partials. Throws Error if the
/// template cannot be parsed.
std::string render(const std::string& page, const nlohmann::json& data,
                   const std::map<std::string, std::string>& parts = {});

/// A short text in both languages, for {{> both}}.
nlohmann::json both(const std::string& english, const std::string& japanese);

/// JSON and JavaScript for a <script> element, escaped so that nothing in them closes it.
std::string json_in_script(const nlohmann::json& json);
std::string code_in_script(const std::string& code);

/// Reads a JavaScript library from the file that the environment variable `variable` names, else from `file`. Returns
/// an empty string if neither exists. Throws Error if the variable names a file that cannot be read.
std::string read_library(const char* variable, const char* file);

}  // namespace odori::html

namespace odori {

/// Reads Chart.js, as read_library() does, with ODORI_CHART_JS and the file of Debian's libjs-chart.js.
std::string read_chart_js();

}  // namespace odori
