#include "checks/speedup.h"

#include <algorithm>
#include <cmath>

#include "checks/statistics.h"
#include "numbers/random.h"

namespace odori::grader {
namespace {

constexpr double slow_enough = 2;          // times the solution's training: the learner's job need not go on
constexpr double shortest_training = 0.4;  // seconds of a job without its start, so that noise is a small part of them

/// Jobs, one after the other, and the seconds that they took.
class Measurement {
 public:
  explicit Measurement(TimedWork& work) : work_(work) { measured.devices = work.devices(); }

  /// Training that takes half as long as the start, so that neither costs most of the time, within whole epochs and
  /// the limits.
  void choose_length(double longest_training) {
    for (const Work work : {Work::one, Work::solution}) empty(work);
    const double start = measured.empty[Work::solution].front();
    const int images = work_.images_per_epoch(), images_before = work_.images_of_empty_job();
    const double more = time(Work::one, 2) - measured.empty[Work::one].front();
    const double epoch = std::max(1e-3, more * images / (2 * images - images_before));
    const double training = std::min(std::max(start / 2, shortest_training), longest_training);
    epochs_ = std::max(1, static_cast<int>(std::lround(training / epoch)));
    measured.images = epochs_ * images;
    measured.images_of_empty_job = images_before;
  }

  void starts() {
    for (const Work work : {Work::one, Work::ceiling, Work::solution}) empty(work);
  }

  void side() {
    for (const Work work : {Work::one, Work::ceiling}) measured.whole[work].push_back(time(work, epochs_));
    measured.pairs_before.push_back(measured.pairs());
  }

  /// The learner's job is stopped when it is slow beyond doubt.
  void pair(bool learner_first) {
    const double at_most = enough();
    const auto run = [&](Work work) {
      measured.whole[work].push_back(time(work, epochs_, work == Work::learner ? at_most : 0));
    };
    run(learner_first ? Work::learner : Work::solution);
    run(learner_first ? Work::solution : Work::learner);
    measured.stopped.push_back(measured.whole[Work::learner].back() >= at_most);
  }

  /// For a learner all of whose jobs were stopped: how long does one take, if it ends at all?
  void let_learner_end() {
    const auto& stopped = measured.stopped;
    if (std::find(stopped.begin(), stopped.end(), false) == stopped.end())
      measured.learner_to_its_end = time(Work::learner, epochs_);
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

  /// Before the first pair it isn't known yet how long the solution trains: not longer than its devices in turn.
  double enough() const {
    const double before =
        measured.pairs() > 0 ? measured.start(Work::solution) : measured.empty.at(Work::solution).front();
    const double training = measured.pairs() > 0 ? median(measured.training(Work::solution))
                                                 : measured.devices * median(measured.training(Work::one));
    return before + slow_enough * training;
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
    // The baseline and the ceiling less often than the pair, but often enough to see a core that goes away for a while:
    // without it, devices in turn are as fast as the solution.
    if (i == 0 || i == 8) measurement.starts();
    if (i % 4 == 0) measurement.side();
    const double began = measurement.passed;
    measurement.pair(toss.below(2) == 0);
    const double pair = measurement.passed - began;
    const bool time_is_up = measurement.passed + pair > limits.seconds_in_all;
    const auto verdict = decide(measurement.measured, time_is_up);
    if (!verdict) continue;
    if (verdict->verdict != Verdict::wrong) return *verdict;
    measurement.let_learner_end();
    return *decide(measurement.measured, true);
  }
}

}  // namespace odori::grader
