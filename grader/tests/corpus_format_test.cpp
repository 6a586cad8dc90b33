// SPDX-License-Identifier: Apache-2.0
// The corpus is large enough, and each known misconception is recognised in two answers at least.
#include <gtest/gtest.h>

#include <set>

#include "blanks/task.h"
#include "classroom/self_test/answer_files.h"
#include "messages/messages.h"

namespace odori::grader {
namespace {

const std::vector<AnswerEntry>& corpus() {
  static const std::vector<AnswerEntry> entries = read_corpus(ODORI_FOLDER);
  return entries;
}

TEST(Corpus, HasARightAndTwoWrongAnswersToEachBlank) {
  std::map<std::pair<std::string, int>, int> right, wrong;
  for (const AnswerEntry& entry : corpus())
    for (const auto& [blank, expected] : entry.expected)
      if (entry.blanks.contains(blank)) ++(expected.passes() ? right : wrong)[{entry.task, blank}];
  for (const Task& task : all_tasks())
    for (int blank = 1; blank <= task.n_blanks(); ++blank) {
      EXPECT_GE((right[{task.name, blank}]), 1) << task.name << ' ' << blank;
      EXPECT_GE((wrong[{task.name, blank}]), 2) << task.name << ' ' << blank;
    }
}

TEST(Corpus, ShowsEachMisconceptionTwiceAndAtLeastTwentyFiveOfThem) {
  std::map<std::string, int> answers;
  for (const AnswerEntry& entry : corpus()) {
    std::set<std::string> keys;
    for (const auto& [blank, expected] : entry.expected)
      if (expected.verdicts.front() == Verdict::wrong) keys.insert(expected.key);
    for (const std::string& key : keys) ++answers[key];
  }
  answers.erase("");  // a mistake that nobody makes twice has no name
  EXPECT_GE(answers.size(), 25u);
  for (const auto& [key, n] : answers) EXPECT_GE(n, 2) << key;
}

TEST(Corpus, EachKeyHasItsMessageInBothLanguages) {
  const Messages english(ODORI_FOLDER, "en"), japanese(ODORI_FOLDER, "ja");
  std::set<std::string> keys;
  for (const AnswerEntry& entry : corpus())
    for (const auto& [blank, expected] : entry.expected)
      if (!expected.key.empty()) keys.insert(expected.key);
  for (const std::string& key : keys) {
    EXPECT_NE(english.text(key), key);
    EXPECT_NE(japanese.text(key), english.text(key)) << key;
  }
}

}  // namespace
}  // namespace odori::grader
