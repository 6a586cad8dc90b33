// SPDX-License-Identifier: Apache-2.0
// Which texts can stand beside others in one source file.
#include "blanks/lexer.h"

#include <gtest/gtest.h>

#include "blanks/blanks.h"

namespace odori::grader {
namespace {

/// Brackets, quotes and comments are closed.
bool is_closed(const std::string& text) {
  const auto lines = split_lines(text);
  return !tokens_of(lines).broken && !unclosed_bracket(lines);
}

TEST(Lexer, FindsNothingOpenInWhatIsClosed) {
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
           "int a<:3:> = <%1, 2, 3%>;",
           "// goes on \\\nint a = 1;\nint b = 2;",
           "int a = 1; // \\",
       })
    EXPECT_TRUE(is_closed(text)) << text;
}

TEST(Lexer, FindsWhatReachesBeyondItsEnd) {
  for (const char* text : {
           "f(1;",
           "std::string s = \"abc;\nint b;",
           "char c = 'a;",
           "/* int a = 1;",
           "const char* r = R\"(abc;",
           "<%",
       })
    EXPECT_FALSE(is_closed(text)) << text;
}

TEST(Lexer, FindsTheWordsOutsideOfCommentsAndQuotes) {
  const auto words = identifiers_in(split_lines("int a = b::c(1); // d\n/* e */ s = \"f\"; x->y;"));
  EXPECT_EQ(words, (std::set<std::string>{"a", "b", "c", "int", "s", "x", "y"}));
}

/// "a + 1:b": the tokens, a line's number before each but the first line's.
std::string tokens(const std::string& text) {
  std::string all;
  int line = 1;
  const Tokens found = tokens_of(split_lines(text));
  for (const Token& token : found.all) {
    all += (all.empty() ? "" : " ") + (token.line == line ? "" : std::to_string(token.line) + ":") + token.text;
    line = token.line;
  }
  return found.broken ? all + " !" + found.broken->key + " " + found.broken->values.at("line") : all;
}

TEST(Lexer, SeesTheTokensOfTheStandard) {
  EXPECT_EQ(tokens("x=0x1'f+1.e+5-.5f;"), "x = 0x1'f + 1.e + 5 - .5f ;");
  EXPECT_EQ(tokens("1'e+a 1..2 1.f"), "1'e + a 1..2 1.f");
  EXPECT_EQ(tokens("a<::b<:0:>(<% %>)"), "a < :: b [ 0 ] ( { } )");
  EXPECT_EQ(tokens("a<<:b %:c %:%:d a<::> x::>y"), "a << : b # c # # d a [ ] x :: > y");
  EXPECT_EQ(tokens("a->b>=c...1'0..d"), "a - > b > = c ... 1'0..d");
  EXPECT_EQ(tokens("// a \\\nb\nc"), "3:c");
  EXPECT_EQ(tokens("// a \\ \t\v\nb\nc"), "3:c");
  EXPECT_EQ(tokens("/* a *\\\n/ b"), "2:b");
  EXPECT_EQ(tokens("u8R\"x(a\n)\")x\" b L'c'"), "u8R\"x(a\n)\")x\" 2:b L 'c'");
  // A suffix takes the letters that another quote would begin with.
  EXPECT_EQ(tokens("\"\"R\"(\" a"), "\"\" R \"(\" a");
  EXPECT_EQ(tokens("'a'u8\"b\"s"), "'a' u8 \"b\" s");
  EXPECT_EQ(tokens("\u540D\u524D = 1"), "\u540D\u524D = 1");
  EXPECT_EQ(tokens("\u03B7=\u0394t"), "\u03B7 = \u0394t");
}

TEST(Lexer, SaysWhereATextIsNoTokens) {
  EXPECT_EQ(tokens("a;\n\"b"), "a ; !quote_not_closed 2");
  EXPECT_EQ(tokens("a 'b;\nc'"), "a !quote_not_closed 1");
  EXPECT_EQ(tokens("1'000'"), " !quote_not_closed 1");
  EXPECT_EQ(tokens("R\"a b(c)a b\""), " !quote_not_closed 1");
  EXPECT_EQ(tokens("a\n/* b\n"), "a !comment_not_closed 2");
  EXPECT_EQ(tokens("a /*/ b"), "a !comment_not_closed 1");
  EXPECT_EQ(tokens("\"a\\\nb\""), " !forbidden_sign 1");
  EXPECT_EQ(tokens("a\n\v b"), "a !control_character 2");
  EXPECT_EQ(tokens("\"a\x1F\""), " !control_character 1");
  EXPECT_EQ(tokens("// a\rb"), " !control_character 1");
  EXPECT_EQ(tokens("a\u3000= 1"), "a !character_not_code 1");
  EXPECT_EQ(tokens("\"a\"\u540D"), "\"a\" !character_not_code 1");
  EXPECT_EQ(tokens("\n\"\uFFFD\""), " !not_utf8 2");
  EXPECT_EQ(tokens("// \uFFFD \x1B \v\na"), "2:a") << "comments may hold anything";
}

}  // namespace
}  // namespace odori::grader
