// SPDX-License-Identifier: Apache-2.0
// Ctrl-C, or a terminal that is gone, ends a training between two iterations, with a sentence that says how to go on,
// and a snapshot that can be.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <regex>
#include <thread>

#include "distributed/snapshot.h"
#include "program/program.h"
#include "train_support.h"

namespace odori {
namespace {

using namespace test;
namespace fs = std::filesystem;

/// Starts the program, waits until `file` is there, sends the signal, and waits for the end.
struct Interrupted {
  Interrupted(const Folder& folder, const char* snapshots, const std::string& file, int signal) {
    const std::string errors = folder / "errors";
    const pid_t child = ::fork();
    if (child == 0) {
      std::signal(SIGHUP, SIG_DFL);  // as in a terminal, however this test was started
      if (!std::freopen(errors.c_str(), "w", stderr)) ::_exit(98);
      ::execl(ODORI_INTERRUPT_PROGRAM, "train_interrupt_program", folder.path().c_str(), snapshots, nullptr);
      ::_exit(99);
    }
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!fs::exists(folder / file) && std::chrono::steady_clock::now() < limit)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    ::kill(child, signal);
    int status = 0;
    ::waitpid(child, &status, 0);
    code = WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
    said = read_file(errors);
  }
  int code = -1;
  std::string said;
};

TEST(Interrupt, NamesTheLastSnapshotAndItCanBeResumed) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    Folder folder;
    const Interrupted run(folder, "snapshots", "snapshot_epoch_2", signal);
    EXPECT_EQ(run.code, 130);
    std::smatch match;
    ASSERT_TRUE(std::regex_search(run.said, match,
                                  std::regex(R"(Interrupted at iteration (\d+), in epoch (\d+) of 1000000\. The last )"
                                             R"(good snapshot is (\S+): --resume (\S+) goes on from there\.)")))
        << run.said;
    EXPECT_EQ(match[3], match[4]);
    EXPECT_EQ(match[3], folder / fmt::format("snapshot_epoch_{}", std::stoi(match[2]) - 1));
    Training training({.batch_size = 8}, images(64));
    Trainer trainer(*training.updater, 1000000, folder.path());
    resume(match[4].str(), trainer);
    EXPECT_EQ(training.updater->epoch(), std::stoi(match[2]) - 1);
    EXPECT_LE(training.updater->iteration(), std::stoi(match[1]));
  }
}

TEST(Interrupt, SaysThatThereIsNoSnapshot) {
  Folder folder;
  const Interrupted run(folder, "none", "log", SIGINT);
  EXPECT_EQ(run.code, 130);
  EXPECT_NE(run.said.find("There is no snapshot yet, so a new start begins at the first epoch."), std::string::npos)
      << run.said;
}

TEST(Interrupt, ATrainingUnderNohupOutlivesItsTerminal) {
  std::signal(SIGHUP, SIG_IGN);
  catch_interrupts();
  EXPECT_EQ(std::signal(SIGHUP, SIG_DFL), SIG_IGN);
  for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, SIG_DFL);
}

}  // namespace
}  // namespace odori
