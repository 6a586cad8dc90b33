// SPDX-License-Identifier: Apache-2.0
// JSON as text: order of members, indents, and what is not JSON or not UTF-8.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "files/json.h"

namespace odori {
namespace {

TEST(Json, MembersAreOrderedAsAskedFor) {
  const std::string text = R"({"b":[1,2.5,null],"a":"é"})";
  EXPECT_EQ(json_text(parse_json(text)), R"({"a":"é","b":[1,2.5,null]})");
  EXPECT_EQ(json_text(parse_ordered_json(text)), text);
  EXPECT_EQ(json_text(parse_ordered_json(R"({"b":{"a":1}})"), 2), "{\n  \"b\": {\n    \"a\": 1\n  }\n}");
}

TEST(Json, TextThatIsNoneIsRefused) {
  for (const char* text : {"", "{", "[1,]", "{} {}"}) {
    EXPECT_THROW(parse_json(text), nlohmann::json::parse_error) << text;
    EXPECT_THROW(parse_ordered_json(text), nlohmann::ordered_json::parse_error) << text;
  }
}

TEST(Json, BytesThatAreNotUtf8ThrowOrAreReplaced) {
  const nlohmann::json json = "a\xff";
  EXPECT_THROW(json_text(json), nlohmann::json::type_error);
  EXPECT_EQ(json_text(json, -1, NotUtf8::replaced), "\"a\uFFFD\"");
  EXPECT_EQ(json_text(nlohmann::ordered_json(json), -1, NotUtf8::replaced), "\"a\uFFFD\"");
}

}  // namespace
}  // namespace odori
