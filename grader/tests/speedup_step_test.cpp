// SPDX-License-Identifier: Apache-2.0
// The speedup's jobs and the counts that need no clock, with the kit's own solutions as the learner's.
#include "checks/speedup_step.h"

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <regex>

#include "checks/checks.h"
#include "runner/build.h"
#include "runner/programs.h"

namespace odori::grader {
namespace {

namespace fs = std::filesystem;

const fs::path build = fs::path(ODORI_SOLUTIONS).parent_path().parent_path();

/// The kit's answers, built as a learner's are.
fs::path solution_of(const char* task) {
  const std::string solution = read_file(fs::path(ODORI_FOLDER) / task_named(task).program.solution);
  std::map<int, Blank> answers;
  for (Blank& blank : parse_blanks(split_lines(solution), "The solution")) answers[blank.number] = std::move(blank);
  return Compiler(build, fs::path(testing::TempDir()) / "speedup_step_test")
      .build(source_of(solution, answers))
      .program;
}

TEST(Layout, IsTheJobScriptsOnThisMachinesDevices) {
  const auto layout = [](const char* task, int cores, int gpus) {
    return Layout::on_machine(task_named(task), cores, gpus);
  };
  EXPECT_EQ(layout("multi_gpu", 2, 0).devices, 2);
  EXPECT_EQ(layout("multi_gpu", 64, 4).devices, 2);
  EXPECT_TRUE(layout("multi_gpu", 64, 4).on_gpus);
  EXPECT_EQ(layout("multi_node", 2, 0).nodes, (std::vector{0, 1}));
  EXPECT_EQ(layout("multi_node", 1, 0).nodes, (std::vector{0, 1}));
  EXPECT_EQ(layout("multi_node", 4, 0).nodes, (std::vector{0, 0, 1, 1}));
  EXPECT_EQ(layout("multi_node", 64, 0).nodes, (std::vector{0, 0, 1, 1}));
  EXPECT_EQ(layout("multi_node", 64, 2).nodes, (std::vector{0, 0})) << "two nodes on one machine would share its GPUs";
  EXPECT_FALSE(layout("multi_gpu", 16, 1).on_gpus) << "two devices would share it";
  EXPECT_EQ(layout("multi_node", 16, 1).nodes, (std::vector{0, 0, 1, 1}));
}

/// The CPU's jobs, on machines with GPUs too.
Layout two_devices(const char* task) { return Layout::on_machine(task_named(task), 2, 0); }

constexpr std::uint64_t seed = 7;

/// With this program as the learner's, until the next call. To draw their data takes longer than most jobs do, so each
/// task's are made once.
SpeedupJobs& jobs_of(const char* task, const fs::path& learners) {
  struct Made {
    ScratchFolder folder;
    fs::path program = folder.path() / "learners";  // a link
    SpeedupJobs jobs;
    explicit Made(const char* task) : jobs(task_named(task), two_devices(task), ODORI_SOLUTIONS, program, seed) {}
  };
  static std::map<std::string, Made> made;
  Made& of_task = made.try_emplace(task, task).first->second;
  fs::remove(of_task.program);
  fs::create_symlink(learners, of_task.program);
  return of_task.jobs;
}

/// A learner's program: what the script does before the kit's solution runs with "$@". The batches of checked runs have
/// fewer than 100 images, and those of timed jobs more.
class Scripted {
 public:
  Scripted(const char* task, const std::string& script) {
    std::ofstream(path()) << "#!/bin/bash\nself=" << path().string()
                          << "\nwhile read -r name value; do declare \"$name=$value\"; done < <(\n"
                          << "  printf '%s ' \"$@\" | grep -o 'batchsize [0-9]*')\n"
                          << script << "\nexec " << solution_of(task).string() << " \"$@\"\n";
    fs::permissions(path(), fs::perms(0755));
  }
  fs::path path() const { return folder_.path() / "program"; }
  operator fs::path() const { return path(); }

 private:
  ScratchFolder folder_;
};

constexpr const char *nothing_when_timed = "[ $batchsize -gt 100 ] && exit 0",
                     *half_when_timed = "[ $batchsize -gt 100 ] && set -- \"$@\" --fraction 0.5",
                     *rate_when_timed = "[ $batchsize -gt 100 ] && set -- ${@/0.025/0.05}";

/// How a learner's job that runs to its end fails.
FailedAtWork failure_of(const char* task, const std::string& script) try {
  const Scripted program(task, script);
  jobs_of(task, program).seconds(Work::learner);
  ADD_FAILURE() << script << " should have failed";
  return {Verdict::pass, {}};
} catch (const FailedAtWork& failure) {
  return failure;
}

TEST(SpeedupJobs, RunAllFourKindsOfWorkInBothTasks) {
  for (const char* task : {"multi_gpu", "multi_node"}) {
    SpeedupJobs& jobs = jobs_of(task, solution_of(task));
    for (const Work work : {Work::one, Work::ceiling, Work::solution}) EXPECT_GT(jobs.start(work), 0.01) << task;
    for (const Work work : {Work::one, Work::ceiling, Work::learner, Work::solution})
      EXPECT_GT(jobs.seconds(work), 0.01) << task;
  }
}

TEST(SpeedupJobs, HaveASituationOfTheExamOnMoreDevicesToo) {
  Layout layout = Layout::on_machine(task_named("multi_node"), 4, 0);
  SpeedupJobs jobs(task_named("multi_node"), layout, ODORI_SOLUTIONS, solution_of("multi_node"), seed);
  EXPECT_GT(jobs.seconds(Work::learner), 0.01);
}

/// The flags that the program is run with, in a checked run of that plan or in a timed job; "N" for the number in
/// .../run_N/data, which is in both.
std::vector<std::string> flags_in(const Scripted& program, const std::function<void()>& run) {
  fs::remove(program.path().string() + ".flags");
  run();
  std::ifstream file(program.path().string() + ".flags");
  std::vector<std::string> flags;
  for (std::string flag; std::getline(file, flag);)
    flags.push_back(std::regex_replace(flag, std::regex(".*/odori_check_[^/]*/run_[0-9]+/data"), "run_N/data"));
  return flags;
}

TEST(SpeedupJobs, HaveTheFlagsOfACheckedRunWithLargerBatches) {
  for (const char* task : {"multi_gpu", "multi_node"}) {
    const Scripted program(task, "printf '%s\\n' \"$@\" >$self.flags");
    const Runner runner(task_named(task), solution_of(task), seed);
    const auto timed = flags_in(program, [&] { jobs_of(task, program).seconds(Work::learner); });
    int found = 0;
    for (const RunPlan& plan : exam_of(task_named(task)).situations) {
      auto checked = flags_in(program, [&] { runner.run(program, plan, false); });
      const auto batch = std::ranges::find(checked, "--batchsize");
      ASSERT_LT(batch, checked.end() - 1);
      batch[1] = std::to_string(32 * plan.batch_size);
      found += checked == timed;
    }
    EXPECT_EQ(found, 1) << task << fmt::format(": {}", fmt::join(timed, " "));
  }
}

TEST(SpeedupJobs, CountTheImagesThatTheLearnersProgramTrainsOn) {
  for (const char* task : {"multi_gpu", "multi_node"}) {
    const int images = 2 * jobs_of(task, solution_of(task)).images();
    const FailedAtWork half = failure_of(task, half_when_timed), none = failure_of(task, nothing_when_timed);
    EXPECT_EQ(half.verdict, Verdict::wrong);
    EXPECT_EQ(half.finding.key, "fewer_images_at_work");
    EXPECT_EQ(half.finding.values.at("expected"), std::to_string(images));
    EXPECT_NEAR(std::stoi(half.finding.values.at("seen")), images / 2, images / 20);
    EXPECT_EQ(none.verdict, Verdict::wrong);
    EXPECT_EQ(none.finding.key, "trained_nothing_at_work");
  }
}

TEST(SpeedupJobs, CountThemInJobsThatMayBeStoppedToo) {
  const Scripted program("multi_gpu", half_when_timed);
  SpeedupJobs& jobs = jobs_of("multi_gpu", program);
  EXPECT_THROW(jobs.seconds(Work::learner, 50), FailedAtWork);
}

TEST(SpeedupJobs, HaveToPassTheExamsChecks) {
  const FailedAtWork failure = failure_of("multi_gpu", rate_when_timed);
  EXPECT_EQ(failure.verdict, Verdict::wrong);
  EXPECT_NE(failure.finding.key, "fewer_images_at_work");
}

TEST(SpeedupJobs, SayWhoseProgramFailed) {
  SpeedupJobs& learners = jobs_of("multi_gpu", "/bin/false");
  EXPECT_GT(learners.start(Work::solution), 0);
  EXPECT_THROW(learners.seconds(Work::learner), FailedAtWork);
  SpeedupJobs kits(task_named("multi_gpu"), two_devices("multi_gpu"), "/nowhere", solution_of("multi_gpu"), seed);
  EXPECT_THROW(kits.start(Work::one), EnvironmentFault);
}

TEST(SpeedupJobs, StopALearnersJobThatTakesTooLong) {
  const Scripted program("multi_gpu", "sleep 1");
  SpeedupJobs& jobs = jobs_of("multi_gpu", program);
  EXPECT_EQ(jobs.seconds(Work::learner, 0.25), 0.25);
  EXPECT_LT(jobs.seconds(Work::learner, 50), 50);
  EXPECT_NE(jobs.seconds(Work::solution, 0.01), 0.01) << "the kit's own are never stopped";
}

TEST(SpeedupJobs, AreRunAgainIfSomebodyKillsThem) {
  for (const auto& [kills, is_accident] : {std::pair{1, true}, {9, false}}) {
    const Scripted program(
        "multi_gpu", fmt::format("echo >>$self.starts; [ $(wc -l <$self.starts) -gt {} ] || kill -KILL $$", kills));
    SpeedupJobs& jobs = jobs_of("multi_gpu", program);
    if (is_accident)
      EXPECT_GT(jobs.seconds(Work::learner), 0);
    else
      EXPECT_THROW(jobs.seconds(Work::learner), FailedAtWork);
  }
}

TEST(SpeedupStep, AProgramThatTrainsNothingWhenItIsTimedOrTracedIsWrong) {
  const ScratchFolder out;
  for (const char* script : {nothing_when_timed, "exit 0"}) {
    const Scripted program("multi_gpu", script);
    const Question question{
        .task = task_named("multi_gpu"), .kit = {}, .build = build, .program = {}, .script = {}, .out = out.path()};
    const SpeedupStep step = take_speedup(question, program, 20, "en");
    if (step.verdict.verdict == Verdict::inconclusive) GTEST_SKIP() << "this machine has one core";
    EXPECT_EQ(step.verdict.verdict, Verdict::wrong);
    ASSERT_TRUE(step.verdict.finding);
    EXPECT_EQ(step.verdict.finding->key, "trained_nothing_at_work");
    EXPECT_EQ(step.verdict.points, 0);
  }
}

// One update of the VGG: 14.99 million gradients of 4 bytes, 57.2 MiB.
TEST(Counts, AreThoseOfTheAlgorithm) {
  for (const auto& [task, expected] : std::vector<std::pair<const char*, std::map<std::string, std::string>>>{
           {"multi_gpu",
            {{"devices", "2"}, {"images", "32"}, {"updates", "4"}, {"gathered", "57.2"}, {"sent", "57.2"}}},
           {"multi_node",
            {{"devices", "2"}, {"images", "32"}, {"updates", "4"}, {"collectives", "1"}, {"averaged", "57.2"}}}}) {
    SpeedupJobs& jobs = jobs_of(task, solution_of(task));
    const bool under_mpi = task_named(task).under_mpi;
    const Finding counts = counts_of(timeline::read(jobs.trace()), under_mpi, SpeedupJobs::traced_images);
    EXPECT_EQ(counts.key, under_mpi ? "counts_ranks" : "counts_devices");
    EXPECT_EQ(counts.values, expected) << task;
  }
}

TEST(WhyNotMeasured, NamesWhatTheMachineLacks) {
  EXPECT_FALSE(why_not_measured(2, 2, false));
  EXPECT_EQ(why_not_measured(2, 1, false)->key, "too_few_cores");
  EXPECT_EQ(why_not_measured(2, 1, true)->key, "ranks_outnumber_cores");
}

}  // namespace
}  // namespace odori::grader
