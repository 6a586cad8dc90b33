// The jobs that are timed for the speedup, and one that is traced.
#pragma once

#include <filesystem>

#include "checks/speedup.h"
#include "exercise/task.h"
#include "worker/run.h"

namespace odori::grader {

/// The learner's program ended badly, or not at all, on more images than the checks give it.
struct FailedAtWork {
  EndedInside ended;
};

/// The machine that the jobs run on, and how many of its devices they use. Task 1: two devices. Task 2: the two nodes
/// that its job script asks for, both played by this machine, with two ranks each or as many as there are cores for;
/// GPUs are one node's, since two nodes played by one machine would share them; where there is one GPU for all devices,
/// they are the CPU's.
struct Layout {
  int devices = 2;
  std::string nodes;  // of each rank, as ODORI_NODES has it
  bool on_gpus = false;
  static Layout on_machine(const Task& task, int cores, int gpus);
};

class SpeedupJobs : public TimedWork {
 public:
  /// `solutions`: the folder of the kit's built programs; `sandbox`: what all jobs run in, the kit's own too, so that
  /// their times can be compared. Makes a data set. Throws EnvironmentFault if the disk is full.
  SpeedupJobs(const Task& task, const Layout& layout, std::filesystem::path solutions, std::filesystem::path learners,
              const Sandbox* sandbox = nullptr);

  int devices() const override { return layout_.devices; }
  int images_per_epoch() const override;
  int images_of_empty_job() const override;
  /// Throws FailedAtWork, EnvironmentFault if one of the kit's programs fails, and Error on Ctrl-C.
  double seconds(Work work, int epochs, double at_most = 0) override;

  static constexpr int traced_iterations = 4, traced_images = 32;
  /// A few iterations of the learner's program with the workshop's real network. Returns the folder of its event
  /// stream, which lives as long as this. Throws as seconds() does.
  std::filesystem::path trace();

 private:
  struct Size {
    const char* network;
    int images;  // a device and iteration
    double fraction;
    int epochs;
  };
  std::filesystem::path program_of(Work work) const;
  Command command(Work work, const Size& size, int place) const;
  SandboxPolicy policy_of(Work work) const;
  double run(Work work, const std::vector<Command>& commands, double at_most = 0, int more_attempts = 2) const;

  const Task& task_;
  Layout layout_;
  std::filesystem::path solutions_;
  std::filesystem::path learners_;
  const Sandbox* sandbox_;
  std::vector<std::filesystem::path> libraries_;
  ScratchFolder scratch_;
};

}  // namespace odori::grader
