// SPDX-License-Identifier: Apache-2.0
#include "blanks/json_object.h"

#include <nlohmann/json.hpp>

#include "errors/error.h"

namespace odori::grader {

nlohmann::ordered_json parsed_json(std::string_view text) {
  using Json = nlohmann::ordered_json;
  // A depth that no record has is refused before it costs the parser's stack.
  constexpr int most = 16;
  const auto shallow = [](int depth, Json::parse_event_t, Json&) {
    require(depth <= most, "The text is nested too deeply.");
    return true;
  };
  Json json = Json::parse(text, shallow, false);
  require(!json.is_discarded(), "The text isn't JSON, or not all of it is there.");
  return json;
}

JsonObject::JsonObject(const Json& json, std::string name) : json_(json), name_(std::move(name)) {
  require(json_.is_object(), "{} should be an object, and isn't.", name_);
}

const JsonObject::Json& JsonObject::field(const char* key) const {
  const auto found = json_.find(key);
  require(found != json_.end(), "{} lacks \"{}\".", name_, key);
  return *found;
}

bool JsonObject::has(const char* key) const { return json_.contains(key); }

std::string JsonObject::text(const char* key) const {
  require(field(key).is_string(), "{}: \"{}\" should be a text.", name_, key);
  return field(key);
}

std::string JsonObject::text_if_any(const char* key) const { return has(key) ? text(key) : ""; }

bool JsonObject::boolean(const char* key) const {
  require(field(key).is_boolean(), "{}: \"{}\" should be true or false.", name_, key);
  return field(key);
}

double JsonObject::number(const char* key) const {
  require(field(key).is_number() && field(key) >= 0, "{}: \"{}\" should be a number from 0.", name_, key);
  return field(key);
}

std::uint64_t JsonObject::whole_number(const char* key) const {
  require(field(key).is_number_unsigned(), "{}: \"{}\" should be a whole number from 0.", name_, key);
  return field(key);
}

int JsonObject::small_number(const char* key) const {
  require(whole_number(key) <= 1'000'000, "{}: \"{}\" is too large.", name_, key);
  return static_cast<int>(whole_number(key));
}

const JsonObject::Json& JsonObject::list(const char* key) const {
  require(field(key).is_array(), "{}: \"{}\" should be a list.", name_, key);
  return field(key);
}

JsonObject::Texts JsonObject::texts(const char* key) const {
  Texts texts;
  require(field(key).is_object(), "{}: \"{}\" should be an object.", name_, key);
  for (const auto& [name, value] : field(key).items()) {
    require(value.is_string(), "{}: \"{}\" of \"{}\" should be a text.", name_, name, key);
    texts[name] = value;
  }
  return texts;
}

std::optional<JsonObject::Texts> JsonObject::texts_if_any(const char* key) const {
  if (!has(key) || field(key).is_null()) return {};
  return texts(key);
}

}  // namespace odori::grader
