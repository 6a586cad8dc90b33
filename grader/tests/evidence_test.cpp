// Evidence: what is read of a run's files, however it ended, and what the kit's own programs leave there.
#include "worker/evidence.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "checks/checks.h"
#include "worker/file_watch.h"
#include "worker/process.h"
#include "worker/run.h"

namespace odori::grader {
namespace {

void write(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

RankSeen read(const std::string& lines, const std::string& numbers = {}) {
  const ScratchFolder folder;
  write(folder.path() / "0.jsonl", lines);
  write(folder.path() / "0.bin", numbers);
  return read_evidence(folder.path(), 1).front();
}

TEST(Evidence, OfARankThatWroteNothingIsEmpty) {
  const ScratchFolder folder;
  const auto ranks = read_evidence(folder.path(), 3);
  ASSERT_EQ(ranks.size(), 3u);
  EXPECT_TRUE(!ranks[2].device && ranks[2].steps.empty() && !ranks[2].error);
}

TEST(Evidence, EndsBeforeAHalfWrittenLine) {
  const RankSeen seen = read("{\"fact\":\"use_device\",\"device\":1}\n{\"fact\":\"to_device\",\"dev");
  EXPECT_EQ(seen.device, 1);
  EXPECT_FALSE(seen.model_device);
}

TEST(Evidence, GoesOnBehindALineThatIsNoFact) {
  const RankSeen seen = read("nonsense\n[1]\n{\"fact\":\"use_device\"}\n{\"fact\":\"use_device\",\"device\":2}\n");
  EXPECT_EQ(seen.device, 2);
}

TEST(Evidence, PutsAnUpdateTogetherInWhateverOrderDevicesWrite) {
  const float numbers[] = {1, 2, 3, 4};
  const RankSeen seen = read(
      "{\"fact\":\"batch\",\"device\":1,\"pictures\":[5,6]}\n{\"fact\":\"batch\",\"device\":0,\"pictures\":[7,8]}\n"
      "{\"fact\":\"parameters\",\"device\":0,\"at\":0,\"numbers\":2}\n"
      "{\"fact\":\"parameters\",\"device\":1,\"at\":8,\"numbers\":2}\n{\"fact\":\"updated\"}\n"
      "{\"fact\":\"batch\",\"device\":0,\"pictures\":[9]}\n",
      std::string(reinterpret_cast<const char*>(numbers), sizeof numbers));
  ASSERT_EQ(seen.steps.size(), 1u);  // the second update never ended
  ASSERT_EQ(seen.steps[0].size(), 2u);
  EXPECT_EQ(seen.steps[0][0].pictures, (Pictures{7, 8}));
  EXPECT_EQ(seen.steps[0][1].pictures, (Pictures{5, 6}));
  EXPECT_EQ(seen.steps[0][1].parameters, (std::vector<float>{3, 4}));
}

TEST(Evidence, LeavesOutNumbersThatAreNotThere) {
  const RankSeen seen = read(
      "{\"fact\":\"parameters\",\"device\":0,\"at\":0,\"numbers\":99}\n"
      "{\"fact\":\"parameters\",\"device\":1,\"at\":18446744073709551615,\"numbers\":4611686018427387905}\n"
      "{\"fact\":\"updated\"}\n",
      "four");
  ASSERT_EQ(seen.steps.size(), 1u);
  EXPECT_TRUE(seen.steps[0].empty());
}

TEST(Evidence, TellsInWhichCallARankStays) {
  const RankSeen seen = read(
      "{\"fact\":\"enter\",\"collective\":\"scatter_dataset()\"}\n{\"fact\":\"leave\",\"collective\":\"scatter_dataset("
      ")\"}\n"
      "{\"fact\":\"enter\",\"collective\":\"optimizer->update()\"}\n");
  EXPECT_EQ(seen.collectives, (std::vector<std::string>{"scatter_dataset()", "optimizer->update()"}));
  EXPECT_TRUE(seen.inside_collective);
}

TEST(FileWatch, CountsOpenings) {
  const ScratchFolder folder;
  write(folder.path() / "a", "1");
  write(folder.path() / "b", "2");
  FileWatch watch(folder.path());
  EXPECT_EQ(watch.most_openings(), 0);
  for (const char* name : {"a", "b", "a"}) std::ifstream(folder.path() / name).get();
  EXPECT_EQ(watch.most_openings(), 2);
}

std::filesystem::path solution_of(const Task& task) {
  return std::filesystem::path(ODORI_SOLUTIONS) / task.program.stem();
}

/// Runs of the kit's own program.
class KitsRuns : public Runs {
 public:
  explicit KitsRuns(const Task& task) : program_{solution_of(task), ""}, runner_(task, program_.file, 4) {}
  const Evidence& of(const RunPlan& plan) override {
    const auto [entry, is_new] = runs_.try_emplace(plan);
    if (is_new) entry->second = runner_.run(program_, plan, cancelled_);
    return entry->second;
  }
  const RunData& data() const override { return runner_.data(); }

 private:
  Program program_;
  Runner runner_;
  std::atomic<bool> cancelled_ = false;
  std::map<RunPlan, Evidence> runs_;
};

TEST(Evidence, OfTheKitsProgramsSatisfiesEveryCheck) {
  for (const Task& task : all_tasks()) {
    KitsRuns runs(task);
    for (const Check& check : checks_of(task)) {
      const auto finding = check.find(runs);
      EXPECT_FALSE(finding) << task.name << ' ' << check.blank << ' ' << check.name << ": " << finding->key;
    }
    const RunPlan plan = task.under_mpi ? RunPlan{.nodes = {0, 0, 1, 1}} : RunPlan{.devices = 3};
    EXPECT_EQ(runs.of(plan).ending, Ending::finished);
    EXPECT_EQ(runs.of(plan).data_reads, 1) << "the data was not watched";
  }
}

TEST(Evidence, OfAKilledProgramHoldsWhatCameBefore) {
  const ScratchFolder folder;
  KitsRuns runs(task_named("multi_gpu"));
  std::filesystem::create_directory(folder.path() / "evidence");
  const Command command{
      .words = {solution_of(task_named("multi_gpu")).string(), "--device", "cpu", "--model", "tiny", "--no_snapshot",
                "--dataset", runs.data().folder.string(), "--batchsize", "4", "--epoch", "1000000"},
      .environment = {{"ODORI_EVIDENCE", (folder.path() / "evidence").string()}},
      .folder = folder.path()};
  const auto file = folder.path() / "evidence" / "0.bin";
  std::error_code none_yet;
  const Ended ended = run_process(command, {.give_up = [&] {
                                    const auto size = std::filesystem::file_size(file, none_yet);
                                    return !none_yet && size > 400'000;
                                  }});
  EXPECT_TRUE(ended.stopped);
  const auto seen = read_evidence(folder.path() / "evidence", 1).front();
  ASSERT_GT(seen.steps.size(), 5u);
  EXPECT_EQ(seen.devices, (std::map<std::string, int>{{"main", 0}, {"gpu1", 1}}));
  for (const auto& update : seen.steps)
    for (const Step& step : update) EXPECT_EQ(step.parameters.size(), 5146u);
}

}  // namespace
}  // namespace odori::grader
