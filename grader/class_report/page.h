// Templates of pages (Mustache), filled with data, and messages as data for them.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "class_report/course.h"
#include "exercise/finding.h"

namespace odori::grader {

/// The template with the data in it: {{name}} is escaped for HTML, inside an element or a quoted attribute. {{{name}}}
/// is put in as it is, and is for parts that this program itself makes: styles, scripts, JSON that html::json_in_script
/// made.
/// {{> both}} and {{> message}} show what the functions below give. Throws Error if the template can't be parsed.
std::string render(const char* page, const nlohmann::json& data);

/// A short text in both languages: {"en": "...", "ja": "..."}.
nlohmann::json both(const Course& course, const Finding& finding);
nlohmann::json both(const Course& course, const std::string& key);

/// A message in both languages, as paragraphs (with `code` in them) and blocks of code.
nlohmann::json message(const Course& course, const Finding& finding);

}  // namespace odori::grader
