// The program behind `./odori cut`, on a copy of the solutions.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "core/error.h"
#include "run_command.h"

namespace odori::grader {
namespace {

namespace fs = std::filesystem;

class CutExercises : public testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(kit_);
    fs::create_directories(kit_);
    fs::copy(fs::path(ODORI_FOLDER) / "solutions", kit_ / "solutions", fs::copy_options::recursive);
  }
  Ending cut(const std::string& flags = "") const {
    return run_command(fmt::format("{} --kit {} {}", ODORI_CUT, kit_.string(), flags));
  }

  const fs::path kit_ = fs::path(ODORI_WORK_FOLDER) / "cut_exercises";
  const fs::path exercise_ = kit_ / "exercises/01_multi_gpu/train_cifar_multi_gpu.cpp";
  const fs::path script_ = kit_ / "jobscripts/run_multi_node_training.sh";
};

TEST_F(CutExercises, WritesAllOfThemOnce) {
  const Ending first = cut();
  EXPECT_EQ(first.code, 0) << first.output;
  EXPECT_EQ(first.count(" is written."), 7) << first.output;
  EXPECT_TRUE(fs::exists(exercise_));
  EXPECT_NE(fs::status(script_).permissions() & fs::perms::owner_exec, fs::perms::none);
  EXPECT_EQ(cut("--check").output, "");

  const Ending second = cut();
  EXPECT_EQ(second.code, 0);
  EXPECT_EQ(second.output, "");
}

TEST_F(CutExercises, CheckTellsWhatDiffersAndWritesNothing) {
  const Ending nothing_there = cut("--check");
  EXPECT_EQ(nothing_there.code, 1);
  EXPECT_EQ(nothing_there.count("line 1 should be"), 7) << nothing_there.output;
  EXPECT_FALSE(fs::exists(exercise_));

  cut();
  std::ofstream(exercise_, std::ios::app) << "// more\n";
  std::ofstream(kit_ / "exercises/old.cpp") << "\n";
  const Ending ending = cut("--check");
  EXPECT_EQ(ending.code, 1);
  EXPECT_EQ(ending.count("train_cifar_multi_gpu.cpp: line "), 1) << ending.output;
  EXPECT_EQ(ending.count("should be the end of the file, and is \"// more\"."), 1) << ending.output;
  EXPECT_EQ(ending.count("exercises/old.cpp: no solution makes it."), 1) << ending.output;
  EXPECT_TRUE(fs::exists(kit_ / "exercises/old.cpp"));
}

TEST_F(CutExercises, ASolutionThatCannotBeCutIsToldWithItsLine) {
  std::ofstream(kit_ / "solutions/01_multi_gpu/train_cifar_multi_gpu.cpp")
      << "// BLANK 1: ?\nauto a = 1;\n// END BLANK\n";
  const Ending ending = cut();
  EXPECT_EQ(ending.code, 1);
  EXPECT_EQ(ending.count("solutions/01_multi_gpu/train_cifar_multi_gpu.cpp:2: blank 1 declares `auto a`."), 1)
      << ending.output;
  EXPECT_FALSE(fs::exists(kit_ / "exercises"));
}

}  // namespace
}  // namespace odori::grader
