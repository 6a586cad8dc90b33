// SPDX-License-Identifier: Apache-2.0
#include "learner/state.h"

#include <gtest/gtest.h>

#include <fstream>

#include "blanks/blanks.h"
#include "learner/saved_files.h"

namespace odori::grader {
namespace {

namespace fs = std::filesystem;

class StateTest : public testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void write(const std::string& text) const { std::ofstream(file_) << text; }

  const fs::path folder_ = fs::path(testing::TempDir()) / "odori_state_test";
  const fs::path file_ = folder_ / ".odori_state";
};

TEST_F(StateTest, NoFileIsAnEmptyState) {
  const State state(file_);
  EXPECT_FALSE(state.damaged());
  EXPECT_FALSE(state.verdict("multi_gpu", 1));
  EXPECT_EQ(state.hints("multi_gpu", 1), 0);
}

TEST_F(StateTest, RemembersVerdictsPointsAndHints) {
  write("hint multi_node 7 3\n");
  {
    State state(file_);
    state.remember("multi_gpu", {.blank = 3, .verdict = Verdict::wrong, .points = 0, .of = 10}, {"a"});
    state.remember("multi_gpu", {.blank = 4, .verdict = Verdict::pass, .points = 2.5, .of = 2.5}, {"b"});
    state.save();
  }
  const State state(file_);
  EXPECT_EQ(state.verdict("multi_gpu", 3)->verdict, "WRONG");
  EXPECT_EQ(state.verdict("multi_gpu", 4)->points, 2.5);
  EXPECT_EQ(state.verdict("multi_gpu", 4)->text, fingerprint({"b"}));
  EXPECT_NE(fingerprint({"a"}), fingerprint({"b"}));
  EXPECT_EQ(state.hints("multi_node", 7), 3);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1) << "something else was left behind";
}

TEST_F(StateTest, WhatTheMachineDidChangesNothing) {
  State state(file_);
  state.remember("multi_gpu", {.blank = 3, .verdict = Verdict::pass, .points = 10, .of = 10}, {});
  state.remember("multi_gpu", {.blank = 3, .verdict = Verdict::environment}, {});
  EXPECT_EQ(state.verdict("multi_gpu", 3)->verdict, "PASS");
  state.remember("multi_gpu", {.blank = 3, .verdict = Verdict::not_checked}, {});
  EXPECT_FALSE(state.verdict("multi_gpu", 3));
}

TEST_F(StateTest, AMeasuredSpeedupStaysUntilABlankIsWrongAgain) {
  State state(file_);
  state.remember("multi_gpu", {.blank = 0, .verdict = Verdict::pass, .points = 20, .of = 20}, {});
  state.remember("multi_gpu", {.blank = 0, .finding = Finding{"speedup_not_asked", {}}}, {});
  EXPECT_TRUE(state.verdict("multi_gpu", 0));
  state.remember("multi_gpu", {.blank = 0, .finding = Finding{"speedup_waits", {}}}, {});
  EXPECT_FALSE(state.verdict("multi_gpu", 0));
}

TEST_F(StateTest, ForgetsTheVerdictsOfABlankOrATaskAndNoHints) {
  write(
      "verdict multi_gpu 1 PASS 20 20 0\nverdict multi_gpu 2 PASS 5 5 0\nverdict multi_node 1 PASS 15 15 0\n"
      "hint multi_gpu 1 2\n");
  State state(file_);
  state.forget("multi_gpu", 1);
  EXPECT_FALSE(state.verdict("multi_gpu", 1));
  EXPECT_TRUE(state.verdict("multi_gpu", 2));
  state.forget("multi_gpu");
  EXPECT_FALSE(state.verdict("multi_gpu", 2));
  EXPECT_TRUE(state.verdict("multi_node", 1));
  EXPECT_EQ(state.hints("multi_gpu", 1), 2);
}

TEST_F(StateTest, ADamagedFileIsKeptAndBegunAnew) {
  for (const std::string text : {"verdict multi_gpu\n", "verdict multi_gpu 99 PASS 1 1 0\n", "\x7f\x45LF\x01\x02",
                                 "verdict no_task 1 PASS 1 1 0\n", "song multi_gpu 1 la\n", "hint multi_gpu 1 x\n"}) {
    write("hint multi_gpu 1 2\n" + text);
    State state(file_);
    EXPECT_TRUE(state.damaged()) << text;
    EXPECT_EQ(state.hints("multi_gpu", 1), 0);
    EXPECT_EQ(read_file(file_.string() + ".damaged"), "hint multi_gpu 1 2\n" + text);
    state.save();
    EXPECT_FALSE(State(file_).damaged());
  }
}

TEST_F(StateTest, SavesOfWatchedFilesAreSeenWhenTheyAreComplete) {
  const fs::path program = folder_ / "a.cpp", script = folder_ / "b.sh";
  std::ofstream(program) << "one\n";
  std::ofstream(script) << "one\n";
  SavedFiles files({program, script});
  EXPECT_FALSE(files.saved());

  std::ofstream(program) << "";  // an editor begins to write
  EXPECT_FALSE(files.saved());
  EXPECT_FALSE(files.saved());
  std::ofstream(program) << "tw";
  EXPECT_FALSE(files.saved());
  std::ofstream(program) << "two\n";
  EXPECT_FALSE(files.saved());
  EXPECT_TRUE(files.saved());
  EXPECT_FALSE(files.saved());

  fs::remove(script);  // a save by rename: away for a moment
  EXPECT_FALSE(files.saved());
  EXPECT_FALSE(files.saved());
  std::ofstream(folder_ / "b.new") << "two\n";
  fs::rename(folder_ / "b.new", script);
  EXPECT_FALSE(files.saved());
  EXPECT_TRUE(files.saved());

  // Saved again without a change.
  fs::last_write_time(program, fs::last_write_time(program) + std::chrono::seconds(1));
  EXPECT_FALSE(files.saved());
  EXPECT_TRUE(files.saved());
}

}  // namespace
}  // namespace odori::grader
