// SPDX-License-Identifier: Apache-2.0
#include "blanks/blanks.h"

#include <gtest/gtest.h>

#include "errors/error.h"

namespace odori::grader {
namespace {

std::vector<Blank> parse(const std::string& text, const std::string& path = "a.cpp") {
  return parse_blanks(split_lines(text), path);
}

/// What the parser says about a text that it can't accept.
std::string complaint(const std::string& text, const std::string& path = "a.cpp") {
  try {
    parse(text, path);
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Blanks, AreFoundWithQuestionLinesAndText) {
  const auto blanks = parse(
      "int a = 0;\n"
      "  // BLANK 1: Which one?\n"
      "  //          (its number)\n"
      "  const int b =\n"
      "\n"
      "      1;  // one\n"
      "  // END BLANK\n"
      "// BLANK 2: And this?\n"
      "int c = PUT_YOUR_CODE;\r\n"
      "// END BLANK");
  ASSERT_EQ(blanks.size(), 2u);
  EXPECT_EQ(blanks[0].number, 1);
  EXPECT_EQ(blanks[0].question, "Which one? (its number)");
  EXPECT_EQ(blanks[0].first_line, 2);
  EXPECT_EQ(blanks[0].text_line, 4);
  EXPECT_EQ(blanks[0].last_line, 7);
  EXPECT_EQ(blanks[0].text, (std::vector<std::string>{"  const int b =", "", "      1;  // one"}));
  EXPECT_EQ(blanks[1].number, 2);
  EXPECT_EQ(blanks[1].text, std::vector<std::string>{"int c = PUT_YOUR_CODE;"});
  EXPECT_FALSE(is_unfilled(blanks[0], Language::cpp));
  EXPECT_TRUE(is_unfilled(blanks[1], Language::cpp));
}

TEST(Blanks, BeginWithAMarkThatIsReadInOnePlace) {
  const auto mark = blank_mark_of("BLANK 12: Which: one? ");
  ASSERT_TRUE(mark);
  EXPECT_EQ(mark->number, 12);
  EXPECT_EQ(mark->question, "Which: one?");
  EXPECT_TRUE(blank_mark_of("BLANK 3:")->question.empty());
  for (const char* other :
       {"", "BLANK", "BLANK 3", "BLANK 0: a", "BLANK -1: a", "BLANK 3 : a", "BLANK x: a", "blank 3: a"})
    EXPECT_FALSE(blank_mark_of(other)) << other;
}

TEST(Blanks, OfAJobScriptEndTheirQuestionAtTheDirective) {
  const auto blanks = parse(
      "#!/bin/bash\n"
      "#PBS -q workshop\n"
      "# BLANK 8: How many\n"
      "#          nodes?\n"
      "#PBS -l PUT_YOUR_CODE\n"
      "# END BLANK\n",
      "run.sh");
  ASSERT_EQ(blanks.size(), 1u);
  EXPECT_EQ(blanks[0].number, 8);
  EXPECT_EQ(blanks[0].question, "How many nodes?");
  EXPECT_EQ(blanks[0].text, std::vector<std::string>{"#PBS -l PUT_YOUR_CODE"});
}

TEST(Blanks, ADirectiveWithASpaceInsideIsNoComment) {
  const auto blanks = parse("# BLANK 8: How many?\n# PBS -l select=1\n# END BLANK\n", "run.sh");
  EXPECT_EQ(blanks.at(0).question, "How many?");
  EXPECT_EQ(blanks.at(0).text, std::vector<std::string>{"# PBS -l select=1"});
}

TEST(Blanks, AFileWithoutAnyHasNone) {
  EXPECT_TRUE(parse("int main() {}  // a BLANK 1: is no mark here\n").empty());
  EXPECT_TRUE(parse("").empty());
}

TEST(Blanks, AnEmptiedOneIsOneWithoutText) {
  const auto blanks = parse("// BLANK 1: Which?\n// END BLANK\n");
  ASSERT_EQ(blanks.size(), 1u);
  EXPECT_TRUE(blanks[0].text.empty());
  EXPECT_EQ(blanks[0].text_line, 2);
}

TEST(Blanks, APlaceholderInACommentIsNone) {
  const auto unfilled = [](const std::string& text, Language language = Language::cpp) {
    Blank blank;
    blank.text = split_lines(text);
    EXPECT_TRUE(!is_unfilled(blank, language) || is_left_empty(blank, language));
    return is_unfilled(blank, language) ? "unfilled" : is_left_empty(blank, language) ? "empty" : "filled";
  };
  EXPECT_STREQ(unfilled("int a = PUT_YOUR_CODE;"), "unfilled");
  EXPECT_STREQ(unfilled("int a = 1;  // was PUT_YOUR_CODE"), "filled");
  EXPECT_STREQ(unfilled("// int a = PUT_YOUR_CODE;\nint a = 1;"), "filled");
  EXPECT_STREQ(unfilled("/* int a = PUT_YOUR_CODE;\n*/ int a = 1;"), "filled");
  EXPECT_STREQ(unfilled("std::string a = \"PUT_YOUR_CODE\";"), "filled");
  EXPECT_STREQ(unfilled("int a = 1;\nint b = PUT_YOUR_CODE;  // later"), "unfilled");
  EXPECT_STREQ(unfilled("// int a = PUT_YOUR_CODE;\n\n/* later */"), "empty");
  EXPECT_STREQ(unfilled("/* int a = PUT_YOUR_CODE;"), "filled") << "the comment that isn't closed is told";
  const auto in_script = [&unfilled](const std::string& text) { return unfilled(text, Language::shell); };
  EXPECT_STREQ(in_script("#PBS -l PUT_YOUR_CODE"), "unfilled");
  EXPECT_STREQ(in_script("  #PBS -l PUT_YOUR_CODE  # how many?"), "unfilled");
  EXPECT_STREQ(in_script("##PBS -l PUT_YOUR_CODE\n#PBS -l select=1"), "filled");
  EXPECT_STREQ(in_script("# PBS -l PUT_YOUR_CODE\n#PBS -l select=1"), "filled");
  EXPECT_STREQ(in_script("#PBS -l select=1  # was PUT_YOUR_CODE"), "filled");
  EXPECT_STREQ(in_script("##PBS -l PUT_YOUR_CODE\n"), "empty");
  EXPECT_STREQ(in_script("# PBS -l PUT_YOUR_CODE\n# later"), "empty");
  EXPECT_STREQ(in_script("# PBS -l select=1"), "filled") << "meant as a directive";
  EXPECT_STREQ(in_script("PUT_YOUR_CODE"), "unfilled");
}

TEST(Blanks, BadMarksAreToldWithTheirLine) {
  const std::string open = "// BLANK 1: Which?\nint a = 1;\n", end = "// END BLANK\n";
  EXPECT_EQ(complaint(open), "a.cpp:1: blank 1 isn't closed. Put END BLANK behind its text.");
  EXPECT_EQ(complaint(end), "a.cpp:1: END BLANK, but no blank is open here.");
  EXPECT_EQ(complaint(open + end + end), "a.cpp:4: END BLANK, but no blank is open here.");
  EXPECT_EQ(complaint(open + "// BLANK 2: And?\n" + end),
            "a.cpp:3: blank 2 begins inside blank 1, which began in line 1. Close that one with END BLANK.");
  EXPECT_EQ(complaint(open + end + "// BLANK 3: And?\n" + end),
            "a.cpp:4: blank 3 follows blank 1. Number them in order, without gaps.");
  EXPECT_EQ(complaint(open + end + open + end),
            "a.cpp:4: blank 1 follows blank 1. Number them in order, without gaps.");
  EXPECT_EQ(complaint("// BLANK 1:\n" + end), "a.cpp:1: blank 1 asks no question. Write one behind the colon.");
  for (const char* mark : {"// BLANK one: ?\n", "// BLANK 1 ?\n", "// BLANK 0: ?\n", "// BLANK 1\n"})
    EXPECT_NE(complaint(mark + end).find("isn't a blank's first line"), std::string::npos) << mark;
  EXPECT_EQ(complaint("# END BLANK\n", "b.sh"), "b.sh:1: END BLANK, but no blank is open here.");
}

TEST(Blanks, OneWithoutPlaceholderIsToldWhereOneIsExpected) {
  const auto blanks =
      parse("// BLANK 1: ?\nint a = PUT_YOUR_CODE;\n// END BLANK\n// BLANK 2: ?\nint b = 2;\n// END BLANK\n");
  try {
    require_unfilled(blanks, "a.cpp");
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "a.cpp:4: blank 2 holds no PUT_YOUR_CODE.");
  }
}

TEST(Blanks, CanBeGivenAnotherText) {
  const auto lines = split_lines("a\n// BLANK 1: ?\n// more\nb\nc\n// END BLANK\nd\n");
  const Blank blank = parse_blanks(lines, "a.cpp").at(0);
  EXPECT_EQ(join_lines(with_text(lines, blank, {"x"})), "a\n// BLANK 1: ?\n// more\nx\n// END BLANK\nd\n");
  EXPECT_EQ(join_lines(with_text(lines, blank, {})), "a\n// BLANK 1: ?\n// more\n// END BLANK\nd\n");
  EXPECT_EQ(with_text(lines, blank, blank.text), lines);
}

}  // namespace
}  // namespace odori::grader
