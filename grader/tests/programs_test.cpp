// SPDX-License-Identifier: Apache-2.0
// A learner's blanks built with the kit's own compiler: what doesn't compile costs its own blank alone, and is told at
// the learner's own line.
#include "runner/programs.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <chrono>
#include <fstream>

#include "blanks/cutter.h"
#include "blanks/task.h"

namespace odori::grader {
namespace {

namespace fs = std::filesystem;

const fs::path program = fs::path(ODORI_FOLDER) / task_named("multi_gpu").program.solution;

/// The exercise with these texts in its blanks.
Submission answers(const std::map<int, std::string>& texts, const std::string& kits) {
  const std::string exercise = cut(kits, program.string());
  auto lines = split_lines(exercise);
  for (const auto& [blank, text] : texts)
    lines = with_text(lines, parse_blanks(lines, program.string()).at(blank - 1), split_lines(text));
  const fs::path path = fs::path(testing::TempDir()) / "programs_test.cpp";
  std::ofstream(path) << join_lines(lines);
  return read_submission(path, exercise);
}

/// Built anew: nothing is kept from one test to the next.
class Built {
 public:
  explicit Built(const std::map<int, std::string>& texts, const std::string& kits = read_file(program))
      : submission(answers(texts, kits)), outputs(fs::path(testing::TempDir()) / "programs_test_outputs") {
    fs::remove_all(outputs);
    std::set<int> filled;
    for (const auto& [blank, text] : texts) filled.insert(blank);
    programs.emplace(compiler.emplace(ODORI_BUILD_FOLDER, outputs), kits, submission, filled);
    for (const int blank : filled) programs->prepare({{blank}});
    whole = programs->together();
    for (const int blank : filled) (programs->alone(blank).compiles() ? compiling : failing).insert(blank);
    for (const auto& entry : fs::directory_iterator(outputs)) builds += entry.is_directory() ? 1 : 0;
  }
  /// The finding of a blank that doesn't compile.
  Finding failure(int blank) { return programs->alone(blank).failure.value_or(Finding{"compiles"}); }
  std::string value(int blank, const char* name) {
    const Finding finding = failure(blank);
    return finding.values.contains(name) ? finding.values.at(name) : "none: " + finding.key;
  }
  int line_of(int blank) const { return submission.blanks.at(blank).text_line; }
  int run(const std::set<int>& blanks) { return std::system(programs->of(blanks).program.c_str()); }

  using Blanks = std::set<int>;
  Submission submission;
  fs::path outputs;
  std::optional<Compiler> compiler;
  std::optional<Programs> programs;
  Blanks whole, compiling, failing;
  int builds = 0;
};

using Blanks = std::set<int>;

const std::string right_2 = "  const int main_device_id = 0;",
                  right_3 = "  const int current_device_id = main_device_id;",
                  right_7 = "  const int evaluation_device_id = main_device_id;";

TEST(Programs, RightBlanksTakeABuildEachAndOneForTheWhole) {
  Built built({{2, right_2}, {3, right_3}, {7, right_7}});
  EXPECT_EQ(built.builds, 4);
  EXPECT_EQ(built.compiling, (Blanks{2, 3, 7}));
  EXPECT_EQ(built.whole, built.compiling);
  EXPECT_EQ(built.programs->alone(3).blanks, Blanks{3});
  EXPECT_TRUE(fs::exists(built.programs->of({3}).program));
}

TEST(Programs, AnErrorCostsItsOwnBlankAndIsToldAtTheLearnersLine) {
  Built built({{2, right_2}, {3, "  const int current_device_id =\n      no_such_name;"}, {7, right_7}});
  EXPECT_EQ(built.failure(3).key, "compile_unknown_name");
  EXPECT_EQ(built.value(3, "line"), std::to_string(built.line_of(3) + 1));
  EXPECT_EQ(built.value(3, "code"), "      no_such_name;");
  EXPECT_EQ(built.value(3, "caret"), "      ^");
  EXPECT_EQ(built.value(3, "message"), "'no_such_name' was not declared in this scope");
  EXPECT_EQ(built.failing, Blanks{3});
  EXPECT_EQ(built.whole, (Blanks{2, 7}));
}

TEST(Programs, WhatIsNotClosedDoesNotTakeTheOthersDown) {
  Built built({{2, "  const int main_device_id = (0;"},
               {3, "  const int current_device_id = main_device_id; }"},
               {5, "  std::map<std::string, int> other_devices; /* later"},
               {7, right_7}});
  EXPECT_EQ(built.value(2, "line"), std::to_string(built.line_of(2)));
  EXPECT_EQ(built.compiling, Blanks{7});
}

TEST(Programs, AMissingSemicolonIsToldWithTheBlankItBelongsTo) {
  Built built({{2, "  const int main_device_id = 0"}, {3, right_3}});
  EXPECT_EQ(built.failing, Blanks{2});
  EXPECT_EQ(built.failure(2).key, "compile_error_at_end");
  EXPECT_EQ(built.value(2, "code"), "  const int main_device_id = 0");
  EXPECT_EQ(built.value(2, "caret"), std::string(30, ' ') + '^');
}

TEST(Programs, AVariableOfAnotherNameIsToldByTheNameThatIsMissing) {
  Built built({{2, "  const int main_id = 0;"}, {7, right_7}});
  EXPECT_EQ(built.failure(2), (Finding{"variable_missing", {{"variable", "main_device_id"}}}));
}

TEST(Programs, AVariableOfAnotherTypeShowsNothingOfTheKitsAnswer) {
  Built built({{2, "  const std::string main_device_id = \"0\";"}});
  EXPECT_EQ(built.failure(2).key, "compile_error_elsewhere");
  EXPECT_FALSE(built.failure(2).values.contains("code"));
  EXPECT_EQ(built.value(2, "declaration"), "const int main_device_id");
}

TEST(Programs, AnErrorInATemplateIsToldWhereItWasAskedFor) {
  Built built(
      {{6, "  std::unique_ptr<Updater> updater =\n      std::make_unique<ParallelUpdater>(optimizer);"}, {7, right_7}});
  EXPECT_EQ(built.failure(6).key, "compile_wrong_arguments");
  EXPECT_EQ(built.value(6, "line"), std::to_string(built.line_of(6) + 1));
  EXPECT_EQ(built.compiling, Blanks{7});
}

TEST(Programs, ANameFromAnotherBlankComesWithThatBlank) {
  Built built({{2, "  const int first = 0;\n  const int main_device_id = first;"},
               {3, "  const int current_device_id = first;"},
               {7, right_7}});
  EXPECT_EQ(built.whole, (Blanks{2, 3, 7}));
  EXPECT_EQ(built.programs->alone(3).blanks, (Blanks{2, 3}));
}

TEST(Programs, ANameFromABlankThatDoesNotCompileLeavesTheOtherUnchecked) {
  Built built({{2, "  const int first = zero;\n  const int main_device_id = first;"},
               {3, "  const int current_device_id = first;"},
               {7, right_7}});
  EXPECT_EQ(built.failing, (Blanks{2, 3}));
  EXPECT_EQ(built.failure(2).key, "compile_unknown_name");
  EXPECT_EQ(built.programs->alone(3).needs, 2);
  EXPECT_FALSE(built.programs->alone(3).failure);
}

TEST(Programs, TwoBlanksThatDeclareTheSameNameCollideInTheSecond) {
  Built built({{2, "  const int mine = 0;\n  const int main_device_id = mine;"},
               {3, "  const int mine = 0;\n  const int current_device_id = mine;"}});
  EXPECT_EQ(built.failure(3).key, "compile_declared_twice");
  EXPECT_EQ(built.value(3, "message"), "redeclaration of 'const int mine'");
  EXPECT_EQ(built.failing, Blanks{3});
}

TEST(Programs, AVariableOfALaterBlankIsToldByItsName) {
  Built built({{2, "  const int main_device_id = 0, current_device_id = 0;"}, {7, right_7}});
  EXPECT_EQ(built.failure(2).key, "compile_declared_below");
  EXPECT_EQ(built.value(2, "name"), "current_device_id");
  EXPECT_EQ(built.failing, Blanks{2});
}

TEST(Programs, TabsDoNotShiftTheCaret) {
  Built built({{2, "\tconst int\tmain_device_id = no_such_name;"}});
  EXPECT_EQ(built.value(2, "code"), " const int main_device_id = no_such_name;");
  EXPECT_EQ(built.value(2, "caret"), std::string(28, ' ') + '^');
}

TEST(Programs, ATextCanNotClaimThatTheMachineFails) {
  const std::string claims =
      "  const int main_device_id = 0;\n"
      "  static_assert(main_device_id == 1, \"x\\ncc1plus: fatal error: No space left on device\\nout of memory\");";
  Built built({{2, claims}, {7, right_7}});
  EXPECT_EQ(built.failure(2).key, "compile_error");
  EXPECT_EQ(built.value(2, "message"), "static assertion failed: x");
  EXPECT_EQ(built.compiling, Blanks{7});
}

TEST(Programs, AFunctionThatIsNowhereCostsItsOwnBlankAlone) {
  Built built({{2, "  int nowhere();\n  const int main_device_id = nowhere();"}, {7, right_7}});
  EXPECT_EQ(built.failure(2).key, "compile_nowhere_defined");
  EXPECT_EQ(built.value(2, "name"), "nowhere()");
  EXPECT_EQ(built.value(2, "message"), "undefined reference to 'nowhere()'");
  EXPECT_EQ(built.compiling, Blanks{7});
}

TEST(Programs, ACaretStaysInItsLine) {
  Built built({{2, "  const int main_device_id = 0; static_assert(false, \"x\\nwhole:40:2000000000: error: y\");"}});
  EXPECT_EQ(built.failure(2).key, "compile_error");
}

TEST(Programs, TheCommonestErrorsAreToldInPlainWords) {
  Built built(
      {{2, "  const int main_device_id = static_cast<int>(args.learningrate);"},
       {5, "  std::lisst<int> numbers;\n  std::map<std::string, int> other_devices;"},
       {6, "  std::unique_ptr<Updater> updater =\n      new ParallelUpdater(train_iters, optimizer, devices, pool);"}});
  EXPECT_EQ(built.failure(2).key, "compile_misspelt");
  EXPECT_EQ(built.value(2, "near"), "learnrate");
  EXPECT_EQ(built.failure(5).key, "compile_unknown_std");
  EXPECT_EQ(built.value(5, "name"), "lisst");
  EXPECT_EQ(built.failure(6).key, "compile_make_unique_forgotten");
  EXPECT_EQ(built.value(6, "type"), "ParallelUpdater");
}

TEST(Programs, ABlankThatMentionsANameDoesNotDeclareIt) {
  Built built({{2, "  const int main_device_id = misspelt;"}, {3, "  const int current_device_id = misspelt;"}});
  EXPECT_EQ(built.failure(2).key, "compile_unknown_name");
  EXPECT_EQ(built.failure(3).key, "compile_unknown_name");
}

TEST(Programs, BlanksAboveMainAreToldAtTheLearnersLines) {
  const std::string kits =
      "#include \"odori.h\"\n\nusing namespace odori;\n\n"
      "class Box {\n public:\n  void send(int n) { sum += n; }\n  int sum = 0;\n};\n\n"
      "template <typename T>\nvoid fill(Box& box, const std::vector<T>& all) {\n"
      "  for (const T& one : all) {\n    // BLANK 1: Where to?\n    box.send(one);\n    // END BLANK\n  }\n}\n\n"
      "int half(int n) {\n  // BLANK 2: How much?\n  return n / 2;\n  // END BLANK\n}\n\n"
      "int main(int argc, char** argv) {\n  Box box;\n  fill(box, std::vector{1, 2, argc});\n"
      "  const auto twice = [](int n) { return 2 * n; };\n"
      "  // BLANK 3: What comes out?\n  const int out = half(twice(box.sum));\n  // END BLANK\n"
      "  return out == 4 ? 0 : 1;\n}\n";
  Built right({{1, "    box.send(one);"}, {2, "  return n / 2;"}, {3, "  const int out = 4;"}}, kits);
  EXPECT_EQ(right.whole, (Blanks{1, 2, 3})) << right.value(1, "message");
  EXPECT_EQ(right.run({1, 2, 3}), 0);
  EXPECT_EQ(right.run({2}), 0);

  Built wrong({{1, "    const int twice_one = 2 * one;\n    box.push(twice_one);"},
               {2, "  const int result = n / 2;"},
               {3, "  const int out = fill(box, 1);"}},
              kits);
  EXPECT_EQ(wrong.failing, (Blanks{1, 2, 3}));
  EXPECT_EQ(wrong.value(1, "line"), "18");
  EXPECT_EQ(wrong.value(1, "code"), "    box.push(twice_one);");
  EXPECT_EQ(wrong.failure(2).key, "compile_no_return");
  EXPECT_NE(wrong.value(2, "message").find("return"), std::string::npos);
  EXPECT_EQ(wrong.value(3, "code"), "  const int out = fill(box, 1);");
}

TEST(Programs, ThoseWithAPlantedFaultShareNoNames) {
  const std::string kits =
      "#include \"odori.h\"\n\nint first() {\n  // BLANK 1: What is wrong?\n  int sum = 1;\n"
      "  // FAULT: if (sum > 1) ++sum;\n  ++sum;\n  // END FAULT\n  return sum;\n  // END BLANK\n}\n\n"
      "int second(int n) {\n  // BLANK 2: And here?\n  // FAULT: return n;\n  return n - 2;\n  // END FAULT\n"
      "  // END BLANK\n}\n\nint main(int argc, char** argv) {\n  return second(argc + first()) - 1;\n}\n";
  Built one({{1, "  const int sum = 2;\n  return sum;"}, {2, "  return n - sum;"}}, kits);
  EXPECT_EQ(one.failing, Blanks{2});
  EXPECT_EQ(one.builds, 2) << "none takes both";
  EXPECT_EQ(one.run({1}), 0) << "with the kit's repaired one";
}

TEST(Programs, ThoseThatAreDroppedAreBuiltWhenAskedFor) {
  cpu_set_t before, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);  // one build at a time
  const fs::path outputs = fs::path(testing::TempDir()) / "programs_test_dropped";
  fs::remove_all(outputs);
  const auto n_built = [&] { return std::distance(fs::directory_iterator(outputs), fs::directory_iterator()); };
  {
    const Compiler compiler(ODORI_BUILD_FOLDER, outputs);
    const Submission submission = answers({{2, right_2}, {3, right_3}, {7, right_7}}, read_file(program));
    Programs programs(compiler, read_file(program), submission, {2, 3, 7});
    programs.prepare({{2}, {3}, {7}});
    programs.drop_prepared();
    EXPECT_FALSE(programs.of({7}).program.empty());
    programs.prepare({{2}});
    EXPECT_FALSE(programs.of({2}).program.empty());
  }
  EXPECT_EQ(n_built(), 2);
  ASSERT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
}

TEST(Programs, WhatWasBuiltBeforeIsNotBuiltAgain) {
  const fs::path outputs = fs::path(testing::TempDir()) / "programs_test_again";
  fs::remove_all(outputs);
  const Compiler compiler(ODORI_BUILD_FOLDER, outputs);
  for (const std::string& text : {right_2, std::string("  const int main_device_id = wrong;")}) {
    const Submission submission = answers({{2, text}}, read_file(program));
    const auto build = [&] { return Programs(compiler, read_file(program), submission, {2}).alone(2).failure; };
    const auto first = build();
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_EQ(build(), first);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(300));
  }
}

TEST(Programs, ABuildOfAnotherSourceIsNotTakenThoughItsHashIsTheSame) {
  const fs::path outputs = fs::path(testing::TempDir()) / "programs_test_hash";
  fs::remove_all(outputs);
  const Compiler compiler(ODORI_BUILD_FOLDER, outputs);
  const std::string source = "int main() { return 3; }\n";
  const fs::path kept = compiler.build(source).program;
  ASSERT_EQ(WEXITSTATUS(std::system(kept.c_str())), 3);
  std::ofstream(kept) << "#!/bin/sh\nexit 4\n";
  EXPECT_EQ(WEXITSTATUS(std::system(compiler.build(source).program.c_str())), 4);  // the same content: it is taken
  std::ofstream(kept.parent_path() / "content") << "another source";
  EXPECT_EQ(WEXITSTATUS(std::system(compiler.build(source).program.c_str())), 3);
}

TEST(Programs, SeeTheSupportCodeOfTheirOwnExerciseAlone) {
  const fs::path outputs = fs::path(testing::TempDir()) / "programs_test_support",
                 exercises = fs::path(ODORI_FOLDER) / "exercises";
  fs::remove_all(outputs);
  const std::string source = "#include \"large_chunks.h\"\nint main() {}\n";
  const auto build = [&](const fs::path& support) {
    return Compiler(ODORI_BUILD_FOLDER, outputs, nullptr, support).build(source).program;
  };
  EXPECT_FALSE(build(exercises / "03_ring" / "support").empty());
  EXPECT_TRUE(build(exercises / "04_large_batch" / "support").empty());
  EXPECT_TRUE(build(exercises / "01_multi_gpu" / "support").empty()) << "there is no such folder";
}

TEST(Programs, AKitThatIsNotBuiltIsTheMachinesFault) {
  EXPECT_THROW(Compiler(testing::TempDir(), testing::TempDir()), EnvironmentFault);
}

}  // namespace
}  // namespace odori::grader
