// SPDX-License-Identifier: Apache-2.0
#include "classroom/reports/page.h"

#include <nlohmann/json.hpp>

#include "report/html.h"
#include "reports/pages.h"  // made by CMake

namespace odori::grader {
namespace {

using Json = nlohmann::json;

/// A paragraph's pieces: what stands between two backquotes is code.
Json pieces_of(const std::string& paragraph) {
  Json pieces = Json::array();
  std::size_t at = 0;
  for (bool code = false; at <= paragraph.size(); code = !code) {
    const std::size_t end = std::min(paragraph.find('`', at), paragraph.size());
    pieces.push_back({{"is_code", code}, {"text", paragraph.substr(at, end - at)}});
    at = end + 1;
  }
  // The last one of an odd number isn't closed.
  if (pieces.size() % 2 == 0) pieces = Json::array({{{"is_code", false}, {"text", paragraph}}});
  return pieces;
}

Json blocks_of(const std::string& text) {
  constexpr int unbroken = 1'000'000;
  constexpr std::string_view indent = "    ";
  Json blocks = Json::array();
  for (const std::string& line : wrap(text, unbroken, 0)) {
    if (!line.starts_with(indent)) {
      blocks.push_back({{"is_code", false}, {"pieces", pieces_of(line)}});
      continue;
    }
    const std::string code = line.substr(indent.size());
    if (!blocks.empty() && blocks.back().at("is_code").get<bool>())
      blocks.back()["text"] = blocks.back()["text"].get<std::string>() + '\n' + code;
    else
      blocks.push_back({{"is_code", true}, {"text", code}, {"pieces", Json::array()}});
  }
  return blocks;
}

}  // namespace

std::string render(const char* page, const Json& data) {
  return html::render(page, data, {{"message", pages::message_mustache}});
}

Json both(const Course& course, const Finding& finding) {
  return html::both(course.english.text(finding), course.japanese.text(finding));
}

Json both(const Course& course, const std::string& key) { return both(course, Finding{key, {}}); }

Json message(const Course& course, const Finding& finding) {
  return {{"blocks_en", blocks_of(course.english.text(finding))},
          {"blocks_ja", blocks_of(course.japanese.text(finding))}};
}

Json first_paragraph(Json message) {
  for (const char* blocks : {"blocks_en", "blocks_ja"})
    if (message[blocks].size() > 1) message[blocks].erase(message[blocks].begin() + 1, message[blocks].end());
  return message;
}

}  // namespace odori::grader
