// The source file that a check builds, and how the compiler's errors lead back to a blank and a line.
#include "worker/source.h"

#include <gtest/gtest.h>

#include "errors/error.h"
#include "worker/build.h"
#include "worker/refused_names.h"

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

/// As solution, with a line more at the head and one in blank 1.
Submission submission() {
  Submission submission;
  submission.blanks[1] = {
      .number = 1, .first_line = 4, .text_line = 5, .last_line = 7, .text = {"  const int", "      a = mine_a;"}};
  submission.blanks[2] = {
      .number = 2, .first_line = 9, .text_line = 10, .last_line = 11, .text = {"  const int b = mine_b;"}};
  return submission;
}

TEST(Source, HoldsEachVariantInANamespaceWithTheLearnersLineNumbers) {
  EXPECT_EQ(source_of(solution, submission(), {{"blank_2", {2}}}),
            "#include \"odori.h\"\n"
            "namespace odori::observe {\nvoid on_blanks_passed();\n}\n"
            "#define odori__blanks_passed ::odori::observe::on_blanks_passed()\n" +
                refused_names_begin() +
                "namespace odori_blank_2 {\n"
                "#line 3 \"blank_2\"\n"
                "int odori__main(int argc, char** argv) {\n"
                "  // BLANK 1: Which?\n"
                "#line 1 \"blank_2.kit\"\n"
                "  const int a = kits_a;\n"
                "#line 7 \"blank_2\"\n"
                "  // END BLANK\n"
                "  ::odori::use(a);\n"
                "  // BLANK 2: And this?\n"
                "#line 10 \"blank_2\"\n"
                "  const int b = mine_b;\n"
                "{}\n"
                "#line 11 \"blank_2\"\n"
                "odori__blanks_passed;  // END BLANK\n"
                "}\n}\n" +
                refused_names_end() +
                "#line 1 \"chooser\"\n"
                "int main(int argc, char** argv) {\n"
                "  const std::string variant = argc > 1 ? argv[1] : \"\";\n"
                "  if (variant == \"blank_2\") return odori_blank_2::odori__main(argc - 1, argv + 1);\n"
                "  return 2;\n"
                "}\n");
}

TEST(Source, NamesWhatTheKitsTextCallsInFullAndNoKeywordOrMacro) {
  const std::string calls =
      "#include \"odori.h\"\n"
      "int main(int argc, char** argv) {\n"
      "  // BLANK 1: Which?\n"
      "  const int a = kits_a;\n"
      "  // END BLANK\n"
      "  static_assert(sizeof(a) == alignof(int));\n"
      "  if (a > 1) return run(a); else stop(a);\n"
      "  Trainer trainer(A_MACRO);\n"
      "}\n";
  const std::string source = source_of(calls, {}, {{"blank_1", {}}});
  EXPECT_NE(source.find("  static_assert(sizeof(a) == alignof(int));\n"
                        "  if (a > 1) return ::odori::run(a); else ::odori::stop(a);\n"
                        "  ::odori::Trainer trainer(A_MACRO);\n"),
            std::string::npos)
      << source;
}

TEST(Source, LeavesWhatAClassMayHaveFromItsBaseAsItIs) {
  const std::string kits =
      "struct Alone { void f() { call(); } };\n"
      "struct Derived : Base {\n"
      "  void f() {\n"
      "    // BLANK 1: Which?\n"
      "    begin(1);\n"
      "    // END BLANK\n"
      "    if (a) { inherited(2); }\n"
      "  }\n"
      "};\n"
      "int main(int argc, char** argv) {\n"
      "  other();\n"
      "}\n";
  const std::string source = source_of(kits, {}, {{"blank_1", {}}});
  for (const char* text : {"{ ::odori::call(); }", "struct Derived : ::odori::Base {", "    begin(1);\n",
                           "if (a) { inherited(2); }", "  ::odori::other();"})
    EXPECT_NE(source.find(text), std::string::npos) << text << " in\n" << source;
}

TEST(Source, TheWholeHoldsAllOfTheLearners) {
  const std::string source = source_of(solution, submission(), {{"blank_1", {1}}, {"whole", {1, 2}}});
  const std::string whole = source.substr(source.find("namespace odori_whole"));
  EXPECT_NE(whole.find("mine_a"), std::string::npos);
  EXPECT_NE(whole.find("mine_b"), std::string::npos);
  EXPECT_EQ(whole.find("kits_"), std::string::npos);
  EXPECT_NE(source.find("kits_b"), std::string::npos);
}

TEST(Source, HoldsNoCommentsOfTheLearners) {
  Submission with_comment = submission();
  with_comment.blanks[2].text = {"  const int b = /* mine_b", "  */ 2;  // mine_b \\"};
  const std::string source = source_of(solution, with_comment, {{"blank_2", {2}}});
  EXPECT_EQ(source.find("mine_b"), std::string::npos);
  EXPECT_EQ(source.find("*/"), std::string::npos);
  EXPECT_NE(source.find(" 2;"), std::string::npos);
}

TEST(Source, KitsTextMeansTheLibraryWhateverABlankDeclares) {
  const std::string kits =
      "int main(int argc, char** argv) {\n"
      "  // BLANK 1: Which?\n"
      "  const int a = kits_a;\n"
      "  // END BLANK\n"
      "  Pool pool(a, b.size(), Kind::cuda);\n"
      "  if (pool.use(f(a))) fmt::print(\"Pool(1)\", std::move(g<Pool>(a)));  // Pool()\n"
      "  catch (...) { return report(); }\n"
      "}\n";
  const std::string source = source_of(kits, submission(), {{"blank_1", {1}}});
  EXPECT_NE(
      source.find("  ::odori::Pool pool(a, b.size(), ::odori::Kind::cuda);\n"
                  "  if (pool.use(::odori::f(a))) ::fmt::print(\"Pool(1)\", ::std::move(g<::odori::Pool>(a)));  // "
                  "Pool()\n  catch (...) { return ::odori::report(); }\n"),
      std::string::npos)
      << source;
}

TEST(Source, TellsTheCompilerOfNamesBehindTheIncludes) {
  const std::string source = source_of(solution, submission(), {{"blank_1", {1}}});
  const auto include = source.find("#include"), poison = source.find("#pragma GCC poison "),
             function = source.find("namespace odori_blank_1");
  EXPECT_LT(include, poison);
  EXPECT_LT(poison, function);
}

/// Blanks above main, and one in it.
const std::string functions =
    "#include \"odori.h\"\n"
    "using namespace odori;\n"
    "template <typename T, class Combine>\n"
    "void ring(T* data, Combine combine) {\n"
    "  // BLANK 1: What to add?\n"
    "  const int a = kits_a;\n"
    "  // END BLANK\n"
    "  combine(add(data, a), T::zero(), Combine::name());\n"
    "}\n"
    "class Ring {};\n"
    "int size_of(const Ring& ring) {\n"
    "  // BLANK 2: How large?\n"
    "  return kits_b;\n"
    "  // END BLANK\n"
    "}\n"
    "int main(int argc, char** argv) {\n"
    "  const auto sum = [](int a) { return a; };\n"
    "  const trace::File trace(args);\n"
    "  Ring own; Trainer trainer(sum(1), size_of(own), run(own), Ring(), Rate::of(own));\n"
    "}\n";

Submission above_main() {
  Submission answers;
  answers.blanks[1] = {
      .number = 1, .first_line = 6, .text_line = 7, .last_line = 9, .text = {"  const int a =", "mine_a;"}};
  answers.blanks[2] = {.number = 2, .first_line = 14, .text_line = 15, .last_line = 16, .text = {"  return mine_b;"}};
  return answers;
}

TEST(Source, BlanksAboveMainAreVariantsToo) {
  const std::string source = source_of(functions, above_main(), {{"blank_1", {1}}, {"blank_2", {2}}});
  EXPECT_TRUE(source.starts_with("#include \"odori.h\"\nusing namespace odori;\nnamespace odori::observe {\n"))
      << source;
  EXPECT_NE(source.find("namespace odori_blank_1 {\n#line 4 \"blank_1\"\ntemplate <typename T, class Combine>\n"),
            std::string::npos)
      << source;
  EXPECT_NE(source.find("#line 7 \"blank_1\"\n  const int a =\nmine_a;\n{}\n#line 9 \"blank_1\"\n  // END BLANK\n"),
            std::string::npos)
      << source;
  EXPECT_NE(source.find("#line 1 \"blank_2.kit\"\n  const int a = kits_a;\n#line 9 \"blank_2\"\n  // END BLANK\n"),
            std::string::npos)
      << source;
  EXPECT_NE(source.find("#line 15 \"blank_2\"\n  return mine_b;\n{}\n#line 16 \"blank_2\"\n  // END BLANK\n}\n"
                        "int odori__main(int argc, char** argv) { odori__blanks_passed;\n"),
            std::string::npos)
      << source;
}

TEST(Source, WhatTheKitsProgramDeclaresIsNotTheLibrarys) {
  const std::string source = source_of(functions, above_main(), {{"blank_1", {1}}});
  for (const char* line : {"  combine(::odori::add(data, a), T::zero(), Combine::name());\n",
                           "  const ::odori::trace::File trace(args);\n",
                           "  Ring own; ::odori::Trainer trainer(sum(1), size_of(own), ::odori::run(own), Ring(), "
                           "::odori::Rate::of(own));\n"})
    EXPECT_NE(source.find(line), std::string::npos) << line << "isn't in\n" << source;
}

TEST(Source, NeedsMainsBraceInItsLineIfAllBlanksAreAboveIt) {
  std::string next_line = functions;
  next_line.replace(next_line.find("argv) {"), 7, "argv)\n{");
  EXPECT_THROW(source_of(next_line, above_main(), {{"whole", {1}}}), Error);
}

TEST(Source, NeedsTheProgramsMain) {
  EXPECT_THROW(source_of("int start() {}\n", submission(), {{"whole", {1}}}), Error);
}

TEST(CompileErrors, LeadToTheirVariantAndLine) {
  const auto errors = read_errors(
      "blank_3: In function 'int odori_blank_3(int, char**)':\n"
      "blank_3:57:12: error: 'x' was not declared in this scope; did you mean 'y'?\n"
      "blank_3:57:12: note: here\n"
      "whole:57:12: error: 'x' was not declared in this scope\n"
      "blank_4.kit:2: error: no column\n");
  ASSERT_EQ(errors.size(), 3u);
  EXPECT_EQ(errors[0].variant, "blank_3");
  EXPECT_EQ(errors[0].line, 57);
  EXPECT_EQ(errors[0].column, 12);
  EXPECT_EQ(errors[0].message, "'x' was not declared in this scope; did you mean 'y'?");
  EXPECT_FALSE(errors[0].in_kit);
  EXPECT_EQ(errors[1].variant, "whole");
  EXPECT_EQ(errors[2].variant, "blank_4");
  EXPECT_EQ(errors[2].column, 0);
  EXPECT_TRUE(errors[2].in_kit);
}

TEST(CompileErrors, NameWhatAVariantDeclaresAsItStandsInTheProgram) {
  const auto errors = read_errors(
      "blank_3:5:1: error: cannot convert 'odori_blank_3::Ring' to 'odori::Ring'\n"
      "blank_3:4:1: note: declared here: 'odori_blank_3::Ring odori_blank_3::ring()'\n"
      "blank_3:9:1: warning: unused\n"
      "blank_3:9:1: note: of the warning\n");
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0].message, "cannot convert 'odori::Ring' to 'odori::Ring'");
  EXPECT_EQ(errors[0].notes, "declared here: 'odori::Ring odori::ring()'\n");
}

TEST(CompileErrors, InAHeaderBelongToTheLineThatAskedForIt) {
  const auto errors = read_errors(
      "In file included from /usr/include/c++/12/memory:76,\n"
      "                 from lib/odori.h:3,\n"
      "                 from <command-line>:\n"
      "/usr/include/c++/12/bits/unique_ptr.h: In instantiation of 'make_unique(int)':\n"
      "blank_6:76:60:   required from here\n"
      "/usr/include/c++/12/bits/unique_ptr.h:1065:30: error: no matching function for call\n"
      "/usr/include/c++/12/bits/unique_ptr.h:9:3: error: another one, of nobody\n");
  ASSERT_EQ(errors.size(), 2u);
  EXPECT_EQ(errors[0].variant, "blank_6");
  EXPECT_EQ(errors[0].line, 76);
  EXPECT_EQ(errors[0].message, "no matching function for call");
  EXPECT_EQ(errors[1].variant, "");
}

}  // namespace
}  // namespace odori::grader
