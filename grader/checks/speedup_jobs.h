// The jobs that are timed for the speedup, and one that is traced.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "blanks/task.h"
#include "checks/speedup.h"
#include "runner/evidence.h"
#include "runner/run.h"
#include "runner/run_plan.h"

namespace odori::grader {

class EvidenceFiles;

/// The learner's program ended badly, or not at all, or did not train as it has to.
struct FailedAtWork {
  Verdict verdict;
  Finding finding;
};

/// The machine that the jobs run on, and how many of its devices they use. Task 1: two devices. Task 2: the two nodes
/// that its job script asks for, both played by this machine, with two ranks each or as many as there are cores for;
/// GPUs are one node's, since two nodes played by one machine would share them; where there is one GPU for all devices,
/// they are the CPU's.
struct Layout {
  int devices = 2;
  std::vector<int> nodes;  // of each rank; none in task 1
  bool on_gpus = false;
  static Layout on_machine(const Task& task, int cores, int gpus);
};

/// A job is the exam's situation with as many devices, on more images and with larger batches. It has the same flags:
/// on CPU devices only --batchsize has another value, and --seed, which differs in every check. Every job writes
/// evidence, the kit's too, so that it costs all of them the same. The grader counts the images in it. The learner's
/// first job, on CPU devices, also has to pass the exam's checks, weights included. So an answer gains nothing
/// by training otherwise when it is timed.
class SpeedupJobs : public TimedWork {
 public:
  /// `solutions`: the folder of the kit's built programs; `seed`: of the exam's data; `sandbox`: what all jobs run in,
  /// the kit's own too. Throws EnvironmentFault if the disk is full.
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
  std::filesystem::path program_of(Work work) const;
  Command command(Work work, const Job& job, int place) const;
  SandboxPolicy policy_of(Work work, const EvidenceFiles& evidence, int place) const;
  Done run(Work work, const Job& job, double at_most = 0, int more_attempts = 2) const;

  const Task& task_;
  Layout layout_;
  std::filesystem::path solutions_;
  std::filesystem::path learners_;
  const Sandbox* sandbox_;
  Job full_, empty_;
  std::vector<std::filesystem::path> libraries_;
  ScratchFolder scratch_;
  RunData data_;
};

}  // namespace odori::grader
