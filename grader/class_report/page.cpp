#include "class_report/page.h"

#include <mustache.hpp>
#include <nlohmann/json.hpp>

#include "class_report/templates.h"  // made by CMake
#include "core/error.h"

namespace odori::grader {
namespace {

namespace mustache = kainjow::mustache;
using Json = nlohmann::json;

mustache::data data_of(const Json& json) {
  if (json.is_object()) {
    mustache::data data{mustache::data::type::object};
    for (const auto& [name, value] : json.items()) data[name] = data_of(value);
    return data;
  }
  if (json.is_array()) {
    mustache::list list;
    list.reserve(json.size());
    for (const Json& entry : json) list.push_back(data_of(entry));
    return list;
  }
  if (json.is_string()) return json.get_ref<const std::string&>();
  if (json.is_number()) return json.dump();
  return mustache::data(json.is_boolean() && json.get<bool>());
}

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
  mustache::mustache view{page};
  require(view.is_valid(), "A template of the grader's reports can't be parsed: {}", view.error_message());
  mustache::data all = data_of(data);
  all["style"] = mustache::data(templates::style_css);
  all["both"] = mustache::data{mustache::partial{[] { return std::string(templates::both); }}};
  all["message"] = mustache::data{mustache::partial{[] { return std::string(templates::message); }}};
  return view.render(all);
}

Json both(const Course& course, const Finding& finding) {
  return {{"en", course.english.text(finding)}, {"ja", course.japanese.text(finding)}};
}

Json both(const Course& course, const std::string& key) { return both(course, Finding{key, {}}); }

Json message(const Course& course, const Finding& finding) {
  return {{"blocks_en", blocks_of(course.english.text(finding))},
          {"blocks_ja", blocks_of(course.japanese.text(finding))}};
}

}  // namespace odori::grader
