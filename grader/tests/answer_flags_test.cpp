// SPDX-License-Identifier: Apache-2.0
// Why an instructor should look at an answer.
#include "checks/answer_flags.h"

#include <gtest/gtest.h>

namespace odori::grader {
namespace {

std::vector<Finding> flags_of_blank_6(BlankIdentifiers words, Verdict verdict) {
  return flags_for({{6, std::move(words)}}, {{.blank = 6, .verdict = verdict}});
}

TEST(Flags, NameWhatIsForbidden) {
  const auto word_of = [](const Finding& forbidden) {
    const auto flags = flags_of_blank_6({forbidden, {"fopen"}}, Verdict::wrong);
    EXPECT_EQ(flags.size(), 1u) << "its other words say no more";
    EXPECT_EQ(flags.at(0).key, "flag_forbidden");
    EXPECT_EQ(flags.at(0).values.at("blank"), "6");
    return flags.at(0).values.at("word");
  };
  EXPECT_EQ(word_of({"forbidden_word", {{"word", "dlsym"}}}), "dlsym");
  EXPECT_EQ(word_of({"forbidden_sign", {{"sign", "\\"}}}), "\\");
  EXPECT_EQ(word_of({"forbidden_bracket", {{"sign", "}"}}}), "}");
  EXPECT_EQ(word_of({"forbidden_directive", {}}), "#");
}

TEST(Flags, DoNotNameASlip) {
  EXPECT_TRUE(
      flags_of_blank_6({Finding{"statement_missing", {{"word", "if"}, {"line", "3"}}}, {}}, Verdict::compile).empty())
      << "a slip of the pen";
}

TEST(Flags, NameUnusualWordsOfWhatIsBuilt) {
  const BlankIdentifiers words{{}, {"reinterpret_cast", "uintptr_t"}};
  for (const Verdict verdict : {Verdict::pass, Verdict::wrong, Verdict::crash, Verdict::hang}) {
    const auto flags = flags_of_blank_6(words, verdict);
    ASSERT_EQ(flags.size(), 1u);
    EXPECT_EQ(flags[0], (Finding{"flag_unusual", {{"blank", "6"}, {"words", "`reinterpret_cast`, `uintptr_t`"}}}));
  }
  EXPECT_TRUE(flags_of_blank_6(words, Verdict::compile).empty()) << "a slip of the pen";
  EXPECT_TRUE(flags_of_blank_6({}, Verdict::pass).empty());
}

TEST(Flags, NameNoMoreWordsThanSomebodyReads) {
  const auto flags = flags_of_blank_6({{}, std::vector<std::string>(1000, "x")}, Verdict::pass);
  EXPECT_EQ(flags.at(0).values.at("words"), "`x`, `x`, `x`, `x`, `x`");
}

TEST(Flags, NameCommandsOutsideTheBlanks) {
  const std::vector<Change> changes{{3, false, "#include <cstdlib>"},
                                    {4, false, "// system() is not called here"},
                                    {9, true, "  trainer.run();"},
                                    {9, false, "  system(\"id\");"},
                                    {12, false, "  std::ofstream out(\"x\");"}};
  EXPECT_EQ(flag_for(changes, Language::cpp),
            (Finding{"flag_outside", {{"line", "9"}, {"code", "system(\"id\");"}, {"n", "2"}}}));
  EXPECT_FALSE(flag_for({{3, false, "int system_id = 0;"}, {4, true, "system(\"id\");"}}, Language::cpp));
  EXPECT_EQ(flag_for({{5, false, "# a comment"}, {6, false, "#PBS -q mine"}, {7, false, "curl x"}}, Language::shell),
            (Finding{"flag_outside", {{"line", "7"}, {"code", "curl x"}, {"n", "1"}}}));
}

TEST(Flags, TellOnceThatAnswersCannotBeFound) {
  std::vector<BlankVerdict> verdicts;
  for (int blank = 1; blank <= 7; ++blank)
    verdicts.push_back({.blank = blank, .verdict = Verdict::compile, .finding = Finding{"no_marks", {}}});
  EXPECT_EQ(flags_for({}, verdicts), (std::vector<Finding>{{"flag_hidden", {{"n", "7"}}}}));
  for (BlankVerdict& verdict : verdicts) verdict.finding = Finding{"file_missing", {}};
  EXPECT_TRUE(flags_for({}, verdicts).empty()) << "what isn't handed in isn't hidden";
}

}  // namespace
}  // namespace odori::grader
