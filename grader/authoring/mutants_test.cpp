// SPDX-License-Identifier: Apache-2.0
// Which mutants an answer has, and which of them are chosen.
#include "authoring/mutants.h"

#include <gtest/gtest.h>

namespace odori::grader {
namespace {

using Lines = std::vector<std::string>;

/// The kinds' names and texts of all mutants, each text in one line.
std::set<std::string> all_of(const std::string& answer, Language language = Language::cpp,
                             const std::vector<std::set<std::string>>& siblings = {}) {
  std::set<std::string> texts;
  for (const Mutant& mutant : mutants_of(split_lines(answer), language, siblings)) {
    std::string text;
    for (const std::string& line : mutant.text) text += (&line == &mutant.text.front() ? "" : "|") + line;
    EXPECT_TRUE(texts.insert(std::string(name_of(mutant.kind)) + ": " + text).second) << text << " twice";
    EXPECT_NE(text, answer);
    EXPECT_EQ(mutant.description.find('\n'), std::string::npos);
  }
  return texts;
}

using Mutations = std::set<std::string>;

TEST(Mutants, ChangeOperatorsAndConstants) {
  EXPECT_EQ(all_of("return (rank + 1) % n;"),
            (Mutations{"operator: return (rank - 1) % n;", "operator: return (rank + 1) / n;",
                       "constant: return (rank + 2) % n;", "constant: return (rank + 0) % n;"}));
  EXPECT_EQ(all_of("sum += a;"), (Mutations{"operator: sum -= a;", "operator: sum = a;"}));
  EXPECT_EQ(all_of("return a <= b;"), (Mutations{"operator: return a < b;", "operator: return a > b;"}));
  EXPECT_EQ(all_of("return !a && -b;"),
            (Mutations{"operator: return a && -b;", "operator: return !a || -b;", "operator: return !a && b;"}));
  EXPECT_EQ(all_of("x = 0.5f;"), (Mutations{"constant: x = 1.5f;"}));
  EXPECT_EQ(all_of("x = 0;"), (Mutations{"constant: x = 1;", "constant: x = -1;"}));
}

TEST(Mutants, LeaveTypesQuotesAndCommentsAlone) {
  for (const char* text : {"const float* p = q;", "std::vector<int> v;", "auto&& x = y->z;", "f(\"a + 1\");  // 1 < 2",
                           "x = 0x1F;", "++i;"})
    EXPECT_EQ(all_of(text), Mutations()) << text;
}

TEST(Mutants, SwapArguments) {
  EXPECT_EQ(all_of("f(a, g(b, c));"),
            (Mutations{"arguments: f(g(b, c), a);", "arguments: f(a, g(c, b));", "deletion: f(a, b);"}));
  EXPECT_EQ(all_of("T x{a, b};"), (Mutations{"arguments: T x{b, a};"}));
  EXPECT_EQ(all_of("make<A, B>(a, C<D, E>(b));"),
            (Mutations{"arguments: make<A, B>(C<D, E>(b), a);", "deletion: make<A, B>(a, b);"}));
  EXPECT_EQ(all_of("f(x, {.a = b, .c = d});"), (Mutations{"arguments: f({.a = b, .c = d}, x);",
                                                          "deletion: f(x, {.c = d});", "deletion: f(x, {.a = b});"}));
  EXPECT_EQ(all_of("auto f = [](int a, int b) { return a; };"),
            (Mutations{"deletion: auto f = [](int a, int b) {  };"}));
}

TEST(Mutants, ReplaceACallByItsFirstArgument) {
  EXPECT_EQ(all_of("return std::ceil(a);"), (Mutations{"deletion: return a;"}));
  EXPECT_EQ(all_of("x = a.b->f<C, D>(y);"), (Mutations{"deletion: x = y;"}));
  for (const char* text : {"f(a);", "if (a) f(b);", "const T x(a);", "std::unique_ptr<T> x(a);",
                           "return static_cast<int>(a);", "return std::move(a);", "return f();"})
    EXPECT_EQ(all_of(text), Mutations()) << text;
}

TEST(Mutants, DeleteAndSwapStatementsAlsoWithinBlocks) {
  EXPECT_EQ(all_of("wait();\nstart();"),
            (Mutations{"deletion: |start();", "deletion: wait();|", "order: start();|wait();"}));
  EXPECT_EQ(all_of("for (T t : ts) {\n  f(t);\n  g(t);\n}"),
            (Mutations{"deletion: for (T t : ts) {|  |  g(t);|}", "deletion: for (T t : ts) {|  f(t);|  |}",
                       "order: for (T t : ts) {|  g(t);|  f(t);|}"}));
  // Of an if with its else, both or none; and a blank isn't emptied.
  EXPECT_EQ(all_of("if (a) f(); else g();"), Mutations());
  EXPECT_EQ(all_of("h();\nif (a) f(); else g();"),
            (Mutations{"deletion: |if (a) f(); else g();", "deletion: h();|", "order: if (a) f(); else g();|h();"}));
}

TEST(Mutants, KeepDeclarations) {
  EXPECT_EQ(all_of("std::vector<A> v;\nfill(v);"), (Mutations{"deletion: std::vector<A> v;|"}));
  EXPECT_EQ(all_of("const int a = b;\nreturn a;"), (Mutations{"deletion: const int a = b;|"}));
}

TEST(Mutants, ReplaceWordsByTheirSiblings) {
  EXPECT_EQ(all_of("return a.rank();", Language::cpp, {{"rank", "size", "node"}}),
            (Mutations{"sibling: return a.size();", "sibling: return a.node();"}));
  EXPECT_EQ(all_of("return true;"), (Mutations{"sibling: return false;"}));
}

TEST(Mutants, OfAJobScriptChangeNumbersAlone) {
  EXPECT_EQ(all_of("#PBS -l select=2:gpus=1", Language::shell),
            (Mutations{"constant: #PBS -l select=3:gpus=1", "constant: #PBS -l select=1:gpus=1",
                       "constant: #PBS -l select=2:gpus=2", "constant: #PBS -l select=2:gpus=0"}));
}

TEST(Mutants, AreDescribedByTheirPlaceAndMatchedByTheirLines) {
  const Lines answer{"  f(a);", "  g(a +", "    1);"};
  const std::vector<Mutant> all = mutants_of(answer, Language::cpp);
  const auto minus = std::ranges::find(all, "line 2: `+` becomes `-`", &Mutant::description);
  ASSERT_NE(minus, all.end());
  EXPECT_EQ(change_of(answer, *minus), (LineChange{{"g(a +"}, {"g(a -"}}));
  const auto gone = std::ranges::find(all, "line 1: without `f(a);`", &Mutant::description);
  ASSERT_NE(gone, all.end());
  EXPECT_EQ(change_of(answer, *gone), (LineChange{{"f(a);"}, {}}));
}

TEST(Mutants, OfAProgramWithAPlantedFaultChangeTheRepairAndHaveTheFault) {
  Blank answer;
  answer.text = {"f(1);", "// FAULT: g(a);", "g(b);", "// END FAULT", "h(2);", "i(3);"};
  std::set<std::string> descriptions;
  for (const Mutant& mutant : mutants_of(answer, Language::cpp)) {
    descriptions.insert(std::string(name_of(mutant.kind)) + ": " + mutant.description);
    if (mutant.kind == MutantKind::given) EXPECT_EQ(mutant.text, (Lines{"f(1);", "g(a);", "h(2);", "i(3);"}));
  }
  EXPECT_EQ(descriptions, (Mutations{"given: the program as it is given", "deletion: line 3: without `g(b);`",
                                     "order: line 1: `f(1);` and `g(b);` change places",
                                     "order: line 3: `g(b);` and `h(2);` change places"}));
  answer.text = {"f(1);", "// a comment"};
  EXPECT_EQ(mutants_of(answer, Language::cpp).size(), mutants_of(answer.text, Language::cpp).size());
}

TEST(ChosenMutants, AreOfAllKindsAndGoByTheSeed) {
  const std::vector<Mutant> all = mutants_of({"f(a + b + c + d + e, 1);", "g();"}, Language::cpp);
  const auto kinds_of = [](const std::vector<Mutant>& mutants) {
    std::set<MutantKind> kinds;
    for (const Mutant& mutant : mutants) kinds.insert(mutant.kind);
    return kinds;
  };
  const auto texts_of = [](const std::vector<Mutant>& mutants) {
    std::vector<Lines> texts;
    for (const Mutant& mutant : mutants) texts.push_back(mutant.text);
    return texts;
  };
  std::set<std::vector<Lines>> choices;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    EXPECT_EQ(kinds_of(chosen(all, 5, seed)).size(), 5u);
    EXPECT_EQ(texts_of(chosen(all, 5, seed)), texts_of(chosen(all, 5, seed)));
    choices.insert(texts_of(chosen(all, 5, seed)));
  }
  EXPECT_GT(choices.size(), 5u);
  EXPECT_EQ(texts_of(chosen(all, 100, 1)), texts_of(all));
}

}  // namespace
}  // namespace odori::grader
