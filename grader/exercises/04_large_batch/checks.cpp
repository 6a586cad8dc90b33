// SPDX-License-Identifier: Apache-2.0
// Task 4: the rate of each update, the weights after it, and how often ranks exchange gradients.
#include <algorithm>
#include <charconv>
#include <cmath>

#include "checks/findings.h"
#include "choice.h"
#include "files/json.h"
#include "given.h"
#include "gradients.h"
#include "large_batch_cases.h"

namespace odori::grader {

using namespace large_batch;

namespace {

RunPlan with_flags(RunPlan plan, int accumulate, int base_batch, int warmup_epochs, const char* schedule,
                   const char* gradients) {
  plan.snapshots = false;
  plan.flags = {"--accumulate",    std::to_string(accumulate),    "--base-batch", std::to_string(base_batch),
                "--warmup-epochs", std::to_string(warmup_epochs), "--gradients",  gradients};
  if (plan.trainings == 1) plan.flags.insert(plan.flags.end(), {"--only", schedule});
  return plan;
}

// However images, batches and ranks are put together, another factor comes out than the right one, which is no whole
// number; and an epoch has more updates than the warm-up has epochs.
const RunPlan warmed_up =
    with_flags({.nodes = {0, 0}, .batch_size = 2, .learning_rate = 0.02f, .epochs = 3}, 4, 7, 2, "warm_up", "mean");
// As many batches and ranks as there are images for, an odd number of them, more than a learner's command asks for, a
// large factor, and a scaled rate above the usual ones.
const RunPlan summed =
    with_flags({.nodes = {0, 1, 1}, .batch_size = 1, .learning_rate = 0.0053f, .seed = 1}, 17, 1, 2, "scaled", "sum");
// Fewer images than the rate was found for, so that a warm-up falls, and what is exchanged without being accumulated.
const RunPlan small =
    with_flags({.nodes = {0, 1}, .batch_size = 3, .learning_rate = 0.1f, .seed = 3}, 1, 15, 1, "warm_up", "mean");
// As a learner runs it: all schedules with 1 batch an update, then with 4. The last one is judged, which comes out
// right only if nothing is left of the others. A batch is larger than the one the rate was found for, and no multiple.
const RunPlan one_after_another = with_flags(
    {.nodes = {0}, .batch_size = 5, .learning_rate = 0.025f, .seed = 2, .trainings = 6}, 4, 2, 1, "warm_up", "mean");

// Whatever is right only up to a number, or from one on, or for the first of several trainings: no trainings are needed
// for the rates. A long warm-up; one that falls; one of the smallest numbers; a cluster, with a rate of many digits;
// and nothing that changes the rate.
const std::vector<PlannedTraining> all_planned{{64, 48, 20, 2500, 0.05, 781, 8},
                                               {3, 1, 2, 7, 0.3, 5, 2},
                                               {1, 1, 3, 2, 0.0123, 11, 1},
                                               {128, 100, 640, 333, 1.2345e-5, 2, 0},
                                               {25, 1, 1, 25, 0.1, 100, 0}};

RunPlan planning() {
  const LargeBatchCases cases{.planned = all_planned, .trials = {}};
  RunPlan plan{.nodes = {0}, .epochs = 0, .shows = all_planned.size(), .test_cases = json_text(nlohmann::json(cases))};
  for (const PlannedTraining& p : all_planned)
    plan.most_values = std::max(plan.most_values, static_cast<std::size_t>(p.end_of_warm_up()) + 3);
  return plan;
}
const RunPlan planned = planning();

/// For messages: the program's flags, and what is no flag of it.
std::string described(const PlannedTraining& p) {
  return fmt::format(
      "--batchsize {} --accumulate {} --base-batch {} --learnrate {} --warmup-epochs {}, ranks {}, updates_of_epoch {}",
      p.batchsize, p.accumulate, p.base_batch, p.base_rate, p.warmup_epochs, p.ranks, p.updates_of_epoch);
}

/// The rates of a training run, as the first rank showed them.
struct Rates {
  Given given;
  std::vector<double> of_updates;  // for the mean; never empty
  std::optional<double> of_sum;    // the last one for the sum, where it is known
  std::string test_case = {};      // in words; empty for a training run

  double last() const { return of_updates.back(); }  // when the warm-up is over
};

/// Of the training that the plan makes, or of those that it has planned.
std::vector<Rates> rates_of(const Situation& situation) {
  std::vector<Rates> all;
  if (situation.evidence().ranks.empty()) return all;
  const auto& values = situation.evidence().ranks.front().values;
  if (situation.plan == planned) {
    for (std::size_t i = 0; i < std::min(values.size(), all_planned.size()); ++i) {
      const PlannedTraining& p = all_planned[i];
      if (values[i].size() != static_cast<std::size_t>(p.end_of_warm_up()) + 3) continue;
      Given given{.m = p.accumulate,
                  .ranks = p.ranks,
                  .batch = p.batchsize,
                  .base_batch = p.base_batch,
                  .warmup_epochs = p.warmup_epochs,
                  .updates_of_epoch = p.updates_of_epoch,
                  .base = p.base_rate};
      given.k = static_cast<double>(given.batch) * given.n() / given.base_batch;
      all.push_back({given, {values[i].begin() + 1, values[i].end()}, values[i].front(), described(p)});
    }
  } else if (situation.plan.epochs > 0 && came_to_the_last(situation)) {
    Rates rates{given_of(situation)};
    for (const std::vector<float>& shown : values)
      if (shown.size() == 1) rates.of_updates.push_back(shown.front());
    if (rates.of_updates.empty()) return all;
    if (rates.given.sum) rates.of_sum = rates.last();
    for (double& rate : rates.of_updates) rate *= rates.given.summed();
    all.push_back(rates);
  }
  return all;
}

/// The first finding of all trainings.
auto in_each(Found (*find)(const Rates&)) {
  return [find](const Situation& situation) -> Found {
    for (const Rates& rates : rates_of(situation))
      if (Found wrong = find(rates)) {
        if (!rates.test_case.empty()) wrong->values["with_flags"] = rates.test_case;
        return wrong;
      }
    return {};
  };
}

std::string rate_text(double rate) { return fmt::format("{:.4g}", rate); }
/// With as many digits as tell it from what is expected.
std::string rate_text(double rate, double expected) {
  for (int digits = 4; digits < 9; ++digits)
    if (const auto text = fmt::format("{:.{}g}", rate, digits); text != fmt::format("{:.{}g}", expected, digits))
      return text;
  return rate_text(rate);
}

// ---- Blank 1: the factor

Found find_in_factor(const Rates& rates) {
  const Given& given = rates.given;
  if (same(rates.last(), given.scaled())) return {};
  const double k = rates.last() / given.base, batch = given.batch, base = given.base_batch;
  const auto is = [&](double images) { return same(k, images / base) || same(k, std::floor(images / base)); };
  const char* key = "factor_wrong";
  if (is(batch * given.ranks)) key = "accumulation_left_out";
  if (is(batch * given.m)) key = "ranks_left_out";
  if (is(batch)) key = "local_batch_taken";
  if (same(k, batch * given.m * given.ranks)) key = "base_batch_left_out";
  if (same(k, given.m * given.ranks)) key = "batches_counted";
  if (same(k, 1 / given.k)) key = "factor_inverted";
  const int whole = given.m * given.ranks * (given.batch / given.base_batch);
  if (same(k, std::floor(given.k)) || same(k, whole) || k == 0) key = "factor_whole_number";
  return found(key, {{"seen", measured(k, given.k)},
                     {"expected", fmt::format("{:.6g}", given.k)},
                     {"batch", given.batch},
                     {"m", given.m},
                     {"ranks", given.ranks},
                     {"base", given.base_batch},
                     {"global", given.batch * given.m * given.ranks}});
}

// ---- Blank 2: the scaled rate

Found find_in_scaled_rate(const Rates& rates) {
  const Given& given = rates.given;
  const double last = rates.last();
  if (same(last, given.scaled())) return {};
  const char* key = "scaled_rate_wrong";
  if (same(last, given.base)) key = "rate_not_scaled";
  if (same(last, given.base * std::sqrt(given.k))) key = "square_root_scaled";
  if (same(last, given.base / given.k)) key = "rate_divided";
  if (same(last, given.base * std::floor(given.k))) key = "scaled_by_whole_number";
  if (same(last, given.k)) key = "base_rate_left_out";
  return found(key, {{"seen", rate_text(last, given.scaled())},
                     {"expected", rate_text(given.scaled(), last)},
                     {"base", rate_text(given.base)},
                     {"k", fmt::format("{:.4g}", given.k)}});
}

// ---- Blank 3: warm-up

Found find_in_warm_up(const Rates& shown) {
  const Given& given = shown.given;
  const std::vector<double>& rates = shown.of_updates;
  std::size_t first = 0;
  while (first < rates.size() && same(rates[first], given.rate(static_cast<int>(first)))) ++first;
  if (first == rates.size()) return {};
  const int end = given.end_of_warm_up();
  const double base = given.base, way = given.scaled() - base;
  /// Are the rates of the warm-up these?
  const auto are = [&](auto formula) {
    if (end == 0) return false;
    for (std::size_t u = 0; u < rates.size() && static_cast<int>(u) < end; ++u)
      if (const double expected = formula(static_cast<int>(u));
          !(std::abs(rates[u] - expected) <= 1e-6 * std::max(base, given.scaled())))
        return false;
    return true;
  };
  const int of_epoch = given.updates_of_epoch;
  const char* key = "warm_up_wrong";
  if (are([&](int) { return given.scaled(); })) key = way < 0 ? "falling_warm_up_missing" : "warm_up_missing";
  if (are([&](int) { return base; })) key = "warm_up_jumps";
  if (are([&](int u) { return given.scaled() * u / end; })) key = "warm_up_from_zero";
  if (are([&](int u) { return given.scaled() * (u + 1) / end; })) key = "warm_up_from_zero";
  if (are([&](int u) { return base + way * (u + 1) / end; })) key = "warm_up_a_step_early";
  if (are([&](int u) { return base + given.scaled() * u / end; })) key = "warm_up_overshoots";
  if (given.warmup_epochs > 1) {  // in one epoch it doesn't show
    if (are([&](int u) { return base + way * (u / of_epoch) / given.warmup_epochs; })) key = "warm_up_by_epochs";
    if (are([&](int u) { return base + way * (u / of_epoch + 1) / given.warmup_epochs; })) key = "warm_up_by_epochs";
    if (are([&](int u) { return base + way * std::min(1.0, static_cast<double>(u) / of_epoch); }))
      key = "warm_up_in_one_epoch";
    if (are([&](int u) { return base + way * std::min(1.0, static_cast<double>(u) / given.warmup_epochs); }))
      key = "warm_up_in_updates";
  }
  return found(key, {{"update", first},
                     {"seen", rate_text(rates[first], given.rate(static_cast<int>(first)))},
                     {"expected", rate_text(given.rate(static_cast<int>(first)), rates[first])},
                     {"base", rate_text(base)},
                     {"scaled", rate_text(given.scaled())},
                     {"epochs", given.warmup_epochs},
                     {"of_epoch", of_epoch},
                     {"end", end}});
}

// ---- Blank 4: the rate for a sum

Found find_in_rate_for_sum(const Rates& rates) {
  if (!rates.of_sum) return {};
  const double seen = *rates.of_sum, rate = rates.given.scaled();
  const int n = rates.given.n();
  if (same(seen, rate / n)) return {};
  const char* key = "sum_rate_wrong";
  if (same(seen, rate)) key = "sum_rate_unchanged";
  if (seen == 0) key = "sum_rate_zero";
  if (same(seen, rate * n)) key = "sum_rate_multiplied";
  if (same(seen, rate / std::sqrt(n))) key = "sum_rate_by_square_root";
  return found(key, {{"seen", rate_text(seen, rate / n)},
                     {"expected", rate_text(rate / n, seen)},
                     {"rate", rate_text(rate)},
                     {"n", n}});
}

Found find_nothing_shown(const Situation& situation) {
  return situation.plan.epochs == 0 ? find_no_values(situation) : find_early_end(situation);
}

// ---- What a right answer shows

ShownFigure rates_by_update(Runs& whole) {
  const Situation situation{whole, warmed_up};
  const Given given = given_of(situation);
  const std::vector<Rates> shown = rates_of(situation);
  const std::vector<double> rates = shown.empty() ? std::vector<double>() : shown.front().of_updates;
  Curve fixed{.name = "rates_fixed"}, scaled{.name = "rates_scaled"}, rising{.name = "rates_warmed_up"},
      learners{.name = "rates_yours", .measured = true};
  std::vector<double> updates;
  for (std::size_t u = 0; u < rates.size(); ++u) {
    updates.push_back(static_cast<double>(u + 1));
    fixed.values.emplace_back(given.base);
    scaled.values.emplace_back(given.scaled());
    rising.values.emplace_back(given.rate(static_cast<int>(u)));
    learners.values.emplace_back(rates[u]);
  }
  return {{"rates", "rates_are", "rates_updates", "rates_rate", updates, {fixed, scaled, rising, learners}},
          {{"k", fmt::format("{:.4g}", given.k)}, {"end", std::to_string(given.end_of_warm_up())}}};
}

}  // namespace

Exam exam_of_large_batch() {
  return {{warmed_up, summed, small, one_after_another, planned, choosing},
          {{1, "FactorIsOfAllImages", in_each(find_in_factor)},
           {2, "RateGrowsWithTheBatch", in_each(find_in_scaled_rate)},
           {3, "RateRisesByTheSameStep", in_each(find_in_warm_up)},
           {4, "SumHasASmallerRate", in_each(find_in_rate_for_sum)},
           {5, "EveryBatchIsInTheTotal", find_in_total},
           {6, "MeanIsExchangedOnce", find_in_mean},
           {7, "HeldOutImagesDecide", find_in_choice},
           {0, "WeightsAreOfTheMean", find_other_weights},
           {0, "TrainsToTheEnd", find_nothing_shown},
           {0, "EvidenceIsOfTheProgram", find_forgery}},
          rates_by_update};
}

}  // namespace odori::grader
