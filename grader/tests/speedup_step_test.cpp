// The speedup's jobs and the counts that need no clock, with the kit's own solutions as the learner's.
#include "checks/speedup_step.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "checks/speedup_jobs.h"

namespace odori::grader {
namespace {

namespace fs = std::filesystem;

fs::path solution_of(const char* task) { return fs::path(ODORI_SOLUTIONS) / task_named(task).program.solution.stem(); }

TEST(Layout, IsTheJobScriptsOnThisMachinesDevices) {
  const auto layout = [](const char* task, int cores, int gpus) {
    return Layout::on_machine(task_named(task), cores, gpus);
  };
  EXPECT_EQ(layout("multi_gpu", 2, 0).devices, 2);
  EXPECT_EQ(layout("multi_gpu", 64, 4).devices, 2);
  EXPECT_TRUE(layout("multi_gpu", 64, 4).on_gpus);
  EXPECT_EQ(layout("multi_node", 2, 0).nodes, "0,1");
  EXPECT_EQ(layout("multi_node", 1, 0).nodes, "0,1");
  EXPECT_EQ(layout("multi_node", 4, 0).nodes, "0,0,1,1");
  EXPECT_EQ(layout("multi_node", 64, 0).nodes, "0,0,1,1");
  EXPECT_EQ(layout("multi_node", 64, 2).nodes, "0,0") << "two nodes on one machine would share its GPUs";
  EXPECT_FALSE(layout("multi_gpu", 16, 1).on_gpus) << "two devices would share it";
  EXPECT_EQ(layout("multi_node", 16, 1).nodes, "0,0,1,1");
}

/// The CPU's jobs, on machines with GPUs too.
Layout two_devices(const char* task) { return Layout::on_machine(task_named(task), 2, 0); }

TEST(SpeedupJobs, RunAllFourKindsOfWorkInBothTasks) {
  for (const char* task : {"multi_gpu", "multi_node"}) {
    SpeedupJobs jobs(task_named(task), two_devices(task), ODORI_SOLUTIONS, solution_of(task));
    for (const Work work : {Work::one, Work::ceiling, Work::learner, Work::solution})
      EXPECT_GT(jobs.seconds(work, 0), 0.01) << task;
    // Starts differ on a busy machine, but by less than twelve epochs take.
    EXPECT_GT(jobs.seconds(Work::one, 12), jobs.seconds(Work::one, 0)) << task;
  }
}

TEST(SpeedupJobs, SayWhoseProgramFailed) {
  const Task& task = task_named("multi_gpu");
  SpeedupJobs learners(task, two_devices("multi_gpu"), ODORI_SOLUTIONS, "/bin/false");
  EXPECT_GT(learners.seconds(Work::solution, 0), 0);
  EXPECT_THROW(learners.seconds(Work::learner, 0), FailedAtWork);
  SpeedupJobs kits(task, two_devices("multi_gpu"), "/nowhere", solution_of("multi_gpu"));
  EXPECT_THROW(kits.seconds(Work::one, 0), EnvironmentFault);
}

TEST(SpeedupJobs, StopALearnersJobThatTakesTooLong) {
  SpeedupJobs jobs(task_named("multi_gpu"), two_devices("multi_gpu"), ODORI_SOLUTIONS, solution_of("multi_gpu"));
  EXPECT_EQ(jobs.seconds(Work::learner, 10'000, 0.25), 0.25);
  EXPECT_LT(jobs.seconds(Work::learner, 1, 50), 50);
  EXPECT_NE(jobs.seconds(Work::solution, 1, 0.01), 0.01) << "the kit's own are never stopped";
}

TEST(SpeedupJobs, AreRunAgainIfSomebodyKillsThem) {
  const Task& task = task_named("multi_gpu");
  const ScratchFolder folder;
  const fs::path program = folder.path() / "program";
  for (const auto& [kills, is_accident] : {std::pair{1, true}, {9, false}}) {
    fs::remove(program.string() + ".starts");
    std::ofstream(program) << fmt::format(
        "#!/bin/bash\necho >>$0.starts\n[ $(wc -l <$0.starts) -gt {} ] || kill -KILL $$\nexec {} \"$@\"\n", kills,
        solution_of("multi_gpu").string());
    fs::permissions(program, fs::perms(0755));
    SpeedupJobs jobs(task, two_devices("multi_gpu"), ODORI_SOLUTIONS, program);
    if (is_accident)
      EXPECT_GT(jobs.seconds(Work::learner, 0), 0);
    else
      EXPECT_THROW(jobs.seconds(Work::learner, 0), FailedAtWork);
  }
}

// One update of the VGG: 14.99 million gradients of 4 bytes, 57.2 MiB.
TEST(Counts, AreThoseOfTheAlgorithm) {
  for (const auto& [task, expected] : std::vector<std::pair<const char*, std::map<std::string, std::string>>>{
           {"multi_gpu",
            {{"devices", "2"}, {"images", "32"}, {"updates", "4"}, {"gathered", "57.2"}, {"sent", "57.2"}}},
           {"multi_node",
            {{"devices", "2"}, {"images", "32"}, {"updates", "4"}, {"collectives", "1"}, {"averaged", "57.2"}}}}) {
    SpeedupJobs jobs(task_named(task), two_devices(task), ODORI_SOLUTIONS, solution_of(task));
    const bool under_mpi = task_named(task).under_mpi;
    const Finding counts = counts_of(timeline::read(jobs.trace()), under_mpi, SpeedupJobs::traced_images);
    EXPECT_EQ(counts.key, under_mpi ? "counts_ranks" : "counts_devices");
    EXPECT_EQ(counts.values, expected) << task;
  }
}

}  // namespace
}  // namespace odori::grader
