// SPDX-License-Identifier: Apache-2.0
// What is taken out of a learner's file, and what is said about one that nothing can be taken out of.
#include "blanks/submission.h"

#include <gtest/gtest.h>

#include <fstream>

#include "errors/text.h"

namespace odori::grader {
namespace {

namespace fs = std::filesystem;

const std::string exercise =
    "// Fill in the blanks.\n"
    "#include \"odori.h\"\n"
    "int main() { parse({.name = \"multi_gpu\"});\n"
    "  // BLANK 1: Which one?\n"
    "  //          (its number)\n"
    "  const int a = PUT_YOUR_CODE;\n"
    "  // END BLANK\n"
    "  use(a);\n"
    "  // BLANK 2: And this?\n"
    "  const int b = PUT_YOUR_CODE;\n"
    "  // END BLANK\n"
    "  return b;\n"
    "}\n";

std::string filled() {
  return replaced(replaced(exercise, "a = PUT_YOUR_CODE", "a = 1"), "b = PUT_YOUR_CODE", "b = 2");
}

Submission read(const std::string& text, const std::string& of = exercise) {
  const fs::path path = fs::path(testing::TempDir()) / "submission_test.cpp";
  std::ofstream(path, std::ios::binary) << text;
  return read_submission(path, of);
}

using Texts = std::vector<std::string>;

void expect_filled(const Submission& submission) {
  EXPECT_TRUE(submission.unreadable.empty()) << submission.unreadable.begin()->second.key;
  EXPECT_TRUE(submission.changes.empty()) << submission.changes.front().text;
  ASSERT_EQ(submission.blanks.size(), 2u);
  EXPECT_EQ(trim(submission.blanks.at(1).text.at(0)), "const int a = 1;");
  EXPECT_EQ(trim(submission.blanks.at(2).text.at(0)), "const int b = 2;");
  EXPECT_EQ(submission.blanks.at(1).text_line, 6);
  EXPECT_EQ(submission.blanks.at(2).last_line, 11);
}

/// Both blanks are lost for this reason.
void expect_lost(const std::string& text, const std::string& key) {
  const Submission submission = read(text);
  EXPECT_TRUE(submission.blanks.empty());
  ASSERT_EQ(submission.unreadable.size(), 2u);
  for (const auto& [blank, finding] : submission.unreadable) EXPECT_EQ(finding.key, key) << blank;
}

/// Blank 1 is lost for this reason, and blank 2 is not.
Finding lost_first(const std::string& text) {
  const Submission submission = read(text);
  EXPECT_EQ(submission.blanks.count(2), 1u);
  EXPECT_EQ(submission.unreadable.count(2), 0u);
  return submission.unreadable.count(1) ? submission.unreadable.at(1) : Finding{"taken"};
}

TEST(Submission, TakesTheTextsOfTheBlanks) { expect_filled(read(filled())); }

TEST(Submission, LineEndsTabsAndByteOrderMarkMakeNoDifference) {
  expect_filled(read(replaced(filled(), "\n", "\r\n")));
  expect_filled(read(replaced(filled(), "  ", "\t")));
  expect_filled(read("\xEF\xBB\xBF" + filled()));
  std::string cut_off = filled();
  cut_off.pop_back();
  expect_filled(read(cut_off));
}

TEST(Submission, CommentsEmptyLinesAndSpacingOutsideMakeNoDifference) {
  const Submission submission =
      read(replaced(filled(), "  use(a);", "\n  // mine: what does it do?\n    use( a ) ;\n"));
  EXPECT_TRUE(submission.changes.empty());
  EXPECT_EQ(submission.blanks.size(), 2u);
}

TEST(Submission, ListsWhatElseWasChanged) {
  const Submission submission = read(replaced(filled(), "  use(a);\n", "  use(a + 1);\n  int mine = 0;\n"));
  ASSERT_EQ(submission.changes.size(), 3u);
  EXPECT_EQ(submission.changes[0].line, 8);
  EXPECT_EQ(submission.changes[0].text, "  use(a + 1);");
  EXPECT_FALSE(submission.changes[0].removed);
  EXPECT_EQ(submission.changes[1].line, 9);
  EXPECT_EQ(submission.changes[1].text, "  int mine = 0;");
  EXPECT_TRUE(submission.changes[2].removed);
  EXPECT_EQ(submission.changes[2].text, "  use(a);");
  EXPECT_EQ(submission.changes[2].line, 13);
}

TEST(Submission, AFileThatIsNoExerciseIsToldAsAWhole) {
  expect_lost("", "file_empty");
  expect_lost(" \r\n\t\n", "file_empty");
  expect_lost(filled() + '\0', "file_binary");
  expect_lost("\xFF\xFEi\0n\0t\0", "file_binary");
  expect_lost(std::string(200'000, ' ') + filled(), "file_huge");
  expect_lost(replaced(replaced(filled(), "BLANK", "blank"), "END", "end"), "no_marks");
  expect_lost(replaced(filled(), "multi_gpu", "multi_node"), "file_of_another_task");
  EXPECT_EQ(read(replaced(filled(), "multi_gpu", "mine")).changes.size(), 2u) << "that is no task's name";
  fs::remove(fs::path(testing::TempDir()) / "submission_test.cpp");
  const Submission missing = read_submission(fs::path(testing::TempDir()) / "submission_test.cpp", exercise);
  EXPECT_EQ(missing.unreadable.at(1).key, "file_missing");
  EXPECT_EQ(missing.unreadable.at(2).key, "file_missing");
}

TEST(Submission, AFileThatCannotBeReadIsTheMachinesFault) {
  EXPECT_THROW(read_submission(testing::TempDir(), exercise), EnvironmentFault);
}

TEST(Submission, ABrokenMarkCostsItsOwnBlankAlone) {
  const std::string begin = "  // BLANK 1: Which one?\n", end = "  // END BLANK\n  use(a);\n";
  EXPECT_EQ(lost_first(replaced(filled(), begin, "")).key, "blank_missing");
  EXPECT_EQ(lost_first(replaced(filled(), begin, "  // BLANK one: Which one?\n")).key, "blank_missing");
  EXPECT_EQ(lost_first(replaced(filled(), begin, "  // BLANK 7: Which one?\n")),
            (Finding{"blank_renumbered", {{"blank", "1"}, {"line", "4"}, {"other", "7"}}}));
  EXPECT_EQ(lost_first(replaced(filled(), begin, begin + begin)),
            (Finding{"blank_twice", {{"blank", "1"}, {"line", "4"}, {"again", "5"}}}));
  EXPECT_EQ(lost_first(replaced(filled(), end, "  use(a);\n")),
            (Finding{"blank_nested", {{"blank", "1"}, {"line", "4"}, {"inner", "2"}, {"inner_line", "8"}}}));
  EXPECT_EQ(lost_first(replaced(filled(), end, "  // END BLANK\n" + end)),
            (Finding{"end_twice", {{"blank", "1"}, {"line", "7"}, {"again", "8"}}}));
}

TEST(Submission, ALostFirstLineIsItsOwnBlanksMatterAlone) {
  std::string text = filled();
  const auto begin = text.find("  // BLANK 2"), line = text.find('\n', begin) + 1;
  const Submission submission = read(text.erase(begin, line - begin));
  EXPECT_EQ(submission.unreadable, (std::map<int, Finding>{{2, Finding{"blank_missing", {{"blank", "2"}}}}}));
}

TEST(Submission, TheLastBlankMayBeTheOneThatIsNotClosed) {
  const Submission submission = read(replaced(filled(), "b = 2;\n  // END BLANK\n", "b = 2;\n"));
  EXPECT_EQ(submission.blanks.count(1), 1u);
  EXPECT_EQ(submission.unreadable.at(2), (Finding{"blank_not_closed", {{"blank", "2"}, {"line", "9"}}}));
}

TEST(Submission, OlderEncodingsOfJapanAreRead) {
  const auto blank_1 = [](const std::string& line) {
    return read(replaced(filled(), "  const int a = 1;\n", line + "\n")).blanks.at(1).text;
  };
  // The second byte of Shift-JIS's \u8868 is a backslash.
  EXPECT_EQ(blank_1("const int a = 1;  // \x95\x5C\x8E\xA6\x95\x5C"), Texts{"const int a = 1;  // \u8868\u793A\u8868"});
  EXPECT_EQ(blank_1("const int a = 1;  // \xC9\xBD\xBC\xA8"), Texts{"const int a = 1;  // \u8868\u793A"});
  EXPECT_EQ(blank_1("const int a = 1;  // \u8868\u793A"), Texts{"const int a = 1;  // \u8868\u793A"});
  EXPECT_EQ(blank_1("const int a = 1;  // \xFF\xFE"), Texts{"const int a = 1;  // \uFFFD\uFFFD"});
  EXPECT_EQ(blank_1("// \x83\x5C\n// \xA5\xBD\nconst int a = 1;"), Texts{"const int a = 1;"}) << "pasted together";
}

TEST(Submission, ACommentThatGoesOnIsPartOfTheText) {
  const Submission submission =
      read(replaced(filled(), "  const int a = 1;\n", "  // mine\n  // goes \\\n  on\n  const int a = 1;\n"));
  EXPECT_EQ(submission.blanks.at(1).text, (Texts{"  // goes \\", "  on", "  const int a = 1;"}));
}

TEST(Submission, MarksAreFoundBetweenLinesOfOtherEncodings) {
  const std::string text = replaced(replaced(filled(), "  // BLANK", "  // \x95\x5C\n  // BLANK"), "  // END BLANK\n",
                                    "  // \x95\x5C\n  // END BLANK\n  // \xC9\xBD\n");
  const Submission submission = read(text);
  EXPECT_EQ(submission.blanks.size(), 2u);
  EXPECT_TRUE(submission.changes.empty());
}

TEST(Submission, ABlankWithoutCodeIsLeftEmpty) {
  const auto empty = [](const std::string& text) {
    return is_left_empty(read(replaced(filled(), "  const int a = 1;\n", text)).blanks.at(1), Language::cpp);
  };
  EXPECT_FALSE(empty("  const int a = 1;\n"));
  EXPECT_TRUE(empty(""));
  EXPECT_TRUE(empty("\n  // later\n"));
  EXPECT_TRUE(empty("  const int a = PUT_YOUR_CODE;\n"));
  EXPECT_FALSE(empty("  const int a = 1;  // was PUT_YOUR_CODE\n"));
}

TEST(Submission, AProgramWithItsPlantedFaultIsLeftEmpty) {
  const std::string program = "  int a = f(1);\n  g(a, \"x y\");\n";
  const std::string given = replaced(exercise, "  const int a = PUT_YOUR_CODE;\n", program);
  const auto empty = [&](const std::string& text) {
    const Submission submission = read(replaced(given, program, text), given);
    EXPECT_EQ(submission.blanks.at(1).given, split_lines(program));
    EXPECT_EQ(submission.blanks.at(2).given, std::vector<std::string>{});
    return is_left_empty(submission.blanks.at(1), Language::cpp);
  };
  EXPECT_TRUE(empty(program));
  EXPECT_TRUE(empty("  // Is this it?\n  int a = f( 1 );\n\n  g(a,\n    \"x y\");  /* no */\n"));
  EXPECT_TRUE(empty("  // int a = f(1);\n"));
  EXPECT_FALSE(empty("  int a = f(2);\n  g(a, \"x y\");\n"));
  EXPECT_FALSE(empty("  int a = f(1);\n  g(a, \"xy\");\n"));
  EXPECT_FALSE(empty("  int a = f(1);\n"));
  EXPECT_FALSE(empty(program + "  g(a, 1);\n"));
  EXPECT_FALSE(empty(program + "/*\n")) << "an unclosed comment is reported";
}

}  // namespace
}  // namespace odori::grader
