// SPDX-License-Identifier: Apache-2.0
// Runs that end by accident: what is run again, and whose fault it is.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>

#include "files/file.h"
#include "runner/run.h"

namespace odori::grader {
namespace {

std::filesystem::path solution_of(const Task& task) {
  return std::filesystem::path(ODORI_SOLUTIONS) / task.program.solution.stem();
}

/// A program that does something else than the kit's the first `times` times that it is started, and how the grader
/// sees its run. $0 is its file, "$@" what it was given.
struct Accidents {
  Evidence evidence;
  int starts = 0;
};

Accidents run_with_accidents(const std::string& accident, int times, const char* task_name = "multi_gpu") {
  const Task& task = task_named(task_name);
  const ScratchFolder folder;
  const std::filesystem::path program = folder.path() / "program";
  write_file(
      program,
      fmt::format("#!/bin/bash\necho >>$0.starts\nif [ $(wc -l <$0.starts) -le {} ]; then {}; fi\nexec {} \"$@\"\n",
                  times, accident, solution_of(task).string()));
  std::filesystem::permissions(program, std::filesystem::perms(0755));
  const Runner runner(task, solution_of(task), 7, nullptr, std::chrono::seconds(4));
  const std::atomic<bool> cancelled = false;
  Evidence evidence = runner.run(program, task.under_mpi ? RunPlan{.nodes = {0}} : RunPlan{.devices = 2}, cancelled);
  std::ifstream starts(program.string() + ".starts");
  return {std::move(evidence), static_cast<int>(std::count(std::istreambuf_iterator(starts), {}, '\n'))};
}

TEST(Accident, ThatHappensOnceIsNoVerdict) {
  for (const auto& [task, accident] :
       {std::pair{"multi_node", "kill -KILL $$"}, {"multi_gpu", "kill -TERM $$"}, {"multi_gpu", "exit 1"}}) {
    const Accidents seen = run_with_accidents(accident, 1, task);
    EXPECT_EQ(seen.evidence.ending, Ending::finished) << task << ' ' << accident << ' ' << seen.evidence.detail;
    EXPECT_EQ(seen.starts, 2);
  }
}

TEST(Accident, ThatKeepsComingWhileTheKitsProgramRunsIsTheProgramsOwn) {
  const Accidents killed = run_with_accidents("kill -KILL $$", 9), silent = run_with_accidents("exit 1", 9);
  EXPECT_EQ(killed.evidence.ending, Ending::crashed);
  EXPECT_EQ(killed.evidence.detail, "Killed");
  EXPECT_EQ(killed.starts, 3);
  EXPECT_EQ(silent.evidence.ending, Ending::failed);
  EXPECT_EQ(silent.starts, 3);
}

/// Writes a fact as the library does: the file begins with the length of what is written in it.
constexpr const char* begin = R"(printf '\x06\0\0\0\0\0\0\0' | dd of=$ODORI_EVIDENCE.0 conv=notrunc status=none)";

TEST(Accident, IsNothingThatHappensOnceTheLibraryHasBegun) {
  const Accidents seen = run_with_accidents(fmt::format("{}; kill -SEGV $$", begin), 1);
  EXPECT_EQ(seen.evidence.ending, Ending::crashed);
  EXPECT_EQ(seen.starts, 1);
}

TEST(Accident, IsWhatEndsMpirunAloneAndNoRank) {
  const Accidents mpirun = run_with_accidents(fmt::format("{}; kill -SEGV $PPID; sleep 100", begin), 1, "multi_node");
  EXPECT_EQ(mpirun.evidence.ending, Ending::finished) << mpirun.evidence.detail;
  EXPECT_EQ(mpirun.starts, 2);
  const Accidents rank = run_with_accidents(fmt::format("{}; kill -SEGV $$", begin), 1, "multi_node");
  EXPECT_EQ(rank.evidence.ending, Ending::crashed);
  EXPECT_EQ(rank.starts, 1);
}

TEST(Accident, OfAProgramThatIsGoneIsNobodysCrash) {
  const Accidents seen = run_with_accidents("rm $0; kill -ILL $$", 1);
  EXPECT_EQ(seen.evidence.ending, Ending::environment);
  EXPECT_EQ(seen.evidence.detail, "build_gone");
}

TEST(Accident, OfStandingStillOnceIsNoVerdict) {
  const std::string stands_still = fmt::format("{}; exec sleep 100", begin);
  const Accidents once = run_with_accidents(stands_still, 1), always = run_with_accidents(stands_still, 9);
  EXPECT_EQ(once.evidence.ending, Ending::finished) << once.evidence.detail;
  EXPECT_EQ(once.starts, 2);
  EXPECT_EQ(always.evidence.ending, Ending::hung);
  EXPECT_EQ(always.starts, 2);
  const Accidents after_a_kill =
      run_with_accidents(fmt::format("[ -s $0.killed ] || {{ echo >$0.killed; kill -KILL $$; }}; {}", stands_still), 2);
  EXPECT_EQ(after_a_kill.evidence.ending, Ending::finished) << after_a_kill.evidence.detail;
}

TEST(Run, EndsWhenItsTimeIsOverHoweverOftenItShowsSomethingNew) {
  const Accidents seen = run_with_accidents(R"(for i in {1..240}; do printf "\\x$(printf %02x $i)\0\0\0\0\0\0\0" |)"
                                            " dd of=$ODORI_EVIDENCE.0 conv=notrunc status=none; sleep 0.6; done",
                                            9);
  EXPECT_EQ(seen.evidence.ending, Ending::hung);
  EXPECT_EQ(seen.starts, 1);
  EXPECT_LT(std::stod(seen.evidence.detail), 120) << "seconds";
}

TEST(Run, GivesAProgramThatTrainsNothingItsOwnFlags) {
  const ScratchFolder folder;
  const std::filesystem::path program = folder.path() / "program";
  write_file(program, fmt::format("#!/bin/bash\n{}; echo \"Unexpected: $*.\"; exit 1\n", begin));
  std::filesystem::permissions(program, std::filesystem::perms(0755));
  const Runner runner(task_named("multi_node"), "/bin/true", 7);
  const std::atomic<bool> cancelled = false;
  const auto flags = [&](const RunPlan& plan) { return runner.run(program, plan, cancelled).detail; };
  EXPECT_EQ(flags({.nodes = {0}, .seed = 2, .epochs = 0, .flags = {"--length", "7"}}),
            "Unexpected: --device cpu --length 7");
  const std::string trained = flags({.nodes = {0}, .seed = 2, .epochs = 3});
  for (const char* given : {"--out out --seed 9", "--no-snapshot --keep-going", "--epoch 3 --batchsize 4"})
    EXPECT_NE(trained.find(given), std::string::npos) << given;
  EXPECT_EQ(flags({.nodes = {0}, .snapshots = false}).find("snapshot"), std::string::npos);
}

TEST(Accident, ThatTheKitsProgramHasTooIsTheMachines) {
  const Task& task = task_named("multi_gpu");
  const std::atomic<bool> cancelled = false;
  for (const auto& [how, detail] :
       {std::pair{"exit 1", "no_start"}, {"kill -KILL $$", "killed_from_outside"}, {"@begin@; exit 1", "kit_fails"}}) {
    const ScratchFolder folder;
    const std::filesystem::path program = folder.path() / "program";
    std::string text = how;
    if (const auto at = text.find("@begin@"); at != std::string::npos) text.replace(at, 7, begin);
    write_file(program, fmt::format("#!/bin/bash\n{}\n", text));
    std::filesystem::permissions(program, std::filesystem::perms(0755));
    const Evidence seen = Runner(task, program, 7).run(program, {.devices = 2}, cancelled);
    EXPECT_EQ(seen.ending, Ending::environment);
    EXPECT_EQ(seen.detail, detail);
  }
}

TEST(Accident, ThatMpirunsScriptForeseesIsToldInItsWords) {
  const ScratchFolder folder;
  const std::filesystem::path program = folder.path() / "program";
  write_file(program, "#!/bin/bash\necho 'odori: lo is down.'\nexit 20\n");
  std::filesystem::permissions(program, std::filesystem::perms(0755));
  const std::atomic<bool> cancelled = false;
  try {
    Runner(task_named("multi_gpu"), program, 7).run(program, {.devices = 2}, cancelled);
    ADD_FAILURE() << "it is judged";
  } catch (const EnvironmentFault& fault) {
    EXPECT_EQ(fault.finding(), (Finding{"start_refused", {{"said", "odori: lo is down."}}}));
  }
}

}  // namespace
}  // namespace odori::grader
