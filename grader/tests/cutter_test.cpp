// SPDX-License-Identifier: Apache-2.0
#include "blanks/cutter.h"

#include <gtest/gtest.h>

#include "blanks/blanks.h"
#include "errors/error.h"

namespace odori::grader {
namespace {

std::string blank(const std::string& answer) { return "// BLANK 1: Which?\n" + answer + "// END BLANK\n"; }

/// The one line that an answer becomes, where these names are used outside of it, or what the cutter says.
std::string cut_answer(const std::string& answer, const std::string& used = "use(b, updater, m, autos)") {
  try {
    const auto lines = split_lines(cut(used + ";\n" + blank(answer), "a.cpp"));
    return parse_blanks(lines, "a.cpp").at(0).text.at(0);
  } catch (const Error& error) {
    return error.what();
  }
}

bool says(const std::string& sentence, const std::string& part) { return sentence.find(part) != std::string::npos; }

TEST(Cutter, KeepsEverythingButTheAnswer) {
  EXPECT_EQ(cut("// A program.\n"
                "//   how to run it\n"
                "#include \"odori.h\"\n"
                "\n"
                "int main() {\n"
                "  // BLANK 1: Which device?\n"
                "  //          (its number)\n"
                "  const int device = comm->intra_rank();\n"
                "  // END BLANK\n"
                "  use(device);\n"
                "  // BLANK 2: All of them?\n"
                "  std::map<std::string, int> all;\n"
                "  for (int i = 1; i < n; ++i) {\n"
                "    all[name(i)] = i;\n"
                "  }\n"
                "  // END BLANK\n"
                "  if (all.empty()) {\n"
                "  }\n"
                "}\n",
                "a.cpp"),
            "// A program.\n"
            "//   how to run it\n"
            "//\n"
            "// Fill in the blanks: replace each PUT_YOUR_CODE by your own code.\n"
            "#include \"odori.h\"\n"
            "\n"
            "int main() {\n"
            "  // BLANK 1: Which device?\n"
            "  //          (its number)\n"
            "  const int device = PUT_YOUR_CODE;\n"
            "  // END BLANK\n"
            "  use(device);\n"
            "  // BLANK 2: All of them?\n"
            "  std::map<std::string, int> all = PUT_YOUR_CODE;\n"
            "  // END BLANK\n"
            "  if (all.empty()) {\n"
            "  }\n"
            "}\n");
}

TEST(Cutter, EmptiesAJobScriptsDirective) {
  const std::string head = "#!/bin/bash\n#PBS -q workshop\n# BLANK 7: How many?\n#          (nodes)\n";
  const std::string tail = "# END BLANK\n#PBS -N training\nmpirun a\n";
  EXPECT_EQ(cut(head + "#PBS -l select=2:mpiprocs=2:ompthreads=1\n" + tail, "a.sh"),
            head + "#PBS -l PUT_YOUR_CODE\n" + tail);
  EXPECT_THROW(cut(head + "#PBS -q select=2\n" + tail, "a.sh"), Error);
  EXPECT_THROW(cut(head + "#PBS -l select=2\n#PBS -l place=free\n" + tail, "a.sh"), Error);
}

TEST(Cutter, LeavesAFileWithoutBlanksAsItIs) {
  for (const std::string text : {"", "// head\nint main() {}\n", "no end of line", "\r\n"})
    EXPECT_EQ(cut(text, "a.cpp"), text);
}

TEST(Cutter, KeepsTheDeclarationWhateverTheAnswerLooksLike) {
  EXPECT_EQ(cut_answer("  const bool b = comm->rank() == 0;\n"), "  const bool b = PUT_YOUR_CODE;");
  EXPECT_EQ(cut_answer("int b;\nb = 3;\n"), "int b = PUT_YOUR_CODE;");
  EXPECT_EQ(cut_answer("  std::unique_ptr<Updater> updater =\n      std::make_unique<ParallelUpdater>(a, b);\n"),
            "  std::unique_ptr<Updater> updater = PUT_YOUR_CODE;");
  EXPECT_EQ(cut_answer("std::map<std::string,\n         std::pair<int, int>>\n    m = {{\"main\", {0, 1}}};\n"),
            "std::map<std::string, std::pair<int, int>> m = PUT_YOUR_CODE;");
  EXPECT_EQ(cut_answer("// The first one.\nint b = f(\"=;\");\n"), "int b = PUT_YOUR_CODE;");
  EXPECT_EQ(cut_answer("std::vector<automatic> autos = f();\n"), "std::vector<automatic> autos = PUT_YOUR_CODE;");
}

TEST(Cutter, RefusesADeclarationThatIsNeededAndHasNoNamedTypeOrNoValue) {
  for (const char* answer : {"auto b = 1;\n", "const auto& b = f();\n", "std::vector<auto> b = f();\n"})
    EXPECT_TRUE(says(cut_answer(answer), "a.cpp:3: blank 1 declares")) << cut_answer(answer);
  for (const char* answer : {"int b(1);\n", "const std::string b{1};\n", "int b\n"})
    EXPECT_TRUE(says(cut_answer(answer), "which is used outside of it")) << cut_answer(answer);
  EXPECT_TRUE(says(cut_answer(""), "blank 1 is empty"));
  EXPECT_TRUE(says(cut_answer("int b = PUT_YOUR_CODE;\n"), "blank 1 still holds PUT_YOUR_CODE"));
}

TEST(Cutter, KeepsTheReturn) {
  EXPECT_EQ(cut_answer("  return b;\n"), "  return PUT_YOUR_CODE;");
  EXPECT_EQ(cut_answer("  return {b,\n          m};\n"), "  return PUT_YOUR_CODE;");
  EXPECT_EQ(cut_answer("return;\n"), "PUT_YOUR_CODE;");
  EXPECT_EQ(cut_answer("returned = b;\n"), "PUT_YOUR_CODE;");
}

TEST(Cutter, OfAllOtherStatementsNothingIsKept) {
  for (const char* answer :
       {"b = 1;\n", "f(1);\n", "m[\"main\"] = 0;\n", "if (c) b = 1;\n", "if constexpr (c)\n  b = 1;\n", "++b;\n",
        "for (int i = 0; i < 3; ++i) f(i);\n", "object.member = 1;\n", "comm->send(b);\n", "*b = 1;\n", "b += 1;\n",
        "std::swap(b, m);\n", "for (;;) {\n  f(b);\n}\n", "delete b;\n", "throw b;\n",
        "if (c) {\n  b = 1;\n} else {\n  b = 2;\n}\n",
        // Variables that nothing else uses are the answer's own.
        "int own = 1;\nb = own;\n", "const auto own = f();\nb = own;\n", "int own(1);\nuse(own, 2);\n"})
    EXPECT_EQ(cut_answer(answer), "PUT_YOUR_CODE;") << answer;
  EXPECT_EQ(cut_answer("    f(1);\n"), "    PUT_YOUR_CODE;");
  EXPECT_EQ(cut_answer("int other = f(b);\n", "// other\nuse(b)"), "PUT_YOUR_CODE;");
}

TEST(Cutter, RefusesAnAnswerThatAlsoStandsElsewhere) {
  const std::string answer = blank("int b = f(1,\n          g(2, 3));\n") + "use(b);\n";
  EXPECT_NO_THROW(cut(answer, "a.cpp"));
  for (const char* leak : {"int b = f(1,\n", "// as in: int b = f(1, ...)\n", "  g(2, 3));\n"}) {
    try {
      cut(leak + answer, "a.cpp");
      ADD_FAILURE() << leak;
    } catch (const Error& error) {
      EXPECT_TRUE(says(error.what(), "also stands outside the blank")) << error.what();
    }
  }
}

TEST(Cutter, ShowsWhereTwoTextsDiffer) {
  EXPECT_EQ(first_difference("a\nb\n", "a\nb\n"), "");
  EXPECT_EQ(first_difference("a\nb\n", "a\nc\n"), "line 2 should be \"b\", and is \"c\"");
  EXPECT_EQ(first_difference("a\nb\n", "a\n"), "line 2 should be \"b\", and is the end of the file");
  EXPECT_EQ(first_difference("a\n", "a\nb\n"), "line 2 should be the end of the file, and is \"b\"");
  EXPECT_EQ(first_difference("a\n", "a\r\n"), "the lines are equal, but not the line ends");
}

TEST(Cutter, GivesAProgramWithItsPlantedFault) {
  EXPECT_EQ(cut("// Programs.\n"
                "void first() {\n"
                "  // BLANK 1: What is wrong?\n"
                "  // FAULT: int n = rank;\n"
                "  int n = size;\n"
                "  // END FAULT\n"
                "  for (int i = 0; i < n; ++i) {\n"
                "    // FAULT: if (rank == 0)\n"
                "    // FAULT:   sum = all_reduce(sum);\n"
                "    sum = all_reduce(sum);\n"
                "    // END FAULT\n"
                "    // FAULT:\n"
                "    broadcast(n);\n"
                "    // END FAULT\n"
                "    // FAULT: barrier();\n"
                "    // END FAULT\n"
                "  }\n"
                "  // END BLANK\n"
                "}\n"
                "int why() {\n"
                "  // BLANK 2: Why?\n"
                "  return 3;\n"
                "  // END BLANK\n"
                "}\n",
                "a.cpp"),
            "// Programs.\n"
            "//\n"
            "// Fill in the blanks: replace each PUT_YOUR_CODE by your own code.\n"
            "// A blank that holds a program has a fault: find it, and repair the program.\n"
            "void first() {\n"
            "  // BLANK 1: What is wrong?\n"
            "  int n = rank;\n"
            "  for (int i = 0; i < n; ++i) {\n"
            "    if (rank == 0)\n"
            "      sum = all_reduce(sum);\n"
            "    barrier();\n"
            "  }\n"
            "  // END BLANK\n"
            "}\n"
            "int why() {\n"
            "  // BLANK 2: Why?\n"
            "  return PUT_YOUR_CODE;\n"
            "  // END BLANK\n"
            "}\n");
}

TEST(Cutter, RefusesAPlantedFaultThatIsNone) {
  EXPECT_TRUE(says(cut_answer("// FAULT: a();\nb();\n"), "a.cpp:3: blank 1 has a FAULT line without an"));
  EXPECT_TRUE(says(cut_answer("b();\n// END FAULT\n"), "a.cpp:4: blank 1 has an END FAULT without"));
  EXPECT_TRUE(says(cut_answer("// FAULT: a();\nb();\n// FAULT: c();\nd();\n// END FAULT\n"),
                   "a.cpp:5: blank 1 has a FAULT line after a repair"));
  EXPECT_TRUE(says(cut_answer("// FAULT: b( );  // bad\nb();\n// END FAULT\n"), "a faulty text that is its repair"));
  EXPECT_TRUE(says(cut_answer("// FAULT: b(getenv(a));\nb();\n// END FAULT\n"), "refused in answers (forbidden_word)"));
  EXPECT_TRUE(says(cut_answer("// FAULT:\nb();\n// END FAULT\n"), "gives the learner an empty program"));
  EXPECT_TRUE(says(cut_answer("c();\n", "// FAULT: a();\nuse()"), "is outside the blanks"));
}

}  // namespace
}  // namespace odori::grader
