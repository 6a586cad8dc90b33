// SPDX-License-Identifier: Apache-2.0
// What self-contained web pages are made of: a template, data, and a JavaScript library put into the page.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace odori::html {

/// The template (Mustache) with the data in it. {{name}} is escaped for HTML, inside an element or a quoted attribute,
/// and nothing in a value is taken for a name. {{{name}}} is put in as it is, and is for parts that this program itself
/// makes: scripts, JSON that json_in_script made. An empty text counts as false. {{> head}}, {{> mark}}, {{> both}} and
/// {{> chart_missing}} are what all pages have (lib/report), and so are {{{style}}} and {{{page_js}}}; `parts` are a
/// page's own. Throws Error if the template can't be parsed.
std::string render(const std::string& page, const nlohmann::json& data,
                   const std::map<std::string, std::string>& parts = {});

/// A short text in both languages, for {{> both}}.
nlohmann::json both(const std::string& english, const std::string& japanese);

/// JSON and JavaScript as they are inside a <script> element: nothing in them ends it.
std::string json_in_script(const nlohmann::json& json);
std::string code_in_script(const std::string& code);

/// The text of a JavaScript library: of the file that the environment's `variable` names, else of `file`, where Debian
/// installs it; empty if neither is there. Throws Error if the variable names a file that can't be read.
std::string read_library(const char* variable, const char* file);

}  // namespace odori::html

namespace odori {

/// The text of Chart.js: of the file that the variable ODORI_CHART_JS names, else of Debian's libjs-chart.js; empty
/// if neither is there. Throws Error if the variable names a file that can't be read.
std::string read_chart_js();

}  // namespace odori
