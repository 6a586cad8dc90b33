// SPDX-License-Identifier: Apache-2.0
#include "files/json.h"

#include <nlohmann/json.hpp>

namespace odori {
namespace {

template <class Json>
std::string text_of(const Json& json, int indent, NotUtf8 not_utf8) {
  using nlohmann::detail::error_handler_t;
  return json.dump(indent, ' ', false,
                   not_utf8 == NotUtf8::replaced ? error_handler_t::replace : error_handler_t::strict);
}

}  // namespace

nlohmann::json parse_json(std::string_view text) { return nlohmann::json::parse(text); }

nlohmann::ordered_json parse_ordered_json(std::string_view text) { return nlohmann::ordered_json::parse(text); }

std::string json_text(const nlohmann::json& json, int indent, NotUtf8 not_utf8) {
  return text_of(json, indent, not_utf8);
}

std::string json_text(const nlohmann::ordered_json& json, int indent, NotUtf8 not_utf8) {
  return text_of(json, indent, not_utf8);
}

}  // namespace odori
