// SPDX-License-Identifier: Apache-2.0
// A machine that is made up, for the speedup's tests and for its benchmark.
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "checks/speedup.h"
#include "numbers/random.h"

namespace odori::grader {

/// A learner's program: its speed as a share of the solution's, and whether it keeps all devices busy. One that doesn't
/// is no slower while another program has a core.
struct SimulatedAnswer {
  double share = 1;
  bool parallel = true;
  double start = 0;  // seconds that its start takes longer
};

/// Time on two devices, made up. Times are those of a quiet 2-core machine.
class SimulatedMachine : public TimedWork {
 public:
  struct Noise {
    double spread = 0.02;      // of a job's time: standard deviation of its logarithm
    double heavy_tails = 0;    // likewise, but Student's t with 2 degrees of freedom
    double drift = 0;          // slower by this with each job, as by heat
    double busy_seconds = 0;   // another program has one core for so long, on average,
    double quiet_seconds = 1;  // and then rests so long;
    double slowdown = 1.5;     // meanwhile two devices have 2/3 of a core each, or less
  };

  double one_seconds = 0.4;                // a job's training on one device
  double ceiling = 1.95, solution = 1.85;  // speedups
  double job_start = 0.1, mpirun = 0.25;   // mpirun comes on top
  Noise noise;
  SimulatedAnswer answer;
  double elapsed = 0;
  std::vector<Work> order;  // of the jobs that aren't empty

  explicit SimulatedMachine(std::uint64_t seed = 7) : random_(seed, RandomUse::synthetic_data) {}

  int devices() const override { return 2; }
  int images() const override { return 8192; }
  double start(Work work) override { return job(work, one_seconds / 50); }
  double seconds(Work work, double at_most = 0) override {
    order.push_back(work);
    return job(work, one_seconds, at_most);
  }

 private:
  double job(Work work, double training, double at_most = 0) {
    const bool alone = work == Work::one || work == Work::ceiling;
    const double before = (job_start + (alone ? 0 : mpirun) + (work == Work::learner ? answer.start : 0)) * factor();
    const bool parallel = work != Work::one && (work != Work::learner || answer.parallel);
    double seconds = under_load(before, false);
    seconds += under_load(training * 2 / speedup(work) * factor(), parallel);
    slower_ *= 1 + noise.drift;
    if (at_most > 0 && work == Work::learner) seconds = std::min(seconds, at_most);
    elapsed += seconds;
    return seconds;
  }
  double speedup(Work work) const {
    if (work == Work::one) return 2;  // it trains on one device's images alone
    if (work == Work::ceiling) return ceiling;
    return work == Work::solution ? solution : solution * answer.share;
  }
  double normal() {
    const double u = 1 - random_.uniform();
    return std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * random_.uniform());
  }
  double factor() {
    const double heavy = noise.heavy_tails * normal() / std::sqrt(-std::log(1 - random_.uniform()));
    // Noise adds time: a job that is much faster than others isn't seen.
    return slower_ * std::exp(std::max(-0.2, noise.spread * normal()) + std::abs(heavy));
  }
  /// How long `work` seconds of a quiet machine take.
  double under_load(double work, bool parallel) {
    if (noise.busy_seconds <= 0) return work;
    double taken = 0;
    while (work > 0) {
      if (left_ <= 0) {
        busy_ = !busy_;
        left_ = -(busy_ ? noise.busy_seconds : noise.quiet_seconds) * std::log(1 - random_.uniform());
      }
      const double slowdown = busy_ && parallel ? noise.slowdown : 1;
      const double step = std::min(left_, work * slowdown);
      work -= step / slowdown, taken += step, left_ -= step;
      if (work < 1e-9) break;
    }
    return taken;
  }

  RandomSequence random_;
  double slower_ = 1, left_ = 0;
  bool busy_ = false;
};

}  // namespace odori::grader
