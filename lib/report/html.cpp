// SPDX-License-Identifier: Apache-2.0
#include "report/html.h"

#include <cstdlib>
#include <mustache.hpp>
#include <nlohmann/json.hpp>

#include "errors/error.h"
#include "errors/text.h"
#include "files/file.h"
#include "files/json.h"
#include "report/pages.h"  // made by CMake

namespace odori::html {
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
  if (json.is_string() && !json.get_ref<const std::string&>().empty()) return json.get_ref<const std::string&>();
  if (json.is_number()) return json_text(json);
  return mustache::data(json.is_boolean() && json.get<bool>());
}

}  // namespace

std::string render(const std::string& page, const Json& data, const std::map<std::string, std::string>& parts) {
  mustache::mustache view{page};
  require(view.is_valid(), "A page's template can't be parsed: {}", view.error_message());
  mustache::data all = data_of(data);
  all["style"] = pages::style_css;
  all["page_js"] = pages::page_js;
  const auto add_part = [&](const std::string& name, const std::string& text) {
    all[name] = mustache::data{mustache::partial{[text] { return text; }}};
  };
  add_part("head", pages::head_mustache);
  add_part("mark", pages::mark_mustache);
  add_part("both", pages::both_mustache);
  add_part("chart_missing", pages::chart_missing_mustache);
  for (const auto& [name, text] : parts) add_part(name, text);
  return view.render(all);
}

Json both(const std::string& english, const std::string& japanese) { return {{"en", english}, {"ja", japanese}}; }

std::string json_in_script(const Json& json) { return replaced(json_text(json), "<", "\\u003c"); }

std::string code_in_script(const std::string& code) { return replaced(code, "</script", "<\\/script"); }

std::string read_library(const char* variable, const char* file) {
  const char* named = std::getenv(variable);
  std::string text = read_file(named ? named : file);
  require(!named || !text.empty(), "{} names {}, which can't be read. Name the library's JavaScript file.", variable,
          named ? named : "");
  return text;
}

}  // namespace odori::html
