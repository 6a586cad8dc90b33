// SPDX-License-Identifier: Apache-2.0
// JSON as text. The parser and the serializer are compiled once, in json.cpp: each source that calls the library's own
// json::parse() or json::dump() compiles their templates again, which takes about a second.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace odori {

/// Parses JSON. Throws nlohmann::json::parse_error, which names the byte of the error.
nlohmann::json parse_json(std::string_view text);

/// The same, but keeps the order of the members of objects instead of sorting them.
nlohmann::ordered_json parse_ordered_json(std::string_view text);

/// Treatment of bytes that are not UTF-8 in json_text(): throw nlohmann::json::type_error, or write U+FFFD.
enum class NotUtf8 { throws, replaced };

/// Converts to JSON text. `indent`: columns per level; -1: all on one line.
std::string json_text(const nlohmann::json& json, int indent = -1, NotUtf8 not_utf8 = NotUtf8::throws);
std::string json_text(const nlohmann::ordered_json& json, int indent = -1, NotUtf8 not_utf8 = NotUtf8::throws);

}  // namespace odori
