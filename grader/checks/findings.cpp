#include "checks/findings.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "checks/division.h"
#include "checks/hang.h"
#include "optim/momentum_sgd.h"

namespace odori::grader {

Found found(const char* key, std::initializer_list<std::pair<const char*, Value>> values) {
  Finding finding{key, {}};
  for (const auto& [name, value] : values) finding.values[name] = value.text;
  return finding;
}

std::string list(const std::vector<int>& numbers) { return fmt::format("{}", fmt::join(numbers, ", ")); }

bool same(double seen, double expected, double tolerance) {
  return std::abs(seen - expected) <= tolerance * std::abs(expected);
}

std::string measured(double seen, double expected) {
  if (std::abs(seen) < 1e-3 * std::abs(expected)) return "0";
  const auto digits = [](double number, int n) { return fmt::format("{:.{}g}", number, n); };
  int n = 3;
  while (n < 9 && digits(seen, n) == digits(expected, n)) ++n;
  return digits(seen, n);
}

bool is_test_set(const Situation& situation, const std::vector<Images>& parts, const Updates& updates) {
  const std::size_t n_test = situation.data().sets.test->size();
  const Division division = divide(parts, n_test);
  if (division.outside > 0 || division.covered + parts.size() <= n_test) return false;
  return updates.empty() || find_wrong_weights(situation.data(), situation.plan, updates);
}

Found find_in_updates(const Situation& situation, const RunPlan& other, Updates (*updates_of)(const Evidence&)) {
  const auto wrong_in = [&](const RunPlan& plan) {
    return find_wrong_weights(situation.data(), plan, updates_of(situation.runs.of(plan)));
  };
  const auto wrong = wrong_in(situation.plan);
  if (!wrong) return {};
  const auto says = [&](const char* key, double seen, double expected) {
    return found(
        key,
        {{"seen", measured(seen, expected)}, {"expected", fmt::format("{:.6g}", expected)}, {"update", wrong->update}});
  };
  if (wrong->rate) {
    const double rate = *wrong->rate, expected = situation.plan.learning_rate;
    const auto same = [rate](double another) { return std::abs(rate / another - 1) < 1e-2; };
    if (same(MomentumSGD().learning_rate())) return says("learning_rate_forgotten", rate, expected);
    const auto there = wrong_in(other);
    const bool written_down = same(other.learning_rate) || (there && there->rate && same(*there->rate));
    return says(written_down ? "learning_rate_written_down" : "learning_rate_changed", rate, expected);
  }
  if (wrong->momentum) return says("momentum_changed", *wrong->momentum, wrong->expected.momentum);
  if (wrong->decay) return says("weight_decay_changed", *wrong->decay, wrong->expected.decay);
  return found("weights_differ", {{"update", wrong->update}});
}

bool was_refused(const RankSeen& rank, const char* refusal) {
  return rank.error &&
         std::ranges::any_of(rank.events, [&](const facts::Event& event) { return event.what == refusal; });
}

Found find_refused(const Evidence& evidence, const char* refusal, const char* key) {
  for (const RankSeen& rank : evidence.ranks)
    if (was_refused(rank, refusal)) return found(key ? key : refusal, {{"detail", *rank.error}});
  return {};
}

Found find_failure(const Situation& situation) {
  const Evidence& evidence = situation.evidence();
  if (evidence.ending != Ending::failed) return {};
  if (Found apart = find_calls_apart(evidence)) return apart;
  const auto stopped = std::find_if(evidence.ranks.begin(), evidence.ranks.end(),
                                    [](const RankSeen& rank) { return rank.error.has_value(); });
  return found("stopped_by_library",
               {{"detail", stopped == evidence.ranks.end() ? evidence.detail : stopped->error.value()}});
}

Found find_early_end(const Situation& situation) {
  if (Found failure = find_failure(situation)) return failure;
  const Evidence& evidence = situation.evidence();
  const int epochs = situation.plan.epochs;
  if (evidence.ending != Ending::finished) return {};
  for (const RankSeen& rank : evidence.ranks) {
    const std::size_t seen = std::max(rank.evaluations.size(), rank.observations.size());
    if (rank.steps.empty() || seen != static_cast<std::size_t>(epochs) ||
        rank.earlier_trainings + 1 < situation.plan.trainings)
      return found("ended_early", {{"seen", seen}, {"expected", epochs}});
  }
  return {};
}

Found find_no_values(const Situation& situation) {
  if (Found failure = find_failure(situation)) return failure;
  const Evidence& evidence = situation.evidence();
  std::vector<int> silent;
  for (std::size_t rank = 0; rank < evidence.ranks.size(); ++rank)
    if (evidence.ranks[rank].values.empty()) silent.push_back(static_cast<int>(rank));
  if (evidence.ending != Ending::finished || silent.empty()) return {};
  return found("no_values", {{"ranks", list(silent)}});
}

Found find_forgery(const Situation& situation) {
  const Evidence& evidence = situation.evidence();
  if (evidence.ending != Ending::finished) return {};
  for (const RankSeen& rank : evidence.ranks)
    if (rank.forged) return rank.forged;
  if (const std::size_t expected = situation.plan.shows)
    for (const RankSeen& rank : evidence.ranks)
      if (rank.values.size() > expected)
        return found("shown_too_often", {{"seen", rank.values.size()}, {"expected", expected}});
  return {};
}

bool reports_its_own(const RankSeen& rank) {
  return !rank.evaluations.empty() && !rank.observations.empty() &&
         rank.evaluations.back().loss == rank.observations.back().loss;
}

Found find_wrong_evaluation(const RankSeen& rank, const RunData& data) {
  if (rank.observations.empty() || rank.steps.empty() || rank.steps.back().empty()) return {};
  const EvaluationSeen expected =
      evaluate(data, rank.steps.back().front().parameters, whole_set(data.sets.test->size()));
  // Of whatever images a rank's own result is, what is made of it counts. Losses are added up in another order, and
  // hits are counted. Each image may count several times, if all count alike.
  std::vector<ReportSeen> told{rank.observations.back()};
  if (!rank.reports.empty()) told.push_back(rank.reports.back());
  for (const auto& [loss, accuracy] : told) {
    const bool other_loss = !(std::abs(loss - expected.loss) < 1e-4 * expected.loss),
               other_accuracy = !(std::abs(accuracy - expected.accuracy) < 1e-9);
    if (!other_loss && !other_accuracy) continue;
    if (reports_its_own(rank) && rank.evaluations.back().samples % expected.samples != 0)
      return found("evaluation_of_other_images",
                   {{"samples", rank.evaluations.back().samples}, {"test", expected.samples}});
    if (other_loss)
      return found("loss_differs",
                   {{"seen", measured(loss, expected.loss)}, {"expected", fmt::format("{:.4g}", expected.loss)}});
    return found("accuracy_differs", {{"seen", measured(accuracy, expected.accuracy)},
                                      {"expected", fmt::format("{:.4g}", expected.accuracy)}});
  }
  return {};
}

}  // namespace odori::grader
