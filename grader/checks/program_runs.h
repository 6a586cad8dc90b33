// Runs of a built program: several side by side, each once.
#pragma once

#include <atomic>
#include <future>
#include <map>
#include <memory>
#include <semaphore>
#include <vector>

#include "checks/checks.h"
#include "runner/run.h"

namespace odori::grader {

/// As many runs at once as this machine has cores.
using Cores = std::counting_semaphore<>;

class ProgramRuns : public Runs {
 public:
  ProgramRuns(const Runner& runner, std::filesystem::path program, Cores& cores)
      : runner_(runner), program_(std::move(program)), cores_(cores) {}

  ~ProgramRuns() override { cancel(); }

  void prepare(const std::vector<RunPlan>& plans) override;
  void cancel() override { cancelled_ = true; }
  /// Throws EnvironmentFault, and Error on Ctrl-C.
  const Evidence& of(const RunPlan& plan) override;
  const RunData& data() const override { return runner_.data(); }

 private:
  const Runner& runner_;
  std::filesystem::path program_;
  Cores& cores_;
  std::atomic<bool> cancelled_ = false;
  std::shared_future<void> last_began_;  // runs begin in the order in which they were asked for
  std::map<RunPlan, std::shared_future<Evidence>> runs_;
};

}  // namespace odori::grader
