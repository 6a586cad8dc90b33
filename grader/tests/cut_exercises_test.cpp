// SPDX-License-Identifier: Apache-2.0
// The program behind `./odori cut`, on a copy of the solutions.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "blanks/blanks.h"
#include "errors/error.h"
#include "run_command.h"

namespace odori::grader {
namespace {

namespace fs = std::filesystem;

/// Files with a solution: what is in the folders of solutions/ that have an exercise.json, without hints.
int n_files() {
  int n = 0;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(ODORI_FOLDER) / "solutions"))
    n += fs::exists(fs::path(entry.path()).replace_filename("exercise.json")) &&
                 (entry.path().extension() == ".cpp" || entry.path().filename().string().starts_with("run_"))
             ? 1
             : 0;
  return n;
}

class CutExercises : public testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(kit_);
    fs::create_directories(kit_);
    fs::copy(fs::path(ODORI_FOLDER) / "solutions", kit_ / "solutions", fs::copy_options::recursive);
  }
  Ended cut(const std::string& flags = "") const {
    return run_command(fmt::format("{} --kit {} {}", ODORI_CUT, kit_.string(), flags));
  }

  static void replace_in(const fs::path& file, const std::string& old, const std::string& fresh) {
    std::string text = read_file(file);
    const auto at = text.find(old);
    ASSERT_NE(at, std::string::npos) << old;
    std::ofstream(file) << text.replace(at, old.size(), fresh);
  }

  const fs::path kit_ = fs::path(ODORI_WORK_FOLDER) / "cut_exercises";
  const fs::path exercise_ = kit_ / "exercises/01_multi_gpu/train_cifar_multi_gpu.cpp";
  const fs::path script_ = kit_ / "jobscripts/run_multi_node_training.sh";
};

TEST_F(CutExercises, WritesAllOfThemOnce) {
  const Ended first = cut();
  EXPECT_EQ(first.code, 0) << first.output;
  EXPECT_EQ(first.count(" is written."), n_files()) << first.output;
  EXPECT_TRUE(fs::exists(exercise_));
  EXPECT_NE(fs::status(script_).permissions() & fs::perms::owner_exec, fs::perms::none);
  EXPECT_EQ(cut("--check").output, "");

  const Ended second = cut();
  EXPECT_EQ(second.code, 0);
  EXPECT_EQ(second.output, "");
}

TEST_F(CutExercises, CheckTellsWhatDiffersAndWritesNothing) {
  const Ended nothing_there = cut("--check");
  EXPECT_EQ(nothing_there.code, 1);
  EXPECT_EQ(nothing_there.count("line 1 should be"), n_files()) << nothing_there.output;
  EXPECT_FALSE(fs::exists(exercise_));

  cut();
  std::ofstream(exercise_, std::ios::app) << "// more\n";
  std::ofstream(kit_ / "exercises/old.cpp") << "\n";
  const Ended ending = cut("--check --strict");
  EXPECT_EQ(ending.code, 1);
  EXPECT_EQ(ending.count("train_cifar_multi_gpu.cpp: line "), 1) << ending.output;
  EXPECT_EQ(ending.count("should be the end of the file, and is \"// more\"."), 1) << ending.output;
  EXPECT_EQ(ending.count("exercises/old.cpp: no solution makes it."), 1) << ending.output;
  EXPECT_TRUE(fs::exists(kit_ / "exercises/old.cpp"));
}

/// What a learner writes into blanks counts for nothing, what stands elsewhere does.
TEST_F(CutExercises, CheckLeavesAnswersAside) {
  cut();
  replace_in(exercise_, "main_device_id = PUT_YOUR_CODE", "main_device_id = 0");
  replace_in(script_, "PUT_YOUR_CODE", "select=2:mpiprocs=2");
  EXPECT_EQ(cut("--check").output, "");
  EXPECT_EQ(cut("--check --strict").code, 1);

  replace_in(exercise_, "int main(", "int  more;\nint main(");
  const Ended ending = cut("--check");
  EXPECT_EQ(ending.code, 1);
  EXPECT_EQ(ending.count("was changed outside of the blanks"), 1) << ending.output;
  EXPECT_EQ(ending.count("./odori reset TASK"), 1) << ending.output;

  replace_in(exercise_, "END BLANK", "");
  EXPECT_EQ(cut("--check").count("blank 1 can't be found in it any more"), 1);
}

TEST_F(CutExercises, AnswersAreNeverOverwritten) {
  cut();
  replace_in(exercise_, "main_device_id = PUT_YOUR_CODE", "main_device_id = 0");
  replace_in(kit_ / "solutions/01_multi_gpu/train_cifar_multi_gpu.cpp", "// Run the training.", "// Now run it.");
  const std::string answer = read_file(exercise_);
  const Ended left = cut();
  EXPECT_EQ(left.count("train_cifar_multi_gpu.cpp holds answers of yours and is left as it is."), 1) << left.output;
  EXPECT_EQ(read_file(exercise_), answer);

  const Ended forced = cut("--force");
  EXPECT_EQ(forced.code, 0) << forced.output;
  EXPECT_NE(read_file(exercise_).find("// Now run it."), std::string::npos);
  const auto copies = fs::directory_iterator(kit_ / "out/kept");
  EXPECT_EQ(read_file(begin(copies)->path()), answer);
}

TEST_F(CutExercises, AnUnsolvedExerciseFollowsItsSolution) {
  cut();
  const fs::path solution = kit_ / "solutions/03_ring/ring.cpp";
  replace_in(solution, "int main(", "int added() {\n  // BLANK 9: Which?\n  return 1;\n  // END BLANK\n}\n\nint main(");
  const Ended ended = cut();
  EXPECT_EQ(ended.code, 0) << ended.output;
  EXPECT_EQ(ended.count("ring.cpp is written."), 1) << ended.output;
  EXPECT_NE(read_file(kit_ / "exercises/03_ring/ring.cpp").find("int added() {"), std::string::npos);
}

TEST_F(CutExercises, AProgramWithAPlantedFaultIsAnAnswerOnceItIsChanged) {
  const fs::path solution = kit_ / "solutions/03_ring/ring.cpp", exercise = kit_ / "exercises/03_ring/ring.cpp";
  cut();
  replace_in(solution, "int main(",
             "int added() {\n  // BLANK 9: Which?\n  // FAULT: return 1;\n  return 2;\n  // END FAULT\n  // END "
             "BLANK\n}\n\nint main(");
  EXPECT_EQ(cut().count("ring.cpp is written."), 1) << "another blank before";
  EXPECT_EQ(cut("--check --strict").output, "");
  replace_in(exercise, "return 1;", "return  1;  // really?");
  replace_in(solution, "int added() {", "/// Added.\nint added() {");
  EXPECT_EQ(cut().count("ring.cpp is written."), 1) << "it was as it was given";
  replace_in(exercise, "return 1;", "return 2;");
  EXPECT_EQ(cut("--check").output, "");
  replace_in(solution, "/// Added.", "/// Added now.");
  EXPECT_EQ(cut().count("ring.cpp holds answers of yours and is left as it is."), 1);
}

TEST_F(CutExercises, ASolutionThatCannotBeCutIsToldWithItsLine) {
  std::ofstream(kit_ / "solutions/01_multi_gpu/train_cifar_multi_gpu.cpp")
      << "// BLANK 1: ?\nauto a = 1;\n// END BLANK\nuse(a);\n";
  const Ended ending = cut();
  EXPECT_EQ(ending.code, 1);
  EXPECT_EQ(ending.count("solutions/01_multi_gpu/train_cifar_multi_gpu.cpp:2: blank 1 declares `auto a`."), 1)
      << ending.output;
  EXPECT_FALSE(fs::exists(kit_ / "exercises"));
}

}  // namespace
}  // namespace odori::grader
