#include "checks/speedup.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "checks/statistics.h"

namespace odori::grader {
namespace {

constexpr double needed_share = 0.9;     // of the speedup that the kit's own solution reaches
constexpr double needed_ceiling = 0.85;  // of the devices' number: below it, they disturb each other without speaking
constexpr double close_enough = 0.05;
constexpr double too_good = 1.1;  // times the ceiling, which nothing can pass

/// One quotient a round, in the rounds' order.
std::vector<double> quotients(const std::vector<Round>& rounds, double Round::*above, double Round::*below) {
  std::vector<double> values;
  for (const Round& round : rounds) values.push_back(round.*above / (round.*below));
  return values;
}

double median_of(const std::vector<Round>& rounds, double Round::*what) {
  std::vector<double> values;
  for (const Round& round : rounds) values.push_back(round.*what);
  return median(values);
}

std::string factor(double value) { return fmt::format("{:.2f}", value); }
std::string percent(double value) { return fmt::format("{:.0f}", 100 * value); }

/// The rounds, in the medians of what they compare.
struct Summary {
  Summary(const std::vector<Round>& rounds, int n_devices)
      : n_rounds(rounds.size()),
        devices(n_devices),
        of_solution(quotients(rounds, &Round::learner, &Round::solution)),
        speedups(quotients(rounds, &Round::learner, &Round::one)),
        speedup(median(speedups)),
        kits(median(quotients(rounds, &Round::solution, &Round::one))),
        ceiling(median(quotients(rounds, &Round::ceiling, &Round::one))),
        one(median_of(rounds, &Round::one)),
        many(median_of(rounds, &Round::learner)) {}

  Finding line() const {
    return {"line",
            {{"one", fmt::format("{:.0f}", one)},
             {"devices", std::to_string(devices)},
             {"many", fmt::format("{:.0f}", many)},
             {"speedup", factor(speedup)},
             {"efficiency", percent(speedup / devices)},
             {"kits", factor(kits)},
             {"ceiling", factor(ceiling)},
             {"rounds", std::to_string(n_rounds)}}};
  }

  std::size_t n_rounds;
  int devices;
  std::vector<double> of_solution, speedups;
  double speedup, kits, ceiling, one, many;
};

SpeedupVerdict verdict_of(const Summary& summary) {
  const Finding line = summary.line();
  if (median_interval(summary.speedups)->low > too_good * summary.ceiling)
    return {Verdict::inconclusive,
            Finding{"too_good", {{"speedup", factor(summary.speedup)}, {"ceiling", factor(summary.ceiling)}}}, line};
  const double share = median(summary.of_solution);
  if (share >= needed_share) return {Verdict::pass, std::nullopt, line};
  return {Verdict::wrong,
          Finding{"slower_than_the_kit",
                  {{"speedup", factor(summary.speedup)},
                   {"kits", factor(summary.kits)},
                   {"share", percent(share)},
                   {"needed", percent(needed_share)}}},
          line};
}

/// Images/s of one kind of work, without what the empty job takes as well: the start of the program (and of mpirun),
/// reading the data, making the model, compiling kernels. Both are whole jobs under the same clock, and their
/// difference is the training alone, whatever the program says of itself. Not a number if the job took less time than
/// its start.
double rate(const TimedWork& work, Work which, int epochs, double seconds, double seconds_of_empty_job) {
  const int pictures = epochs * work.pictures_per_epoch() - work.pictures_of_empty_job();
  const double trained = seconds - seconds_of_empty_job;
  return trained > 0 ? pictures * (which == Work::one ? 1 : work.devices()) / trained : std::nan("");
}

}  // namespace

std::optional<SpeedupVerdict> judge(const std::vector<Round>& rounds, int devices, bool time_is_up) {
  if (rounds.empty()) {
    if (!time_is_up) return std::nullopt;
    return SpeedupVerdict{Verdict::inconclusive, Finding{"too_slow", {}}, std::nullopt};
  }
  const Summary summary(rounds, devices);
  const auto share = median_interval(summary.of_solution), speedup = median_interval(summary.speedups);
  const bool known = share && speedup && share->spread(median(summary.of_solution)) <= close_enough &&
                     speedup->spread(summary.speedup) <= close_enough;
  const bool on_the_edge = known && share->low < needed_share && needed_share <= share->high;
  if (!time_is_up && (!known || on_the_edge)) return std::nullopt;

  if (summary.ceiling < needed_ceiling * devices)
    return SpeedupVerdict{Verdict::inconclusive,
                          Finding{"low_ceiling",
                                  {{"devices", std::to_string(devices)},
                                   {"ceiling", factor(summary.ceiling)},
                                   {"needed", factor(needed_ceiling * devices)}}},
                          summary.line()};
  if (!known)
    return SpeedupVerdict{
        Verdict::inconclusive,
        Finding{"busy",
                {{"rounds", std::to_string(rounds.size())},
                 {"low", factor(*std::min_element(summary.speedups.begin(), summary.speedups.end()))},
                 {"high", factor(*std::max_element(summary.speedups.begin(), summary.speedups.end()))}}},
        summary.line()};
  return verdict_of(summary);
}

SpeedupVerdict measure_speedup(TimedWork& work, const SpeedupLimits& limits) {
  double passed = 0;  // seconds; next to nothing happens between the jobs
  const auto time = [&](Work which, int epochs) {
    const double seconds = work.seconds(which, epochs);
    passed += seconds;
    return seconds;
  };

  std::map<Work, std::vector<double>> starts;
  for (int i = 0; i < 3; ++i)
    for (const Work which : {Work::one, Work::ceiling, Work::solution}) starts[which].push_back(time(which, 0));
  std::map<Work, double> start;
  for (const auto& [which, seconds] : starts) start[which] = median(seconds);
  start[Work::learner] = start[Work::solution];  // what the learner's program does before it trains counts as its time

  const double epoch = std::max(1e-3, time(Work::one, 1) - start[Work::one]);
  const int epochs = std::max(1, static_cast<int>(std::lround(limits.seconds_a_job / epoch)));

  std::vector<Round> rounds;
  for (int i = 0;; ++i) {
    const double began = passed;
    // On two cores, two threads that start after a while with only one core at work were seen to need a quarter of a
    // second more. So the ceiling comes before the programs on all devices, and these take turns in being first.
    const auto [first, second] =
        i % 2 == 0 ? std::pair{Work::learner, Work::solution} : std::pair{Work::solution, Work::learner};
    std::map<Work, double> rates;
    for (const Work which : {Work::one, Work::ceiling, first, second})
      rates[which] = rate(work, which, epochs, time(which, epochs), start[which]);
    const Round round{rates[Work::one], rates[Work::ceiling], rates[Work::learner], rates[Work::solution]};
    if (std::isfinite(round.one + round.ceiling + round.learner + round.solution)) rounds.push_back(round);
    const bool time_is_up = passed + (passed - began) > limits.seconds_in_all;
    if (const auto verdict = judge(rounds, work.devices(), time_is_up)) return *verdict;
  }
}

std::optional<Finding> why_not_measured(int devices, int cores, int gpus, bool under_mpi) {
  const auto finding = [&](const char* key, int have) {
    return Finding{key, {{"devices", std::to_string(devices)}, {"have", std::to_string(have)}}};
  };
  if (gpus > 0) return gpus < devices ? std::optional(finding("shared_gpu", gpus)) : std::nullopt;
  if (cores >= devices) return std::nullopt;
  return finding(under_mpi ? "ranks_outnumber_cores" : "too_few_cores", cores);
}

}  // namespace odori::grader
