// What self-contained web pages are made of: a template, texts, data, and a JavaScript library put into the page.
#pragma once

#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace odori::html {

/// Text as it stands in HTML, inside an element or a quoted attribute.
std::string escape(std::string_view text);

/// Puts values in place of {{name}}, in one pass, so that nothing in a value is taken for a name. Each name in the page
/// needs a value.
std::string fill(std::string_view page, const std::map<std::string, std::string, std::less<>>& values);

/// JSON and JavaScript as they stand inside a <script> element: nothing in them ends it.
std::string json_in_script(const nlohmann::json& json);
std::string code_in_script(const std::string& code);

/// The text of a JavaScript library: of the file that the environment's `variable` names, else of `file`, where Debian
/// installs it; empty if neither is there. Throws Error if the variable names a file that can't be read.
std::string read_library(const char* variable, const char* file);

}  // namespace odori::html
