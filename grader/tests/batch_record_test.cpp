// SPDX-License-Identifier: Apache-2.0
// The records of a class: what is written is read again, and nothing else is.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "classroom/marking/record.h"
#include "errors/error.h"
#include "files/json.h"

namespace odori::grader {
namespace {

TaskRecord marked() {
  CheckRecord check{.seed = 18'446'744'073'709'551'615u,
                    .verdicts = {{1, Verdict::pass, {}, 20, 20},
                                 {2, Verdict::wrong, Finding{"unequal_shards", {{"seen", "\"<b>\"\n"}}}, 0, 10},
                                 {0, Verdict::not_checked, Finding{"speedup_waits", {}}, 0, 20}},
                    .speedup = {{{"speedup", "1.97"}}},
                    .timeline = "multi_gpu.html",
                    .left_out = {{"train_cifar_multi_gpu.cpp", 3, true, "  return 0;"}},
                    .answers = {{1, "  split(train);\n"}}};
  return {.student = "青木 \"A\"",
          .task = "multi_gpu",
          .content = std::string(64, 'a'),
          .state = RecordState::marked,
          .attempts = 2,
          .seconds = 3.25,
          .timed = true,
          .flags = {{"flag_several_files", {{"file", "a/b.cpp"}}}},
          .check = check,
          .submitted = 1'796'000'000,
          .files = {{"train_cifar_multi_gpu.cpp", "a/b (1).cpp", 7, {{"a/b.cpp", 0, false}}}}};
}

/// The record's text with one piece of it replaced.
std::string changed(const std::string& old, const std::string& fresh) {
  std::string text = to_json(marked());
  const auto at = text.find(old);
  EXPECT_NE(at, std::string::npos) << old << " in " << text;
  return text.replace(at, old.size(), fresh);
}

std::string refusal(const std::string& text) {
  try {
    record_from_json(text);
  } catch (const Error& error) {
    return error.what();
  }
  return "was taken";
}

TEST(Record, IsReadAsItWasWritten) {
  EXPECT_EQ(record_from_json(to_json(marked())), marked());
  TaskRecord ungraded = marked();
  ungraded.state = RecordState::ungraded;
  ungraded.reason = Finding{"child_died", {{"signal", "9"}}};
  ungraded.check.reset();
  EXPECT_EQ(record_from_json(to_json(ungraded)), ungraded);
}

TEST(Record, HoldsNoFolderOfThisMachine) {
  const auto kept = [](const std::string& value) { return fit_to_keep({"", {{"x", value}}}).values.at("x"); };
  EXPECT_EQ(kept("/tmp/odori_1/missing/run.sh"), "run.sh");
  EXPECT_EQ(kept("open '/root/kit/a.h', line 3: (/usr/include/b.h:7)"), "open 'a.h', line 3: (b.h:7)");
  EXPECT_EQ(kept("in \u2018/home/\u9752\u6728/x.h\u2019"), "in \u2018x.h\u2019");
  EXPECT_EQ(kept("out=/tmp/a/b/ end"), "out=b end");
  for (const char* same :
       {"main/loss", "1/2", "a / b", "// a comment", "</b>", "http://example.org/x", "exercises/01/x.cpp", "/"})
    EXPECT_EQ(kept(same), same);
  TaskRecord record = marked();
  record.check->verdicts[1].finding = Finding{"crash", {{"detail", "/tmp/x/program: killed"}}};
  EXPECT_EQ(record_from_json(to_json(record)).check->verdicts[1].finding->values.at("detail"), "program: killed");
}

TEST(Record, IsBoundedWhateverASubmissionSays) {
  const Finding kept = fit_to_keep({"", {{"x", std::string(1 << 20, 'x')}, {"y", std::string(3999, 'x') + "\u9752"}}});
  EXPECT_LT(kept.values.at("x").size(), 5000u);
  EXPECT_EQ(kept.values.at("y").substr(3999), " […]") << "cut between letters";
}

TEST(Record, BrokenBytesDoNotStopIt) {
  TaskRecord record = marked();
  record.check->left_out[0].text = "\xff\xfe";
  EXPECT_NE(to_json(record).find("\uFFFD"), std::string::npos);
}

TEST(Record, OfAnEarlierVersionHasNoAnswersTexts) {
  nlohmann::ordered_json json = json_of(marked());
  json["check"].erase("answers");
  EXPECT_TRUE(record_from_json(json_text(json)).check->answers.empty());
}

TEST(Record, AHalfOfItIsRefused) {
  const std::string text = to_json(marked());
  for (const std::size_t size : {std::size_t{0}, text.size() / 2, text.size() - 3})
    EXPECT_EQ(refusal(text.substr(0, size)), "The text isn't JSON, or not all of it is there.");
  EXPECT_EQ(refusal(std::string(100'000, '[')), "The text is nested too deeply.");
}

TEST(Record, WhatIsNotJustSoIsRefused) {
  EXPECT_EQ(refusal(changed("\"attempts\"", "\"attempt\"")), "A record lacks \"attempts\".");
  EXPECT_EQ(refusal(changed("\"timed\": true", "\"timed\": 1")), "A record: \"timed\" should be true or false.");
  EXPECT_EQ(refusal(changed("\"seconds\": 3.25", "\"seconds\": -1")),
            "A record: \"seconds\" should be a number from 0.");
  EXPECT_EQ(refusal(changed("\"attempts\": 2", "\"attempts\": 2.5")),
            "A record: \"attempts\" should be a whole number from 0.");
  EXPECT_EQ(refusal(changed("\"state\": \"marked\"", "\"state\": \"done\"")), "There is no state \"done\".");
  EXPECT_EQ(refusal(changed("\"state\": \"marked\"", "\"state\": \"absent\"")),
            "A record has verdicts if it is marked, and only then.");
  EXPECT_EQ(refusal(changed("\"WRONG\"", "\"FINE\"")), "There is no verdict \"FINE\".");
  EXPECT_EQ(refusal(changed("\"points\": 20", "\"points\": 21")), "Blank 1 has 21 points of 20.");
  EXPECT_EQ(refusal(changed("\"blank\": 2", "\"blank\": 1")), "There are two verdicts on blank 1.");
}

}  // namespace
}  // namespace odori::grader
