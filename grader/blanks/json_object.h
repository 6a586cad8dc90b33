// SPDX-License-Identifier: Apache-2.0
// JSON that was written by the grader, and may have been damaged or forged since: read strictly, field by field.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace odori::grader {

/// Throws Error for a text that isn't JSON as a whole, or that is nested deeper than any of the grader's.
nlohmann::ordered_json parsed_json(std::string_view text);

/// An object's fields. For whatever isn't as it should be it throws Error, with a sentence that names the field.
class JsonObject {
 public:
  using Json = nlohmann::ordered_json;
  using Texts = std::map<std::string, std::string>;

  /// `name`: what it is, in sentences: "A record". The JSON must outlive this object.
  JsonObject(const Json& json, std::string name);

  const Json& field(const char* key) const;
  bool has(const char* key) const;
  std::string text(const char* key) const;
  std::string text_if_any(const char* key) const;
  bool boolean(const char* key) const;
  /// From 0, and finite, as JSON has no other.
  double number(const char* key) const;
  std::uint64_t whole_number(const char* key) const;
  /// At most a million.
  int small_number(const char* key) const;
  const Json& list(const char* key) const;
  Texts texts(const char* key) const;
  /// Nothing if it is null or not there.
  std::optional<Texts> texts_if_any(const char* key) const;

 private:
  const Json& json_;
  std::string name_;
};

}  // namespace odori::grader
