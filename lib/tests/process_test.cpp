// SPDX-License-Identifier: Apache-2.0
// Programs that end, run on, speak too much or leave others behind.
#include "program/process.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>

#include "errors/error.h"
#include "files/file.h"
#include "program/program.h"

namespace odori {
namespace {

using namespace std::chrono_literals;

Ended run(const std::string& script, const Limits& limits = {}) {
  return run_process({.arguments = {"bash", "-c", script}}, limits);
}

bool lives(int pid) {
  std::string stat;
  std::getline(std::ifstream("/proc/" + std::to_string(pid) + "/stat"), stat);
  return !stat.empty() && stat.find(") Z") == std::string::npos;
}

/// All the numbers that a program printed, one a line.
std::vector<int> numbers_in(const std::string& text) {
  std::vector<int> numbers;
  std::istringstream lines(text);
  for (int n; lines >> n;) numbers.push_back(n);
  return numbers;
}

TEST(Process, TellsHowAProgramEndedAndWhatItSaid) {
  const Ended ended = run("echo out; echo err >&2; exit 7");
  EXPECT_EQ(ended.code, 7);
  EXPECT_FALSE(ended.stopped);
  EXPECT_EQ(ended.output, "out\nerr\n");
  EXPECT_EQ(run("kill -SEGV $$").code, 128 + SIGSEGV);
  EXPECT_EQ(run_process({.arguments = {"no-such-program"}}).code, 127);
}

TEST(Process, HasItsEnvironmentItsFolderAndNoInput) {
  setenv("ODORI_TEST_TAKEN_AWAY", "there", 1);
  const Ended ended = run_process({.arguments = {"bash", "-c", "echo $A ${ODORI_TEST_TAKEN_AWAY:-gone} $PWD; cat"},
                                   .environment = {{"A", "b c"}, {"ODORI_TEST_TAKEN_AWAY", ""}},
                                   .folder = "/usr"});
  EXPECT_EQ(ended.output, "b c gone /usr\n");
}

TEST(Process, SeesByItsLifelineThatItsStarterLives) {
  const std::vector<std::string> look{"bash", "-c", "read -t 0 && echo ended || echo lives"};
  EXPECT_EQ(run_process({.arguments = look, .lifeline = true}).output, "lives\n");
  EXPECT_EQ(run_process({.arguments = look}).output, "ended\n");
}

TEST(Process, IsStoppedAtTheTimeLimitWithAllThatItStarted) {
  // A child, one in a process group of its own (as mpirun's ranks are), and one that doesn't listen to SIGTERM.
  const Ended ended =
      run("sleep 60 & echo $!; set -m; sleep 60 & echo $!; (trap '' TERM; while :; do sleep 1; done) & echo $!; wait",
          {.time = 3s});
  EXPECT_TRUE(ended.stopped);
  EXPECT_LT(ended.seconds, 30);
  const auto pids = numbers_in(ended.output);
  ASSERT_EQ(pids.size(), 3u);
  for (const int pid : pids) EXPECT_FALSE(lives(pid)) << pid;
}

TEST(Process, IsStoppedByWhatItComputesAndNotByWaiting) {
  const Limits limits{.processor_time = 300ms};
  EXPECT_TRUE(run("while :; do :; done", limits).stopped);
  EXPECT_TRUE(run("(while :; do :; done) & wait", limits).stopped);
  EXPECT_TRUE(run("while :; do timeout 0.05 bash -c 'while :; do :; done'; done", limits).stopped);
  EXPECT_FALSE(run("sleep 1", limits).stopped);
}

TEST(Process, MayTakeAsLongToEndAsItsGraceIs) {
  const TemporaryFolder folder(testing::TempDir() + "process_test_");
  const auto said = [&](const std::string& file, std::chrono::milliseconds grace) {
    const std::filesystem::path ready = folder.path() / file;
    const Command command{
        .arguments = {"bash", "-c", "trap 'sleep 2; echo at last; exit' TERM; >$1; while :; do sleep 0.1; done", "bash",
                      ready.string()},
        .grace = grace};
    return run_process(command, {.give_up = [&] { return std::filesystem::exists(ready); }}).output;
  };
  EXPECT_EQ(said("patient", 60s), "at last\n");
  EXPECT_EQ(said("impatient", 100ms), "");
}

TEST(Process, IsShownInsteadOfKeptWhereThatIsWanted) {
  testing::internal::CaptureStdout();
  const Ended ended = run_process({.arguments = {"echo", "words"}, .shown = true});
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "words\n");
  EXPECT_EQ(ended.output, "");
}

TEST(Process, InTheForegroundIsInItsStartersSession) {
  const auto session = [](bool foreground) {
    return run_process({.arguments = {"bash", "-c", "cut -d ' ' -f 6 /proc/$$/stat"}, .foreground = foreground}).output;
  };
  const std::string own = std::to_string(getsid(0)) + '\n';
  EXPECT_EQ(session(true), own);
  EXPECT_NE(session(false), own);
  testing::internal::CaptureStdout();
  EXPECT_EQ(run_in_foreground({"bash", "-c", "echo words; exit 7"}), 7);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "words\n");
}

TEST(Process, LeavesNothingBehindWhenItEndsItself) {
  const Ended ended = run("set -m; sleep 60 & echo $!; exit 0");
  EXPECT_EQ(ended.code, 0);
  EXPECT_LT(ended.seconds, 30);
  const auto pids = numbers_in(ended.output);
  ASSERT_EQ(pids.size(), 1u);
  EXPECT_FALSE(lives(pids[0]));
}

TEST(Process, IsStoppedWhenItIsGivenUp) {
  int asked = 0;
  const Ended ended = run("sleep 60", {.give_up = [&] { return ++asked == 3; }});
  EXPECT_TRUE(ended.stopped);
  EXPECT_LT(ended.seconds, 30);
}

TEST(Process, WhatIsSaidBeyondTheLimitIsDropped) {
  const Ended ended = run("yes | head -c 3000000; exit 3", {.output_bytes = 1000});
  EXPECT_EQ(ended.code, 3);
  EXPECT_EQ(ended.output.size(), 1000u);
}

TEST(Process, OneThatClosesItsOutputIsWaitedFor) {
  const Ended ended = run("exec >&- 2>&-; sleep 0.3; exit 4");
  EXPECT_EQ(ended.code, 4);
  EXPECT_GE(ended.seconds, 0.3);
}

TEST(Process, SeveralRunAtOnce) {
  std::vector<std::jthread> threads;
  std::array<Ended, 8> ended;
  for (std::size_t i = 0; i < ended.size(); ++i)
    threads.emplace_back([&, i] { ended[i] = run("sleep 0.2; echo " + std::to_string(i)); });
  threads.clear();
  for (std::size_t i = 0; i < ended.size(); ++i) EXPECT_EQ(ended[i].output, std::to_string(i) + '\n');
}

/// The last one here: an interrupt can't be taken back.
TEST(ProcessInterrupted, EndsWithAllThatItStarted) {
  catch_interrupts();
  const std::string file = testing::TempDir() + "process_test_pids";
  std::remove(file.c_str());
  std::jthread ctrl_c([&] {
    for (std::string line; line.empty(); std::this_thread::sleep_for(20ms)) std::getline(std::ifstream(file), line);
    raise(SIGINT);
  });
  try {
    run("set -m; sleep 60 & echo $! > " + file + "; wait");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), exit_code::interrupted);
  }
  int pid = 0;
  std::ifstream(file) >> pid;
  EXPECT_GT(pid, 0);
  EXPECT_FALSE(lives(pid));
}

}  // namespace
}  // namespace odori
