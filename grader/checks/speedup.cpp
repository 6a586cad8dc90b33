#include "checks/speedup.h"

#include <algorithm>
#include <cmath>

#include "checks/statistics.h"
#include "core/random.h"

namespace odori::grader {
namespace {

constexpr int pairs_a_side = 5;      // the baseline and the ceiling are measured with every fifth pair
constexpr double slow_enough = 2.5;  // times the solution's training: the learner's job need not go on

/// Jobs, one after the other, and the seconds that they took.
class Measurement {
 public:
  explicit Measurement(TimedWork& work) : work_(work) { measured.devices = work.devices(); }

  /// Jobs as long as their start, so that neither costs most of the time, within whole epochs and the limit.
  void choose_length(double longest_training) {
    for (const Work work : {Work::one, Work::solution}) empty(work);
    const double start = measured.empty[Work::solution].front();
    const double epoch = std::max(1e-3, time(Work::one, 1) - measured.empty[Work::one].front());
    epochs_ = std::max(1, static_cast<int>(std::min(start / 2, longest_training) / epoch));
    measured.pictures = epochs_ * work_.pictures_per_epoch();
    measured.pictures_of_empty_job = work_.pictures_of_empty_job();
  }

  void side() {
    for (const Work work : {Work::one, Work::ceiling, Work::solution}) empty(work);
    for (const Work work : {Work::one, Work::ceiling}) measured.whole[work].push_back(time(work, epochs_));
  }

  void pair(bool learner_first) {
    const double at_most = this->at_most();
    const auto run = [&](Work work) {
      measured.whole[work].push_back(time(work, epochs_, work == Work::learner ? at_most : 0));
    };
    run(learner_first ? Work::learner : Work::solution);
    run(learner_first ? Work::solution : Work::learner);
    measured.stopped.push_back(at_most > 0 && measured.whole[Work::learner].back() >= at_most);
  }

  Measured measured;
  double passed = 0;  // seconds; next to nothing happens between the jobs

 private:
  double time(Work work, int epochs, double at_most = 0) {
    const double seconds = work_.seconds(work, epochs, at_most);
    passed += seconds;
    return seconds;
  }
  void empty(Work work) { measured.empty[work].push_back(time(work, 0)); }

  /// Nothing in the first pair: its job may take as long as it needs, so that a learner can be told how long that is.
  double at_most() const {
    if (measured.pairs() == 0) return 0;
    const double training = median(measured.training(Work::solution));
    return median(measured.whole.at(Work::solution)) + (slow_enough - 1) * training;
  }

  TimedWork& work_;
  int epochs_ = 1;
};

}  // namespace

SpeedupVerdict measure_speedup(TimedWork& work, std::uint64_t coin, const SpeedupLimits& limits) {
  RandomSequence toss(coin, RandomUse::shuffle);
  Measurement measurement(work);
  measurement.choose_length(limits.longest_training);
  for (int i = 0;; ++i) {
    if (i % pairs_a_side == 0) measurement.side();
    const double began = measurement.passed;
    measurement.pair(toss.below(2) == 0);
    const double pair = measurement.passed - began;
    if (const auto verdict = judge(measurement.measured, measurement.passed + pair > limits.seconds_in_all))
      return *verdict;
  }
}

}  // namespace odori::grader
