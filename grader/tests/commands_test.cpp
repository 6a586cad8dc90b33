// SPDX-License-Identifier: Apache-2.0
// ./odori status, reset, solution and hint, on a copy of the kit.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "blanks/blanks.h"
#include "blanks/task.h"
#include "errors/error.h"
#include "learner/state.h"
#include "run_command.h"

namespace odori::grader {
namespace {

namespace fs = std::filesystem;

class Words : public testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(kit_);
    for (const char* folder : {"grader", "lib"}) fs::create_directories(kit_ / folder);
    for (const char* folder : {"solutions", "grader/messages", "grader/exercises", "grader/learner", "lib/flags"})
      fs::copy(fs::path(ODORI_FOLDER) / folder, kit_ / folder, fs::copy_options::recursive);
    fs::create_directory(kit_ / "jobscripts");
    fs::copy_file(fs::path(ODORI_FOLDER) / site_in_force, kit_ / site_in_force);
    unsetenv("ODORI_SITE");
    ASSERT_EQ(run_command(fmt::format("{} --kit {}", ODORI_CUT, kit_.string())).code, 0);
    pristine_ = read_file(program_);
  }
  /// As the driver calls it, in English unless said otherwise.
  Ended word(const std::string& words, const std::string& language = "en") const {
    return run_command(fmt::format("unset ODORI_STATE; {} {} --kit {} --lang {} </dev/null", ODORI_GRADER, words,
                                   kit_.string(), language));
  }
  /// In Japanese by its flag, where the environment has another language.
  Ended hint(const std::string& words) const {
    return run_command(
        fmt::format("unset ODORI_STATE; LC_ALL=C bash {}/grader/learner/hint.sh {} --lang ja", kit_.string(), words));
  }
  void remember(const std::string& lines) const { std::ofstream(kit_ / ".odori_state", std::ios::app) << lines; }
  static void replace_in(const fs::path& file, const std::string& old, const std::string& fresh) {
    std::string text = read_file(file);
    const auto at = text.find(old);
    ASSERT_NE(at, std::string::npos) << old;
    std::ofstream(file) << text.replace(at, old.size(), fresh);
  }
  /// The copies that were kept.
  std::vector<std::string> kept() const {
    std::vector<std::string> texts;
    std::error_code none;
    for (const auto& copy : fs::directory_iterator(kit_ / "out/kept", none)) texts.push_back(read_file(copy.path()));
    return texts;
  }

  const fs::path kit_ = fs::path(ODORI_WORK_FOLDER) / "words";
  const fs::path program_ = kit_ / "exercises/01_multi_gpu/train_cifar_multi_gpu.cpp";
  const fs::path script_ = kit_ / "jobscripts/run_multi_gpu_training.sh";
  static constexpr const char* site_in_force = "jobscripts/site_in_force.sh";
  std::string pristine_;
};

TEST_F(Words, HintsAndAnswersAreForTheDevicesOfThisClustersNodes) {
  EXPECT_EQ(word("solution multi_node 7 --yes").count("two devices"), 1);
  EXPECT_EQ(hint("multi_gpu 8 --all").count("ompthreads=2\n"), 1);
  EXPECT_EQ(hint("multi_node 7 --all").count(" 2 デバイス"), 1);
  std::ofstream(kit_ / "jobscripts/site.sh") << "GPUS_A_NODE=8\n";
  EXPECT_EQ(word("solution multi_gpu 8 --yes").count("By its site file, this cluster needs `ompthreads=8`"), 1);
  EXPECT_EQ(word("solution multi_gpu 7 --yes").count("By its site file"), 0);
  EXPECT_EQ(word("solution multi_node 7 --yes").count("By its site file"), 0);
  EXPECT_EQ(hint("multi_gpu 8 --all").count("ompthreads=8\n"), 1);
  std::ofstream(kit_ / "jobscripts/site.sh") << "GPUS_A_NODE=1\n";
  EXPECT_EQ(word("solution multi_node 7 --yes").count("it needs `mpiprocs=1`"), 1);
  EXPECT_EQ(hint("multi_node 7 --all").count(" 1 デバイス"), 1);
  std::ofstream(kit_ / "jobscripts/site.sh") << "exit 1\n";
  EXPECT_EQ(word("solution multi_node 7 --yes").count("site.sh can't be used"), 1);
  EXPECT_EQ(hint("multi_gpu 8 --all").count("ompthreads=2\n"), 1);
}

TEST_F(Words, StatusShowsAllTasksInBothLanguages) {
  const Ended fresh = word("status");
  const int n_tasks = static_cast<int>(all_tasks().size());
  int n_blanks = 0;
  for (const Task& task : all_tasks()) n_blanks += task.n_blanks();
  EXPECT_EQ(fresh.code, 0);
  EXPECT_EQ(fresh.count("UNFILLED"), n_blanks) << fresh.output;
  EXPECT_EQ(fresh.count("0 of 100 points"), n_tasks) << fresh.output;
  EXPECT_EQ(fresh.count("Nothing has been checked yet."), n_tasks) << fresh.output;
  EXPECT_EQ(word("status", "ja").count("100 点中 0 点"), n_tasks) << word("status", "ja").output;
  EXPECT_EQ(word("status multi_node").count("UNFILLED"), 7);
}

TEST_F(Words, StatusCountsPointsAndSeesChanges) {
  replace_in(program_, "main_device_id = PUT_YOUR_CODE", "main_device_id = 0");
  remember(
      "verdict multi_gpu 2 PASS 4 4 0123456789abcdef\nverdict multi_gpu 0 INCONCLUSIVE 0 20 0123456789abcdef\n"
      "hint multi_gpu 2 3\n");
  const Ended ending = word("status multi_gpu");
  EXPECT_EQ(ending.count("4 of 80 points"), 1) << ending.output;  // an inconclusive speedup counts neither way
  EXPECT_EQ(ending.count("PASS (changed since)"), 1) << ending.output;
  EXPECT_EQ(ending.count("4/4     3 "), 1) << ending.output;
}

TEST_F(Words, StatusOfATaskThatIsAllRightSendsNobodyToTheCheck) {
  const fs::path program = kit_ / "exercises/03_ring/ring.cpp";
  for (const Blank& blank : parse_blanks(split_lines(read_file(program)), program.string()))
    remember(fmt::format("verdict ring {} PASS 1 1 {}\n", blank.number, fingerprint(blank.text)));
  EXPECT_EQ(word("status ring").count("All right!"), 1) << word("status ring").output;
  replace_in(program, "PUT_YOUR_CODE;", "1;");
  EXPECT_EQ(word("status ring").count("Next: ./odori check ring"), 1) << word("status ring").output;
}

TEST_F(Words, ADamagedStateIsToldAndBegunAnew) {
  remember("\x01\x02\x03 rubbish\n");
  const Ended ending = word("status");
  EXPECT_EQ(ending.code, 0);
  EXPECT_EQ(ending.count("can't be read any more"), 1) << ending.output;
  EXPECT_EQ(word("status").count("can't be read any more"), 0);
}

TEST_F(Words, ResetPutsTheExerciseBackAndKeepsWhatWasThere) {
  replace_in(program_, "main_device_id = PUT_YOUR_CODE", "main_device_id = 0");
  replace_in(script_, "PUT_YOUR_CODE", "select=1");
  const std::string mine = read_file(program_);
  remember("verdict multi_gpu 2 PASS 4 4 0\nverdict multi_node 1 PASS 15 15 0\nhint multi_gpu 2 3\n");
  const Ended ending = word("reset multi_gpu");
  EXPECT_EQ(ending.code, 0) << ending.output;
  EXPECT_EQ(ending.count("What you had is kept: " + (kit_ / "out/kept").string()), 2) << ending.output;
  EXPECT_EQ(read_file(program_), pristine_);
  EXPECT_EQ(kept().size(), 2u);
  EXPECT_NE(std::find(kept().begin(), kept().end(), mine), kept().end());
  const std::string state = read_file(kit_ / ".odori_state");
  EXPECT_EQ(state.find("verdict multi_gpu"), std::string::npos) << state;
  EXPECT_NE(state.find("verdict multi_node"), std::string::npos) << state;
  EXPECT_NE(state.find("hint multi_gpu 2 3"), std::string::npos) << state;

  EXPECT_EQ(word("reset multi_gpu").count("There is nothing to put back"), 2);
  EXPECT_EQ(kept().size(), 2u);
}

TEST_F(Words, ResetOfOneBlankLeavesTheOthers) {
  replace_in(program_, "main_device_id = PUT_YOUR_CODE", "main_device_id = 0");
  replace_in(program_, "current_device_id = PUT_YOUR_CODE;", "current_device_id = \n\n main_device_id; // two lines");
  EXPECT_EQ(word("reset multi_gpu 3").code, 0);
  const std::string now = read_file(program_);
  EXPECT_NE(now.find("main_device_id = 0"), std::string::npos);
  EXPECT_NE(now.find("const int current_device_id = PUT_YOUR_CODE;\n  // END BLANK"), std::string::npos);

  replace_in(script_, "PUT_YOUR_CODE", "select=1");
  EXPECT_EQ(word("reset multi_gpu 8").count("Blank 8 in jobscripts/run_multi_gpu_training.sh is empty again."), 1);
  EXPECT_EQ(fs::status(script_).permissions() & fs::perms::owner_exec, fs::perms::owner_exec);

  EXPECT_EQ(word("reset multi_gpu 9").code, 2);
  replace_in(program_, "BLANK 5", "BLANKETS 5");
  const Ended lost = word("reset multi_gpu 5");
  EXPECT_EQ(lost.code, 1);
  EXPECT_EQ(lost.count("The line `BLANK 5: ...` is missing"), 1) << lost.output;
  EXPECT_EQ(lost.count("./odori reset multi_gpu"), 1) << lost.output;
}

TEST_F(Words, AMissingEndOfABlankIsNamed) {
  replace_in(program_, "main_device_id = PUT_YOUR_CODE;\n  // END BLANK\n", "main_device_id = 0;\n");
  const Ended lost = word("reset multi_gpu 2");
  EXPECT_EQ(lost.code, 1);
  EXPECT_EQ(lost.count("blank 3 begins"), 1) << lost.output;
  EXPECT_EQ(lost.count("`END BLANK` back after your answer to blank 2"), 1) << lost.output;
  const std::string line = fmt::format(
      "{}", std::count(pristine_.begin(),
                       pristine_.begin() + static_cast<std::ptrdiff_t>(pristine_.find("// BLANK 2:")), '\n') +
                1);
  const Ended hinted = hint("multi_gpu 3");
  EXPECT_EQ(hinted.count("train_cifar_multi_gpu.cpp:" + line), 1) << hinted.output;
  EXPECT_EQ(hinted.count("// END BLANK"), 1) << hinted.output;
  EXPECT_EQ(hint("multi_node 3").count("END BLANK"), 0);
}

TEST_F(Words, AHintKeepsTheLanguageInTheCommandsItSuggests) {
  EXPECT_EQ(hint("multi_gpu 3").count("./odori hint multi_gpu 3 --lang ja"), 1);
  EXPECT_EQ(hint("multi_gpu 3 --all").count("./odori solution multi_gpu 3 --lang ja"), 1);
}

TEST_F(Words, AWordWithoutItsTaskNamesThemAll) {
  for (const char* asked : {"check", "watch", "reset", "solution"}) {
    const Ended ended = word(asked);
    EXPECT_EQ(ended.code, 2);
    for (const Task& task : all_tasks())
      EXPECT_EQ(ended.count(fmt::format("./odori {} {}", asked, task.name)), 1) << ended.output;
  }
  EXPECT_EQ(word("check multi_gpus").count(", not \"multi_gpus\". Did you mean multi_gpu?"), 1);
  const Ended misspelt = word("check multi_gpu --nospeedup");
  EXPECT_EQ(misspelt.code, 2);
  EXPECT_EQ(misspelt.count("Unknown flag --nospeedup. Did you mean --no-speedup?"), 1) << misspelt.output;
  EXPECT_EQ(word("check --langs ja multi_gpu").count("Unknown flag --langs. Did you mean --lang?"), 1);
  EXPECT_EQ(word("check multi_gpu --nospeedup", "ja").count("--no-speedup のことですか。"), 1);
  EXPECT_EQ(word("check", "ja").count("どのタスクですか。"), 1) << word("check", "ja").output;
  EXPECT_EQ(word("reset multi_gpu nine").code, 2);
  EXPECT_EQ(word("status multi_gpu multi_node").count("Unexpected argument \"multi_node\"."), 1);
  EXPECT_EQ(word("check --help").count("{false}"), 0) << word("check --help").output;
}

TEST_F(Words, AMissingExerciseComesBack) {
  fs::remove(program_);
  EXPECT_EQ(word("reset multi_gpu").code, 0);
  EXPECT_EQ(read_file(program_), pristine_);
}

TEST_F(Words, TheSolutionIsShownAfterAPassOrAClearYes) {
  const std::string answer = "const int current_device_id = main_device_id;";
  const Ended asked = word("solution multi_gpu 3");
  EXPECT_EQ(asked.code, 2);
  EXPECT_EQ(asked.count(answer), 0) << asked.output;
  EXPECT_EQ(asked.count("add --yes"), 1) << asked.output;
  EXPECT_EQ(word("solution multi_gpu 3 --yes").count(answer), 1);
  EXPECT_EQ(word("solution multi_gpu 8 --yes").count("select=1:mpiprocs=1"), 1);

  remember("verdict multi_gpu 3 PASS 2 2 0\n");
  EXPECT_EQ(word("solution multi_gpu 3").count(answer), 1);
  EXPECT_EQ(word("solution multi_gpu 2").code, 2);
  EXPECT_EQ(word("solution multi_gpu").code, 2) << "the others haven't passed";
  EXPECT_EQ(word("solution multi_gpu --yes").count("multi_gpu, blank "), 8);
  EXPECT_EQ(word("solution multi_gpu 3").count("On which device is the model set up"), 1);
  EXPECT_EQ(word("solution multi_gpu 3", "ja").count("Which device"), 0) << word("solution multi_gpu 3", "ja").output;
}

}  // namespace
}  // namespace odori::grader
