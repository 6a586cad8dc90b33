// SPDX-License-Identifier: Apache-2.0
// Templates of pages (Mustache), filled with data, and messages as data for them.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "blanks/finding.h"
#include "classroom/reports/marks.h"

namespace odori::grader {

/// Fills the template `page` (its text). The partial {{> message}} shows an object that message() returns.
std::string render(const char* page, const nlohmann::json& data);

/// A short text in both languages: {"en": "...", "ja": "..."}.
nlohmann::json both(const Course& course, const Finding& finding);
nlohmann::json both(const Course& course, const std::string& key);

/// A message in both languages, as paragraphs (with `code` in them) and blocks of code.
nlohmann::json message(const Course& course, const Finding& finding);
/// Its first paragraph alone.
nlohmann::json first_paragraph(nlohmann::json message);

}  // namespace odori::grader
