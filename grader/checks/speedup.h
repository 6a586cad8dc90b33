// The measured speedup: rounds of the kit's one-device baseline, a ceiling, the learner's program and the kit's own
// solution, side by side on the same machine, until the median is known well enough.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "checks/verdict.h"

namespace odori::grader {

/// One device alone; as many of those at once as there are devices, which never speak to each other; and the two
/// programs on all devices.
enum class Work { one, ceiling, learner, solution };

/// What can be timed. Every device trains on `pictures_per_epoch` pictures an epoch.
class TimedWork {
 public:
  virtual ~TimedWork() = default;
  virtual int devices() const = 0;
  virtual int pictures_per_epoch() const = 0;
  /// Of the shortest job there is: one iteration a device, and all that comes before and after it.
  virtual int pictures_of_empty_job() const = 0;
  /// Seconds by the grader's own clock round the whole job, from its start until its last process has ended.
  /// `epochs` 0: the empty job.
  virtual double seconds(Work work, int epochs) = 0;
};

/// Images/s of one round, all measured within seconds of each other.
struct Round {
  double one = 0, ceiling = 0, learner = 0, solution = 0;
};

struct SpeedupLimits {
  double seconds_a_job = 1;  // of the baseline, without its start
  double seconds_in_all = 50;
};

/// What is to be said: the verdict, why unless PASS, and the measured line if there is one (key "line").
struct SpeedupVerdict {
  Verdict verdict = Verdict::inconclusive;
  std::optional<Finding> why, line;
};

/// Nothing yet, if more rounds would tell more and there is time for them.
std::optional<SpeedupVerdict> judge(const std::vector<Round>& rounds, int devices, bool time_is_up);

/// Measures until it can be judged.
SpeedupVerdict measure_speedup(TimedWork& work, const SpeedupLimits& limits = {});

/// Why a measurement would say nothing on this machine: too few cores, or GPUs that are shared.
std::optional<Finding> why_not_measured(int devices, int cores, int gpus, bool under_mpi);

}  // namespace odori::grader
