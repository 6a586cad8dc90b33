// SPDX-License-Identifier: Apache-2.0
#include "checks/speedup.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "numbers/random.h"

namespace odori::grader {
namespace {

constexpr double needed = 0.9, too_slow = 0.76, error_of_look = 1.0 / 4000;
constexpr std::array<std::size_t, 3> looks{12, 18, 24};
constexpr double needed_ceiling = 1.3;  // below it, devices in turn are about as fast as devices at once
constexpr double too_good = 1.1;        // times the ceiling, which nothing can pass
constexpr double slow_enough = 2;       // times the solution's training: the learner's job need not go on

}  // namespace

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2;
}

std::optional<std::pair<double, double>> interval_of_median(std::vector<double> values, double error) {
  std::ranges::sort(values);
  const std::size_t n = values.size();
  std::size_t k = 0;  // one more than it
  double term = std::exp2(-static_cast<double>(n)), tail = term;
  for (; tail <= error; ++k) tail += term *= static_cast<double>(n - k) / static_cast<double>(k + 1);
  if (k == 0) return {};
  return std::pair{values[k - 1], values[n - k]};
}

double Measured::start(Work work) const {
  return *std::ranges::min_element(starts.at(work == Work::learner ? Work::solution : work));
}

std::vector<double> Measured::training(Work work) const {
  std::vector<double> seconds = jobs.at(work);
  for (double& job : seconds) job = std::max(1e-3, job - start(work));
  return seconds;
}

std::optional<SpeedupVerdict> judge(const Measured& measured, bool time_is_up) {
  const auto alone = measured.training(Work::one), at_once = measured.training(Work::ceiling),
             solution = measured.training(Work::solution), learner = measured.training(Work::learner);
  if (!time_is_up && std::ranges::find(looks, learner.size()) == looks.end()) return {};

  std::vector<double> shares, speedups, ceilings;  // each of jobs that ran next to each other
  for (std::size_t pair = 0; pair < learner.size(); ++pair) {
    shares.push_back(solution[pair] / learner[pair]);
    speedups.push_back(measured.devices * alone[pair / Measured::pairs_of_block] / solution[pair]);
  }
  for (std::size_t i = 0; i < alone.size(); ++i) ceilings.push_back(measured.devices * alone[i] / at_once[i]);
  // Only noise makes the solution faster than the ceiling, or that one faster than all devices.
  const double kits = std::min<double>(median(speedups), measured.devices);
  const double ceiling = std::clamp<double>(median(ceilings), kits, measured.devices);
  const bool is_fast = median(shares) >= needed;
  double share = median(shares);
  if (share <= 1 / slow_enough)  // most jobs were stopped; the first one wasn't
    share = std::min(share, median(solution) / std::max(1e-3, measured.first - measured.start(Work::learner)));

  const double one = measured.images / median(alone), speedup = share * kits;
  const auto factor = [](double value) { return fmt::format("{:.2f}", value); };
  const auto whole = [](double value) { return fmt::format("{:.0f}", value); };
  const std::map<std::string, std::string> values{{"devices", std::to_string(measured.devices)},
                                                  {"rounds", std::to_string(shares.size())},
                                                  {"one", whole(one)},
                                                  {"many", whole(one * speedup)},
                                                  {"speedup", factor(speedup)},
                                                  {"efficiency", whole(100 * speedup / measured.devices)},
                                                  {"kits", factor(kits)},
                                                  {"ceiling", factor(ceiling)},
                                                  {"needed_ceiling", factor(needed_ceiling)},
                                                  {"share", whole(100 * share)},
                                                  {"needed", whole(100 * needed)}};
  const Finding line{"line", values};
  const auto inconclusive = [&](const char* why) {
    return SpeedupVerdict{Verdict::inconclusive, Finding{why, values}, line};
  };

  const auto interval = interval_of_median(shares, error_of_look), gain = interval_of_median(speedups, error_of_look);
  const bool is_clear =
      interval && gain->first >= 1 / needed && (is_fast ? interval->first > too_slow : interval->second < 1);
  const bool gains = ceiling >= needed_ceiling && kits >= 1 / needed;
  if (!time_is_up && !(is_clear && gains)) return {};
  if (!gains) return inconclusive(ceiling < needed_ceiling ? "low_ceiling" : "no_gain");
  if (!is_clear) return inconclusive("busy");
  if (interval->first > 1 && speedup > too_good * ceiling) return inconclusive("too_good");
  if (is_fast) return SpeedupVerdict{Verdict::pass, {}, line};
  return SpeedupVerdict{Verdict::wrong, Finding{"slower_than_the_kit", values}, line};
}

SpeedupVerdict measure_speedup(TimedWork& work, std::uint64_t coin, double seconds_in_all) {
  RandomSequence toss(coin, RandomUse::shuffle);
  double passed = 0;
  const auto timed = [&](double seconds) { return passed += seconds, seconds; };
  Measured measured{.devices = work.devices(), .images = work.images(), .first = timed(work.seconds(Work::learner))};
  for (std::size_t pair = 0;; ++pair) {
    if (pair % Measured::pairs_of_block == 0) {
      for (const Work kind : {Work::one, Work::ceiling, Work::solution})
        measured.starts[kind].push_back(timed(work.start(kind)));
      for (const Work kind : {Work::one, Work::ceiling}) measured.jobs[kind].push_back(timed(work.seconds(kind)));
    }
    // At first it isn't known yet how long the solution trains: no longer than its devices in turn.
    const double training =
        pair > 0 ? median(measured.training(Work::solution)) : measured.devices * measured.training(Work::one).front();
    const double at_most = measured.start(Work::solution) + slow_enough * training, began = passed;
    std::array order{Work::learner, Work::solution};
    if (toss.below(2) == 0) std::swap(order[0], order[1]);
    for (const Work kind : order) measured.jobs[kind].push_back(timed(work.seconds(kind, at_most)));
    const double of_pair = passed - began;
    if (auto verdict = judge(measured, passed + of_pair > seconds_in_all)) return *verdict;
  }
}

}  // namespace odori::grader
