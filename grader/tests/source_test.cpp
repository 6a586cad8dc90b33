// SPDX-License-Identifier: Apache-2.0
// The source file of a program, and how the compiler's errors lead back to a blank and a line.
#include "runner/programs.h"

#include <gtest/gtest.h>

#include <set>

#include "errors/error.h"
#include "runner/build.h"

namespace odori::grader {
namespace {

const std::string solution =
    "#include \"odori.h\"\n"
    "int main(int argc, char** argv) {\n"
    "  // BLANK 1: Which?\n"
    "  const int a = kits_a;\n"
    "  // END BLANK\n"
    "  use(a);\n"
    "  // BLANK 2: And this?\n"
    "  const int b = kits_b;\n"
    "  // END BLANK\n"
    "}\n";

/// Its answers, with a line more at the head and one in blank 1.
const std::map<int, Blank> mine{
    {1, {.number = 1, .first_line = 4, .text_line = 5, .last_line = 7, .text = {"  const int", "      a = mine_a;"}}},
    {2, {.number = 2, .first_line = 9, .text_line = 10, .last_line = 11, .text = {"  const int b = mine_b;"}}}};

std::string source(const std::set<int>& blanks) {
  std::map<int, Blank> learners;
  for (const int blank : blanks) learners[blank] = mine.at(blank);
  return source_of(solution, learners);
}

TEST(Source, IsTheKitsProgramWithTheLearnersTextInItsBlanks) {
  EXPECT_EQ(source({2}),
            "#line 1 \"kit\"\n"
            "#include \"odori.h\"\n"
            "namespace odori::observe {\nvoid on_blanks_passed();\n}\n"
            "#line 2 \"kit\"\n"
            "int main(int argc, char** argv) {\n"
            "  // BLANK 1: Which?\n"
            "  const int a = kits_a;\n"
            "#line 5 \"kit\"\n"
            "  // END BLANK\n"
            "  use(a);\n"
            "  // BLANK 2: And this?\n"
            "#line 1 \"blank_2\"\n"
            "  const int b = mine_b;\n"
            "{}\n"
            "::odori::observe::on_blanks_passed();\n"
            "#line 9 \"kit\"\n"
            "  // END BLANK\n"
            "}\n");
}

TEST(Source, OfTheWholeHoldsNoAnswerOfTheKit) {
  const std::string whole = source({1, 2});
  EXPECT_NE(whole.find("#line 1 \"blank_1\"\n  const int\n      a = mine_a;\n{}\n"), std::string::npos) << whole;
  EXPECT_NE(whole.find("mine_b"), std::string::npos);
  EXPECT_EQ(whole.find("kits_"), std::string::npos);
}

TEST(Source, DoesNotDependOnWhereTheLearnersTextStands) {
  Blank moved = mine.at(2);
  moved.first_line += 40, moved.text_line += 40, moved.last_line += 40;
  EXPECT_EQ(source_of(solution, {{2, moved}}), source({2}));
}

/// Blanks above main alone.
const std::string functions =
    "int size() {\n"
    "  // BLANK 1: How large?\n"
    "  return kits_a;\n"
    "  // END BLANK\n"
    "}\n"
    "int main(int argc, char** argv) {\n"
    "  run(size());\n"
    "}\n";

TEST(Source, TellsOfPassedBlanksAtMainsStartIfAllAreAboveIt) {
  const std::string above = source_of(functions, {{1, {.number = 1, .text = {"  return mine_a;"}}}});
  EXPECT_NE(above.find("#line 1 \"blank_1\"\n  return mine_a;\n{}\n#line 4 \"kit\"\n"), std::string::npos) << above;
  EXPECT_NE(above.find("int main(int argc, char** argv) { ::odori::observe::on_blanks_passed();\n"), std::string::npos);
}

TEST(Source, NeedsMainsBraceInItsLineIfAllBlanksAreAboveIt) {
  std::string next_line = functions;
  next_line.replace(next_line.find("argv) {"), 7, "argv)\n{");
  EXPECT_THROW(source_of(next_line, {}), Error);
}

TEST(Source, NeedsTheProgramsMain) { EXPECT_THROW(source_of("int start() {}\n", {}), Error); }

TEST(CompileErrors, LeadToTheirBlankAndItsLine) {
  const auto errors = read_errors(
      "kit: In function 'int main(int, char**)':\n"
      "blank_3:2:12: error: 'x' was not declared in this scope; did you mean 'y'?\n"
      "blank_3:2:12: note: here\n"
      "blank_3:9:1: warning: unused\n"
      "blank_3:9:1: note: of the warning\n"
      "kit:57:12: error: 'x' was not declared in this scope\n"
      "blank_4: error: no line\n"
      "blank_4:2: error: no column\n");
  ASSERT_EQ(errors.size(), 3u);
  EXPECT_EQ(errors[0].blank, 3);
  EXPECT_EQ(errors[0].line, 2);
  EXPECT_EQ(errors[0].column, 12);
  EXPECT_EQ(errors[0].message, "'x' was not declared in this scope; did you mean 'y'?");
  EXPECT_EQ(errors[0].notes, "here\n");
  EXPECT_EQ(errors[1].blank, 0);
  EXPECT_TRUE(errors[1].in_program);
  EXPECT_EQ(errors[2].blank, 4);
  EXPECT_EQ(errors[2].column, 0);
}

TEST(CompileErrors, InAHeaderBelongToTheLineThatAskedForIt) {
  const auto errors = read_errors(
      "In file included from /usr/include/c++/12/memory:76,\n"
      "                 from lib/odori.h:3,\n"
      "                 from <command-line>:\n"
      "/usr/include/c++/12/bits/unique_ptr.h: In instantiation of 'make_unique(int)':\n"
      "blank_6:2:60:   required from here\n"
      "/usr/include/c++/12/bits/unique_ptr.h:1065:30: error: no matching function for call\n"
      "/usr/include/c++/12/bits/unique_ptr.h:9:3: error: another one, of nobody\n");
  ASSERT_EQ(errors.size(), 2u);
  EXPECT_EQ(errors[0].blank, 6);
  EXPECT_EQ(errors[0].line, 2);
  EXPECT_EQ(errors[0].message, "no matching function for call");
  EXPECT_EQ(errors[1].blank, 0);
  EXPECT_FALSE(errors[1].in_program);
}

}  // namespace
}  // namespace odori::grader
