// What the measured times of a speedup say: pure functions.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <vector>

#include "checks/verdict.h"

namespace odori::grader {

/// One device alone; as many of those at once as there are devices, which never speak to each other; and the two
/// programs on all devices.
enum class Work { one, ceiling, learner, solution };

/// Seconds of whole jobs, by the grader's own clock. The i-th of the learner's and the i-th of the solution's ran next
/// to each other, as did the i-th of `one` and of `ceiling`.
struct Measured {
  int devices = 2;
  int images = 0, images_of_empty_job = 0;  // that each device trains on in a job
  std::map<Work, std::vector<double>> empty, whole;
  std::vector<std::size_t> pairs_before;     // how many pairs came before the i-th of `one` and of `ceiling`
  std::vector<bool> stopped;                 // the learner's jobs that took even longer
  std::optional<double> learner_to_its_end;  // one more of its jobs, if all of those were stopped

  std::size_t pairs() const;
  /// What comes before and after the training: the start of the program (and of mpirun), reading the data, making the
  /// model. The least that an empty job took (noise only ever adds), less the few images that even this one trains
  /// on.
  double start(Work work) const;
  /// Without the start. The learner's start is the solution's: what the learner's program does besides counts as its
  /// time.
  std::vector<double> training(Work work) const;
  /// The solution's, next to the i-th of `one`: the mean of the jobs before and after.
  std::vector<double> training_beside() const;
};

/// What is to be said: the verdict, why unless PASS, and the measured line if there is one (key "line").
struct SpeedupVerdict {
  Verdict verdict = Verdict::inconclusive;
  std::optional<Finding> why, line;
};

/// Nothing yet, if more pairs can tell more and there is time for them.
std::optional<SpeedupVerdict> decide(const Measured& measured, bool time_is_up);

/// Why a measurement would say nothing of devices that are the CPU's: too few cores.
std::optional<Finding> why_not_measured(int devices, int cores, bool under_mpi);

}  // namespace odori::grader
