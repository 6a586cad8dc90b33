#include "checks/speedup_verdict.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "checks/statistics.h"

namespace odori::grader {
namespace {

constexpr PaceTest pace_test;
constexpr double needed_ceiling = 1.3;  // of one device: below it, devices that take turns can't be told from others
constexpr double too_good = 1.1;        // times the ceiling, which nothing can pass

std::vector<double> quotients(const std::vector<double>& above, const std::vector<double>& below) {
  std::vector<double> values;
  for (std::size_t i = 0; i < above.size(); ++i) values.push_back(above[i] / below[i]);
  return values;
}

std::string factor(double value) { return fmt::format("{:.2f}", value); }
std::string percent(double value) { return fmt::format("{:.0f}", 100 * value); }

/// How many times as fast, from jobs that ran next to each other.
double ratio(const std::vector<double>& slower, const std::vector<double>& faster) {
  std::vector<double> logs;
  for (const double quotient : quotients(slower, faster)) logs.push_back(std::log(quotient));
  return std::exp(hodges_lehmann(logs));
}

/// The measured times, in the middle of the quotients of neighbours.
struct Summary {
  explicit Summary(const Measured& measured)
      : devices(measured.devices),
        shares(quotients(measured.training(Work::solution), measured.training(Work::learner))),
        share(median(shares)) {
    const std::vector<double> alone = measured.training(Work::one);
    one = measured.images / median(alone);
    kits = devices * ratio(alone, measured.training_beside());
    ceiling = devices * ratio(alone, measured.training(Work::ceiling));
    // The ceiling does all that one device does, on each, and the kit's solution all that the ceiling does. Where noise
    // has one of them faster than that, the least noisy estimates in this order: two in the wrong order are
    // measurements of one speed (M. Ayer et al., 1955), and none is above its bound.
    if (kits > ceiling) kits = ceiling = std::sqrt(kits * ceiling);
    ceiling = std::min(ceiling, static_cast<double>(devices)), kits = std::min(kits, ceiling);
    // Of a job that was stopped, its share is at most what it seems to be.
    std::vector<double> ended;
    for (std::size_t i = 0; i < shares.size(); ++i)
      if (!measured.stopped[i]) ended.push_back(shares[i]);
    if (const auto seconds = measured.learner_to_its_end)
      ended.push_back(median(measured.training(Work::solution)) / (*seconds - measured.start(Work::solution)));
    if (!ended.empty()) share = std::min(share, median(ended));
  }

  double speedup() const { return share * kits; }
  bool low_ceiling() const { return ceiling < needed_ceiling; }
  bool no_gain() const { return kits < 1 / pace_test.needed; }  // one device alone would be fast enough

  Finding line() const {
    return {"line",
            {{"one", fmt::format("{:.0f}", one)},
             {"devices", std::to_string(devices)},
             {"many", fmt::format("{:.0f}", one * speedup())},
             {"speedup", factor(speedup())},
             {"efficiency", percent(speedup() / devices)},
             {"kits", factor(kits)},
             {"ceiling", factor(ceiling)},
             {"rounds", std::to_string(shares.size())}}};
  }

  int devices;
  std::vector<double> shares;
  double share, one, kits, ceiling;
};

/// Is the learner's program beyond the ceiling, and surely faster than the kit's?
bool is_too_good(const Summary& summary) {
  std::vector<double> logs;
  for (const double share : summary.shares) logs.push_back(std::log(share));
  return summary.speedup() > too_good * summary.ceiling && evidence_above(logs, 0) >= 1 / pace_test.false_pass;
}

/// Why, if the verdict is INCONCLUSIVE or WRONG.
std::pair<Verdict, std::optional<Finding>> verdict_of(const Summary& summary, Pace pace) {
  if (summary.low_ceiling())
    return {Verdict::inconclusive, Finding{"low_ceiling",
                                           {{"devices", std::to_string(summary.devices)},
                                            {"ceiling", factor(summary.ceiling)},
                                            {"needed", factor(needed_ceiling)}}}};
  if (summary.no_gain()) return {Verdict::inconclusive, Finding{"no_gain", {{"kits", factor(summary.kits)}}}};
  if (pace == Pace::unknown) {
    const auto [low, high] = std::minmax_element(summary.shares.begin(), summary.shares.end());
    return {
        Verdict::inconclusive,
        Finding{"busy",
                {{"rounds", std::to_string(summary.shares.size())}, {"low", percent(*low)}, {"high", percent(*high)}}}};
  }
  if (is_too_good(summary))
    return {Verdict::inconclusive,
            Finding{"too_good", {{"speedup", factor(summary.speedup())}, {"ceiling", factor(summary.ceiling)}}}};
  if (pace == Pace::fast_enough) return {Verdict::pass, std::nullopt};
  return {Verdict::wrong, Finding{"slower_than_the_kit",
                                  {{"speedup", factor(summary.speedup())},
                                   {"kits", factor(summary.kits)},
                                   {"share", percent(summary.share)},
                                   {"needed", percent(pace_test.needed)}}}};
}

}  // namespace

std::size_t Measured::pairs() const {
  const auto jobs = whole.find(Work::learner);
  return jobs == whole.end() ? 0 : jobs->second.size();
}

double Measured::start(Work work) const {
  const auto least = [&](const std::map<Work, std::vector<double>>& jobs) {
    return *std::min_element(jobs.at(work).begin(), jobs.at(work).end());
  };
  const double seconds_a_image = (least(whole) - least(empty)) / (images - images_of_empty_job);
  return least(empty) - std::max(0.0, seconds_a_image) * images_of_empty_job;
}

std::vector<double> Measured::training(Work work) const {
  constexpr double least = 1e-3;
  const double before = start(work == Work::learner ? Work::solution : work);
  std::vector<double> seconds = whole.at(work);
  for (double& job : seconds) job = std::max(least, job - before);
  return seconds;
}

std::vector<double> Measured::training_beside() const {
  const std::vector<double> solution = training(Work::solution);
  std::vector<double> beside;
  for (const std::size_t after : pairs_before) {
    const std::size_t before = after > 0 ? after - 1 : after;
    beside.push_back((solution[before] + solution[after]) / 2);
  }
  return beside;
}

std::optional<SpeedupVerdict> decide(const Measured& measured, bool time_is_up) {
  if (measured.pairs() == 0) {
    if (!time_is_up) return std::nullopt;
    return SpeedupVerdict{Verdict::inconclusive, Finding{"too_slow", {}}, std::nullopt};
  }
  const Summary summary(measured);
  const Pace pace = pace_of(summary.shares, pace_test);
  const bool is_clear = pace != Pace::unknown && !summary.low_ceiling() && !summary.no_gain();
  if (!is_clear && !time_is_up) return std::nullopt;
  auto [verdict, why] = verdict_of(summary, pace);
  return SpeedupVerdict{verdict, std::move(why), summary.line()};
}

std::optional<Finding> why_not_measured(int devices, int cores, bool under_mpi) {
  if (cores >= devices) return std::nullopt;
  return Finding{under_mpi ? "ranks_outnumber_cores" : "too_few_cores",
                 {{"devices", std::to_string(devices)}, {"have", std::to_string(cores)}}};
}

}  // namespace odori::grader
