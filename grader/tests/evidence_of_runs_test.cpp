// SPDX-License-Identifier: Apache-2.0
// What runs of the kit's own programs leave, how they are started, and the watch on their data. Part of evidence_test.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>

#include "checks/checks.h"
#include "files/file.h"
#include "observe/evidence.h"
#include "program/process.h"
#include "runner/evidence_files.h"
#include "runner/run.h"

namespace odori::grader {
namespace {

namespace fs = std::filesystem;

TEST(FileWatch, CountsOpenings) {
  const ScratchFolder folder;
  write_file(folder.path() / "a", "1");
  write_file(folder.path() / "b", "2");
  FileWatch watch(folder.path());
  EXPECT_EQ(watch.most_openings(), 0);
  for (const char* name : {"a", "b", "a"}) std::ifstream(folder.path() / name).get();
  EXPECT_EQ(watch.most_openings(), 2);
}

TEST(FileWatch, ThatIsCloseTellsOpeningsOfOneFileApart) {
  const ScratchFolder folder;
  write_file(folder.path() / "a", "1");
  FileWatch watch(folder.path(), true);
  for (int i = 0; i < 2; ++i) std::ifstream(folder.path() / "a").get();
  EXPECT_EQ(watch.most_openings(), 2);
}

std::filesystem::path solution_of(const Task& task) {
  return std::filesystem::path(ODORI_SOLUTIONS) / task.program.solution.stem();
}

/// Runs of the kit's own program.
class KitsRuns : public Runs {
 public:
  explicit KitsRuns(const Task& task) : program_(solution_of(task)), runner_(task, program_, 4) {}
  const Evidence& of(const RunPlan& plan) override {
    const auto [entry, is_new] = runs_.try_emplace(plan);
    if (is_new) entry->second = runner_.run(program_, plan, cancelled_);
    return entry->second;
  }
  const RunData& data() const override { return runner_.data(); }

 private:
  std::filesystem::path program_;
  Runner runner_;
  std::atomic<bool> cancelled_ = false;
  std::map<RunPlan, Evidence> runs_;
};

TEST(Evidence, OfTheKitsProgramsSatisfiesEveryCheck) {
  for (const Task& task : all_tasks()) {
    KitsRuns runs(task);
    const Exam exam = exam_of(task);
    const std::size_t other = std::random_device()() % exam.situations.size();  // check_test goes through all of them
    for (const RunPlan& plan : {exam.situations.front(), exam.situations[other]}) {
      for (const Check& check : exam.checks) {
        const auto finding = check.find({runs, plan});
        EXPECT_FALSE(finding) << task.name << ' ' << plan.workers() << ' ' << check.name << ": " << finding->key;
      }
      EXPECT_EQ(runs.of(plan).ending, Ending::finished);
      EXPECT_EQ(runs.of(plan).data_reads > 0, plan.epochs > 0) << "the data was not watched";
    }
  }
}

/// In a process's environment, or among what it has open.
bool is_known_to(const fs::path& process, const std::string& name) {
  if (read_file(process / "environ").find(name) != std::string::npos) return true;
  for (const auto& file : fs::directory_iterator(process / "fd"))
    if (std::error_code gone; fs::read_symlink(file, gone).string().starts_with(name)) return true;
  return false;
}

/// Has the process this byte of the file NAME.0 in its memory?
bool is_mapped_in(const fs::path& process, const std::string& name, std::size_t byte) {
  std::ifstream maps(process / "maps");
  for (std::string line; std::getline(maps, line);) {
    std::size_t begin = 0, end = 0, offset = 0;
    if (line.find(name) != std::string::npos &&
        std::sscanf(line.c_str(), "%zx-%zx %*s %zx", &begin, &end, &offset) == 3 && offset <= byte &&
        byte < offset + (end - begin))
      return true;
  }
  return false;
}

TEST(Evidence, OfAKilledProgramHoldsWhatCameBefore) {
  const ScratchFolder folder;
  KitsRuns runs(task_named("multi_gpu"));
  EvidenceFiles files(folder.path(), 1);
  const Command command{.arguments = {solution_of(task_named("multi_gpu")).string(), "--device", "cpu", "--model",
                                      "tiny", "--no-snapshot", "--dataset", runs.data().folder.string(), "--batchsize",
                                      "4", "--epoch", "1000000"},
                        .environment = {{"ODORI_EVIDENCE", files.name()}},
                        .folder = folder.path()};
  fs::path process;
  bool found = false;  // the name, where what runs in the process could find it and write by it
  bool head = false, old = false, next = false;  // are they in its memory?
  const Ended ended =
      run_process(command, {.give_up =
                                [&] {
                                  if (files.look() <= 400'000) return false;
                                  found = is_known_to(process, files.name());
                                  head = is_mapped_in(process, files.name(), 0);
                                  old = is_mapped_in(process, files.name(), observe::evidence_head_bytes) ||
                                        is_mapped_in(process, files.name(), observe::evidence_head_bytes + 300'000);
                                  next = is_mapped_in(process, files.name(), observe::evidence_head_bytes + 10'000'000);
                                  return true;
                                },
                            .started = [&](int id) { process = fs::path("/proc") / std::to_string(id); }});
  EXPECT_FALSE(found);
  EXPECT_TRUE(head && next);
  EXPECT_FALSE(old) << "what was told could be changed";
  EXPECT_TRUE(ended.stopped);
  const auto seen = files.read(limits_of(runs.data())).front();
  ASSERT_GT(seen.steps.size(), 5u);
  EXPECT_EQ(seen.devices, (std::map<std::string, int>{{"main", 0}, {"gpu1", 1}}));
  for (const auto& update : seen.steps)
    for (const Step& step : update) EXPECT_EQ(step.parameters.size(), 5146u);
}

TEST(Launch, SimulatesThePlansLinkAndNoOther) {
  setenv("ODORI_LINK", "no link", 1);
  KitsRuns runs(task_named("ring"));
  const RunPlan plain{.nodes = {0, 1}, .epochs = 0, .flags = {"--epoch", "0", "--length", "7"}};
  RunPlan linked = plain;
  linked.link = "1mbit,1us";
  const Evidence &without = runs.of(plain), &with = runs.of(linked);
  EXPECT_EQ(without.ending, Ending::finished) << without.detail;
  EXPECT_EQ(with.ending, Ending::finished) << with.detail;
  linked.link = "a rope";
  EXPECT_EQ(runs.of(linked).ending, Ending::environment) << "the kit's program refuses it too";
  unsetenv("ODORI_LINK");
}

TEST(Launch, ReadsNoSettingsThatASiteOrAUserHasForOtherRuns) {
  const ScratchFolder home;
  std::filesystem::create_directory(home.path() / ".openmpi");
  write_file(home.path() / ".openmpi" / "mca-params.conf", "pml = ucx\nplm = slurm\n");
  const std::map<std::string, std::string> settings{{"HOME", home.path().string()},
                                                    {"OMPI_MCA_btl", "nothing,self"},
                                                    {"OMPI_MCA_mca_base_env_list", "A;B"},
                                                    {"OMPI_MCA_orte_default_hostfile", "/nowhere"},
                                                    {"OMPI_MCA_rmaps_base_no_oversubscribe", "1"}};
  std::map<std::string, std::string> before;
  for (const auto& [name, value] : settings) {
    if (const char* old = std::getenv(name.c_str())) before[name] = old;
    setenv(name.c_str(), value.c_str(), 1);
  }
  KitsRuns runs(task_named("multi_node"));
  EXPECT_EQ(runs.of({.nodes = {0, 0, 1, 1}}).ending, Ending::finished) << runs.of({.nodes = {0, 0, 1, 1}}).detail;
  for (const auto& [name, value] : settings) {
    unsetenv(name.c_str());
    if (before.contains(name)) setenv(name.c_str(), before[name].c_str(), 1);
  }
}

}  // namespace
}  // namespace odori::grader
