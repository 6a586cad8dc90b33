// The measured speedup: the learner's program and the kit's own solution, job by job in pairs, and now and then the
// kit's one-device baseline and a ceiling, on the same machine, until the pairs can tell.
#pragma once

#include <cstdint>

#include "checks/speedup_verdict.h"

namespace odori::grader {

/// What can be timed. Every device trains on `images_per_epoch` images an epoch.
class TimedWork {
 public:
  virtual ~TimedWork() = default;
  virtual int devices() const = 0;
  virtual int images_per_epoch() const = 0;
  /// Of the shortest job there is: one iteration a device, and all that comes before and after it.
  virtual int images_of_empty_job() const = 0;
  /// Seconds by the grader's own clock round the whole job, from its start until its last process has ended.
  /// `epochs` 0: the empty job. The learner's job is stopped after `at_most` seconds if that isn't 0; then they are its
  /// seconds.
  virtual double seconds(Work work, int epochs, double at_most = 0) = 0;
};

struct SpeedupLimits {
  double longest_training = 1;  // seconds of a job without its start, as long as an epoch isn't more
  double seconds_in_all = 58;   // and one job of a learner's program that is so slow that all of these were stopped
};

/// Measures until it can be judged. `coin` decides in each pair who comes first; no program may know it.
SpeedupVerdict measure_speedup(TimedWork& work, std::uint64_t coin, const SpeedupLimits& limits = {});

}  // namespace odori::grader
