// SPDX-License-Identifier: Apache-2.0
// JSON as text. The parser and the serializer are compiled once, in json.cpp: each source that calls the library's own
// json::parse() or json::dump() compiles their templates again, which takes about a second.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace odori {

/// The value of a JSON text. Throws nlohmann::json::parse_error, which says at which byte it is wrong.
nlohmann::json parse_json(std::string_view text);

/// The same with the members of objects in the order of the text, not of the alphabet.
nlohmann::ordered_json parse_ordered_json(std::string_view text);

/// What json_text() does with bytes that are not UTF-8: throws nlohmann::json::type_error, or writes U+FFFD for them.
enum class NotUtf8 { throws, replaced };

/// A value as JSON text, members `indent` columns further in than their object; on one line without an indent.
std::string json_text(const nlohmann::json& json, int indent = -1, NotUtf8 not_utf8 = NotUtf8::throws);
std::string json_text(const nlohmann::ordered_json& json, int indent = -1, NotUtf8 not_utf8 = NotUtf8::throws);

}  // namespace odori
