// A learner's blanks built with the kit's own compiler: what doesn't compile costs its own blank alone, and is told at
// the learner's own line.
#include "worker/programs.h"

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>

#include "exercise/cutter.h"
#include "exercise/task.h"

namespace odori::grader {
namespace {

namespace fs = std::filesystem;

const fs::path program = fs::path(ODORI_FOLDER) / task_named("multi_gpu").program.solution;

/// The exercise with these texts in its blanks.
Submission answers(const std::map<int, std::string>& texts) {
  const std::string exercise = cut(read_file(program), program.string());
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
  explicit Built(const std::map<int, std::string>& texts) : submission(answers(texts)) {
    const fs::path outputs = fs::path(testing::TempDir()) / "programs_test_outputs";
    fs::remove_all(outputs);
    std::set<int> filled;
    for (const auto& [blank, text] : texts) filled.insert(blank);
    programs = build_programs(Compiler(ODORI_BUILD_FOLDER, outputs), read_file(program), submission, filled);
    for (const auto& entry : fs::directory_iterator(outputs)) builds += entry.is_directory() ? 1 : 0;
  }
  /// The finding of a blank that doesn't compile.
  Finding failure(int blank) const {
    return programs.failures.contains(blank) ? programs.failures.at(blank) : Finding{"compiles"};
  }
  std::string value(int blank, const char* name) const {
    const Finding finding = failure(blank);
    return finding.values.contains(name) ? finding.values.at(name) : "none: " + finding.key;
  }
  int line_of(int blank) const { return submission.blanks.at(blank).text_line; }

  Submission submission;
  BuiltPrograms programs;
  int builds = 0;
};

const std::string right_2 = "  const int main_device_id = 0;",
                  right_3 = "  const int current_device_id = main_device_id;",
                  right_7 = "  const int evaluation_device_id = main_device_id;";

TEST(Programs, RightBlanksTakeOneBuild) {
  const Built built({{2, right_2}, {3, right_3}, {7, right_7}});
  EXPECT_EQ(built.builds, 1);
  EXPECT_TRUE(built.programs.failures.empty());
  ASSERT_TRUE(built.programs.whole);
  EXPECT_EQ(built.programs.whole->variant, "whole");
  EXPECT_EQ(built.programs.of_blank.size(), 3u);
  EXPECT_EQ(built.programs.of_blank.at(3).variant, "blank_3");
  EXPECT_TRUE(fs::exists(built.programs.of_blank.at(3).file));
}

TEST(Programs, AnErrorCostsItsOwnBlankAndIsToldAtTheLearnersLine) {
  const Built built({{2, right_2}, {3, "  const int current_device_id =\n      no_such_name;"}, {7, right_7}});
  EXPECT_EQ(built.builds, 2);
  EXPECT_EQ(built.failure(3).key, "compile_unknown_name");
  EXPECT_EQ(built.value(3, "line"), std::to_string(built.line_of(3) + 1));
  EXPECT_EQ(built.value(3, "code"), "      no_such_name;");
  EXPECT_EQ(built.value(3, "caret"), "      ^");
  EXPECT_EQ(built.value(3, "message"), "'no_such_name' was not declared in this scope");
  EXPECT_EQ(built.programs.failures.size(), 1u);
  EXPECT_EQ(built.programs.of_blank.size(), 2u);
  EXPECT_TRUE(built.programs.whole);
}

TEST(Programs, WhatIsNotClosedDoesNotTakeTheOthersDown) {
  const Built built({{2, "  const int main_device_id = (0;"},
                     {3, "  const int current_device_id = main_device_id; }"},
                     {5, "  std::map<std::string, int> other_devices; /* later"},
                     {7, right_7}});
  EXPECT_EQ(built.value(2, "line"), std::to_string(built.line_of(2)));
  EXPECT_EQ(built.programs.failures.size(), 3u);
  EXPECT_EQ(built.programs.of_blank.size(), 1u);
  EXPECT_TRUE(built.programs.of_blank.contains(7));
}

TEST(Programs, AMissingSemicolonIsToldWithTheBlankItBelongsTo) {
  const Built built({{2, "  const int main_device_id = 0"}, {3, right_3}});
  EXPECT_EQ(built.programs.failures.size(), 1u);
  EXPECT_EQ(built.failure(2).key, "compile_error_at_end");
  EXPECT_EQ(built.value(2, "code"), "  const int main_device_id = 0");
  EXPECT_EQ(built.value(2, "caret"), std::string(30, ' ') + '^');
}

TEST(Programs, AVariableOfAnotherNameIsToldByTheNameThatIsMissing) {
  const Built built({{2, "  const int main_id = 0;"}, {7, right_7}});
  EXPECT_EQ(built.failure(2), (Finding{"variable_missing", {{"variable", "main_device_id"}}}));
}

TEST(Programs, AVariableOfAnotherTypeShowsNothingOfTheKitsAnswer) {
  const Built built({{2, "  const std::string main_device_id = \"0\";"}});
  EXPECT_EQ(built.failure(2).key, "compile_error_elsewhere");
  EXPECT_FALSE(built.failure(2).values.contains("code"));
  EXPECT_EQ(built.value(2, "declaration"), "const int main_device_id");
}

TEST(Programs, AnErrorInATemplateIsToldWhereItWasAskedFor) {
  const Built built(
      {{6, "  std::unique_ptr<Updater> updater =\n      std::make_unique<ParallelUpdater>(optimizer);"}, {7, right_7}});
  EXPECT_EQ(built.failure(6).key, "compile_wrong_arguments");
  EXPECT_EQ(built.value(6, "line"), std::to_string(built.line_of(6) + 1));
  EXPECT_TRUE(built.programs.of_blank.contains(7));
}

TEST(Programs, ANameFromAnotherBlankComesWithThatBlank) {
  const Built built({{2, "  const int first = 0;\n  const int main_device_id = first;"},
                     {3, "  const int current_device_id = first;"},
                     {7, right_7}});
  EXPECT_TRUE(built.programs.failures.empty());
  EXPECT_EQ(built.programs.of_blank.size(), 3u);
  EXPECT_EQ(built.builds, 2);
}

TEST(Programs, ANameFromABlankThatDoesNotCompileLeavesTheOtherUnchecked) {
  const Built built({{2, "  const int first = zero;\n  const int main_device_id = first;"},
                     {3, "  const int current_device_id = first;"},
                     {7, right_7}});
  EXPECT_EQ(built.programs.failures.size(), 1u);
  EXPECT_TRUE(built.programs.failures.contains(2));
  EXPECT_EQ(built.programs.needs_failed, (std::map<int, int>{{3, 2}}));
  EXPECT_TRUE(built.programs.of_blank.contains(7));
}

TEST(Programs, TwoBlanksThatDeclareTheSameNameCollideInTheSecond) {
  const Built built({{2, "  const int mine = 0;\n  const int main_device_id = mine;"},
                     {3, "  const int mine = 0;\n  const int current_device_id = mine;"}});
  EXPECT_EQ(built.failure(3).key, "compile_declared_twice");
  EXPECT_EQ(built.value(3, "message"), "redeclaration of 'const int mine'");
  EXPECT_FALSE(built.programs.failures.contains(2));
}

TEST(Programs, AVariableOfALaterBlankIsToldByItsName) {
  const Built built({{2, "  const int main_device_id = 0, current_device_id = 0;"}, {7, right_7}});
  EXPECT_EQ(built.failure(2).key, "compile_declared_below");
  EXPECT_EQ(built.value(2, "name"), "current_device_id");
  EXPECT_EQ(built.programs.failures.size(), 1u);
}

TEST(Programs, TabsDoNotShiftTheCaret) {
  const Built built({{2, "\tconst int\tmain_device_id = no_such_name;"}});
  EXPECT_EQ(built.value(2, "code"), " const int main_device_id = no_such_name;");
  EXPECT_EQ(built.value(2, "caret"), std::string(28, ' ') + '^');
}

TEST(Programs, ATextCanNotClaimThatTheMachineFails) {
  const std::string claims =
      "  const int main_device_id = 0;\n"
      "  static_assert(main_device_id == 1, \"x\\ncc1plus: fatal error: No space left on device\\nout of memory\");";
  const Built built({{2, claims}, {7, right_7}});
  EXPECT_EQ(built.failure(2).key, "compile_error");
  EXPECT_EQ(built.value(2, "message"), "static assertion failed: x");
  EXPECT_TRUE(built.programs.of_blank.contains(7));
}

TEST(Programs, AFunctionThatIsNowhereCostsItsOwnBlankAlone) {
  const Built built({{2, "  int nowhere();\n  const int main_device_id = nowhere();"}, {7, right_7}});
  EXPECT_EQ(built.failure(2).key, "compile_nowhere_defined");
  EXPECT_EQ(built.value(2, "name"), "nowhere()");
  EXPECT_EQ(built.value(2, "message"), "undefined reference to 'nowhere()'");
  EXPECT_TRUE(built.programs.of_blank.contains(7));
}

TEST(Programs, ACaretStaysInItsLine) {
  const Built built(
      {{2, "  const int main_device_id = 0; static_assert(false, \"x\\nwhole:40:2000000000: error: y\");"}});
  EXPECT_EQ(built.failure(2).key, "compile_error");
}

TEST(Programs, TheCommonestErrorsAreToldInPlainWords) {
  const Built built(
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

TEST(Programs, TheCompilerItselfRefusesFilesAndSignalsThatAreInStdToo) {
  const Built built({{1, "  std::vector<SerialIterator> train_iters;\n  std::remove(\"file\");"},
                     {2,
                      "  std::vector<int> n{1, 0};\n  n.erase(std::remove(n.begin(), n.end(), 1), n.end());\n"
                      "  const int main_device_id = n[0];"},
                     {3, right_3 + " std::exit(0);"},
                     {4, "  std::map<std::string, int> devices;\n  auto f = &std::raise;"},
                     {5, "  std::map<std::string, int> other_devices;\n  std::rename(\"a\", \"b\");"},
                     {7, right_7 + " [[gnu::constructor]] void early();"}});
  for (const auto& [blank, name] : {std::pair{1, "remove"}, {3, "exit"}, {4, "raise"}, {5, "rename"}, {7, "gnu"}})
    EXPECT_NE(built.value(blank, "message").find(name), std::string::npos) << built.value(blank, "message");
  EXPECT_EQ(built.failure(2).key, "compiles");
}

TEST(Programs, WhatABlankDeclaresAnewOrLeavesOpenIsNotTheKits) {
  const Built built({{2,
                      "  struct MomentumSGD {};\n  struct Classifier {};\n  const int main_device_id = 0;\n"
                      "  struct odori {};\n  const auto print_devices = [](int) {};"},
                     {3, right_3 + " if (false)"}});
  EXPECT_EQ(built.failure(2).key, "compiles") << built.value(2, "message");
  EXPECT_EQ(built.failure(3).key, "compiles") << built.value(3, "message");
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
  const fs::path outputs = fs::path(testing::TempDir()) / "programs_test_above_main", path = outputs / "exercise.cpp";
  fs::remove_all(outputs);
  fs::create_directories(outputs);
  const Compiler compiler(ODORI_BUILD_FOLDER, outputs / "built");
  const std::string exercise = cut(kits, "kits.cpp");
  const auto programs_of = [&](const std::map<int, std::string>& texts) {
    auto lines = split_lines(exercise);
    for (const auto& [blank, text] : texts)
      lines =
          with_text(lines, parse_blanks(lines, "kits.cpp").at(static_cast<std::size_t>(blank) - 1), split_lines(text));
    std::ofstream(path) << join_lines(lines);
    return build_programs(compiler, kits, read_submission(path, exercise), {1, 2, 3});
  };
  const auto value = [](const Finding& finding, const char* name) {
    return finding.values.contains(name) ? finding.values.at(name) : "none: " + finding.key;
  };

  const BuiltPrograms right =
      programs_of({{1, "    box.send(one);"}, {2, "  return n / 2;"}, {3, "  const int out = 4;"}});
  for (const auto& [blank, finding] : right.failures) ADD_FAILURE() << blank << ": " << value(finding, "message");
  ASSERT_TRUE(right.whole);
  EXPECT_EQ(std::system((right.whole->file.string() + " whole").c_str()), 0);
  EXPECT_EQ(std::system((right.of_blank.at(2).file.string() + " blank_2").c_str()), 0);

  const BuiltPrograms wrong = programs_of({{1, "    const int twice_one = 2 * one;\n    box.push(twice_one);"},
                                           {2, "  const int result = n / 2;"},
                                           {3, "  const int out = fill(box, 1);"}});
  EXPECT_EQ(wrong.failures.size(), 3u);
  EXPECT_EQ(value(wrong.failures.at(1), "line"), "18");
  EXPECT_EQ(value(wrong.failures.at(1), "code"), "    box.push(twice_one);");
  EXPECT_EQ(wrong.failures.at(2).key, "compile_error_around");
  EXPECT_NE(value(wrong.failures.at(2), "message").find("return"), std::string::npos);
  EXPECT_EQ(value(wrong.failures.at(3), "code"), "  const int out = fill(box, 1);");

  // A member of the system's name is the program's; the system's is nobody's.
  const BuiltPrograms system =
      programs_of({{1, "    ::send(1, nullptr, 0, 0);"}, {2, "  return n / 2;"}, {3, "  const int out = 4;"}});
  EXPECT_TRUE(system.failures.contains(1));
  EXPECT_EQ(system.of_blank.size(), 2u);
}

TEST(Programs, WhatWasBuiltBeforeIsNotBuiltAgain) {
  const fs::path outputs = fs::path(testing::TempDir()) / "programs_test_again";
  fs::remove_all(outputs);
  const Compiler compiler(ODORI_BUILD_FOLDER, outputs);
  for (const std::string& text : {right_2, std::string("  const int main_device_id = wrong;")}) {
    const Submission submission = answers({{2, text}});
    const auto build = [&] { return build_programs(compiler, read_file(program), submission, {2}); };
    const BuiltPrograms first = build();
    const auto begin = std::chrono::steady_clock::now();
    const BuiltPrograms again = build();
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(300));
    EXPECT_EQ(first.failures, again.failures);
    EXPECT_EQ(first.of_blank.contains(2), again.of_blank.contains(2));
  }
}

TEST(Programs, AKitThatIsNotBuiltIsTheMachinesFault) {
  EXPECT_THROW(Compiler(testing::TempDir(), testing::TempDir()), EnvironmentFault);
}

}  // namespace
}  // namespace odori::grader
