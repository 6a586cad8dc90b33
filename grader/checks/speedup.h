// SPDX-License-Identifier: Apache-2.0
// The measured speedup: is the learner's program, on several devices, at least 0.9 times as fast as the kit's solution?
//
// Jobs. They run one at a time, and the grader's clock measures whole jobs. A job's training time is its time less its
// start, which is the shortest of the empty jobs: those train on next to no images. Work lists the kinds of jobs.
//
// Order. First one job of the learner's runs to its end. Then come blocks: the empty jobs, `one`, `ceiling`, and 3
// pairs of `learner` and `solution`. In each pair a coin decides which one is first, so that whatever the machine does
// meanwhile is as likely to delay the one as the other. A learner's job of a pair is stopped when it has trained twice
// as long as the solution does.
//
// Verdict. A pair's share is the solution's training time divided by the learner's. After 12, 18 and 24 pairs, and when
// the time is up, the grader looks at the median of the shares and its interval (interval_of_median, 1 of 4000):
//   PASS          the median is at least 0.9, and the interval is above 0.76
//   WRONG         the median is below 0.9, and the interval is below 1
//   INCONCLUSIVE  neither when the time is up; or devices in turn may be as fast on this machine: the ceiling is below
//                 1.3, or the interval of the solution's speedup reaches below 1.11; or faster than the ceiling
//
// Errors. With 4 looks at most 1 of 1000 programs that are as fast as the solution is WRONG, and at most 1 of 1000 with
// 0.76 of its speed passes, whatever the noise (build/bin/speedup_decisions simulates it).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "checks/verdict.h"

namespace odori::grader {

/// The middle value, or the mean of the two middle ones. At least one value.
double median(std::vector<double> values);

/// The sign test's interval of the true median: the (k + 1)-th smallest and the (k + 1)-th largest of n values, k the
/// largest with P(Bin(n, 1/2) <= k) <= `error`. For any distribution. Nothing if n is too small for any k.
std::optional<std::pair<double, double>> interval_of_median(std::vector<double> values, double error);

/// The kit's program on one device, with that device's share of the images; as many of those at once as there are
/// devices; and the two programs on all devices.
enum class Work { one, ceiling, solution, learner };

class TimedWork {
 public:
  virtual ~TimedWork() = default;
  virtual int devices() const = 0;
  virtual int images() const = 0;  // that each device trains on in a job, all epochs together
  /// Seconds of an empty job. Not called for the learner's program.
  virtual double start(Work work) = 0;
  /// Seconds of a job by the grader's clock, from its start until its last process has ended. If `at_most` isn't 0, a
  /// learner's job is stopped after it, and takes `at_most`.
  virtual double seconds(Work work, double at_most = 0) = 0;
};

/// Seconds of jobs in their order. The i-th jobs of `learner` and `solution` are a pair of block i / pairs_of_block.
struct Measured {
  static constexpr std::size_t pairs_of_block = 3;
  int devices = 2, images = 0;
  double first = 0;  // the learner's job that ran to its end
  std::map<Work, std::vector<double>> starts, jobs;

  double start(Work work) const;  // of the solution for both: extra start-up work of the learner's is training time
  std::vector<double> training(Work work) const;
};

struct SpeedupVerdict {
  Verdict verdict = Verdict::inconclusive;
  std::optional<Finding> why, line;  // none with PASS; the measured line
};

/// Of at least one pair. Nothing if more pairs can tell more and there is time for them.
std::optional<SpeedupVerdict> judge(const Measured& measured, bool time_is_up);

/// Takes at most `seconds_in_all` and one more job. `coin` decides who is first in each pair; no program may know it.
SpeedupVerdict measure_speedup(TimedWork& work, std::uint64_t coin, double seconds_in_all = 58);

}  // namespace odori::grader
