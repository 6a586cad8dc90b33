// SPDX-License-Identifier: Apache-2.0
// What follows when all blanks are right: counts that need no clock, the timeline, and the measured speedup.
#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "blanks/task.h"
#include "checks/judge_answer.h"
#include "checks/speedup.h"
#include "report/timeline.h"
#include "runner/run.h"

namespace odori::grader {

struct SpeedupStep {
  BlankVerdict verdict;            // blank 0
  std::optional<Finding> line;     // "1 device 104 images/s, 2 devices ..."; none if nothing was measured
  std::optional<Finding> counts;   // none if the learner's program failed, or took too long
  std::filesystem::path timeline;  // the page that was written; empty if none could be
};

/// Takes up to a minute. `whole`: the learner's program, all of which is right. The page is
/// timeline.html in the question's `out`. Throws Error on Ctrl-C.
SpeedupStep take_speedup(const Question& question, const std::filesystem::path& whole, double points,
                         const std::string& language);

/// Returns the path; empty if it can't be written: no reason to hold back a verdict.
std::filesystem::path write_page(const std::filesystem::path& path, const std::string& page);

/// What one update moves, by the learner's own event stream.
Finding counts_of(const timeline::Timeline& timeline, bool under_mpi, int images_a_device);

/// Why CPU devices can't be measured: there are too few cores.
std::optional<Finding> why_not_measured(int devices, int cores, bool under_mpi);

/// The learner's program ended badly, or not at all, or did not train as it has to.
struct FailedAtWork {
  Verdict verdict;
  Finding finding;
};

/// The devices that jobs use. Task 1: two. Task 2: the two nodes of its job script, both played by this machine, with
/// two ranks each or one where cores are few. With fewer GPUs than devices they are the CPU's. GPUs belong to one node:
/// two nodes played by one machine would share them.
struct Layout {
  int devices = 2;
  std::vector<int> nodes;  // of each rank; none in task 1
  bool on_gpus = false;
  static Layout on_machine(const Task& task, int cores, int gpus);
};

/// A job is the exam's test case with as many devices, on more images and with larger batches. On CPU devices only
/// --batchsize and --seed have other values. Every job writes evidence, and the grader counts the images in it. The
/// learner's first job, on CPU devices, also has to pass the exam's checks, weights included. So an answer gains
/// nothing by training otherwise when it is timed.
class SpeedupJobs : public TimedWork {
 public:
  /// `solutions`: the folder of the kit's built programs; `seed`: of the data; `sandbox`: for all jobs, the kit's too.
  /// Throws EnvironmentFault if the disk is full.
  SpeedupJobs(const Task& task, const Layout& layout, std::filesystem::path solutions, std::filesystem::path learners,
              std::uint64_t seed, const Sandbox* sandbox = nullptr);

  int devices() const override { return layout_.devices; }
  int images() const override { return full_.images * full_.plan.epochs; }
  // Both throw FailedAtWork, EnvironmentFault if one of the kit's programs fails, and Error on Ctrl-C.
  double start(Work work) override { return run(work, empty_).seconds; }
  double seconds(Work work, double at_most = 0) override;

  static constexpr int traced_iterations = 4, traced_images = 32;
  /// A few iterations of the learner's program with the workshop's real network. Returns the folder of its event
  /// stream, which lives as long as this. Throws as seconds() does.
  std::filesystem::path trace();

 private:
  struct Job {
    RunPlan plan;
    int images = 0;  // that each device trains on in an epoch
    std::string network;
    std::vector<std::string> flags = {};  // further ones
  };
  struct Done {
    double seconds = 0;
    Evidence evidence = {};  // of the last program, where several ran
  };
  std::filesystem::path folder(int place) const;
  void add_start(std::deque<Start>& starts, Work work, const Job& job) const;
  Done run(Work work, const Job& job, double at_most = 0, int more_attempts = 2) const;

  const Task& task_;
  Layout layout_;
  std::filesystem::path solutions_, learners_;
  const Sandbox* sandbox_;
  Job full_, empty_;
  std::vector<std::filesystem::path> libraries_;
  ScratchFolder scratch_;
  RunData data_;
};

}  // namespace odori::grader
