// Which texts can stand beside others in one source file.
#include "exercise/lexer.h"

#include <gtest/gtest.h>

#include "exercise/blanks.h"

namespace odori::grader {
namespace {

bool self_contained(const std::string& text) { return is_self_contained(split_lines(text)); }

TEST(Lexer, WhatIsClosedIsSelfContained) {
  for (const char* text : {
           "",
           "const int device = 0;",
           "const int n = 3  // no semicolon: the compiler's business",
           "for (int i = 1; i < n; ++i) { other[\"gpu\"] = a[i]; }",
           "auto f = [&](int i) { return i; };",
           "std::string s = \")}]\" \"\\\"\"; char c = '\\''; char d = '{';",
           "// it's (fine\nint a = 1'000'000;",
           "/* it's\n (fine */ int a = 1;",
           "const char* r = R\"(a \")}] b)\";",
           "const char* r = R\"xy(a )\" )xy\";",
           "std::vector<::odori::DatasetPtr> v;",
           "int a = b %c;",
           "int a = 5 # 6;",
       })
    EXPECT_TRUE(self_contained(text)) << text;
}

TEST(Lexer, WhatReachesBeyondItsEndIsNot) {
  for (const char* text : {
           "f(1;",
           "f(1));",
           "}",
           "} int other() {",
           "int a = (1];",
           "std::string s = \"abc;\nint b;",
           "char c = 'a;",
           "/* int a = 1;",
           "const char* r = R\"(abc;",
           "#define x y",
           "  #include <vector>",
           "int a = 1;\n  # undef EOF",
           "int a = 1; // \\",
           "int a = 1; \\",
           "%:define x y",
           "int a<:1];",
           "<%",
           "/* c */ #define x y",
           "_Pragma(\"GCC poison a\")",
       })
    EXPECT_FALSE(self_contained(text)) << text;
}

TEST(Lexer, FindsTheWordsOutsideOfCommentsAndQuotes) {
  const auto words = words_in(split_lines("int a = b::c(1); // d\n/* e */ s = \"f\"; x->y;"));
  EXPECT_EQ(words, (std::set<std::string>{"1", "a", "b", "c", "int", "s", "x", "y"}));
}

}  // namespace
}  // namespace odori::grader
