#include "checks/findings.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

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
    const double rate = *wrong->rate, expected = wrong->expected.rate;
    // Rates that are forgotten or written down show in plainer situations.
    if (situation.plan.scaled) return says("scaled_rate_changed", rate, expected);
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

namespace {

/// How often an image comes in an epoch, and how often it was trained on so far.
struct Use {
  int in_epoch = 0, so_far = 0;
  int epochs_begun() const { return (so_far + in_epoch - 1) / in_epoch; }
  int epochs_over() const { return so_far / in_epoch; }
};

/// Nothing of a rank that trains on other images than its iterators': that is told elsewhere. In linear time, whatever
/// the evidence says.
Found find_uneven_epochs(const RankSeen& rank) {
  std::map<std::int64_t, Use> uses;
  for (const IteratorSeen& iterator : rank.train_iterators)
    for (const Images* images : {&iterator.images, &iterator.not_counted})
      for (const std::int64_t image : *images) ++uses[image].in_epoch;
  if (uses.empty()) return {};
  int most = 0;
  std::map<int, std::size_t> images_after{{0, uses.size()}};  // so many whole epochs; never 0
  for (std::size_t update = 0; update < rank.steps.size(); ++update) {
    for (const Step& step : rank.steps[update])
      for (const std::int64_t image : step.images) {
        const auto use = uses.find(image);
        if (use == uses.end()) return {};
        const auto before = images_after.find(use->second.epochs_over());
        ++use->second.so_far;
        ++images_after[use->second.epochs_over()];
        if (--before->second == 0) images_after.erase(before);
        most = std::max(most, use->second.epochs_begun());
      }
    const int least = images_after.begin()->first;
    if (most - least > 1) return found("epochs_uneven", {{"update", update + 1}, {"most", most}, {"least", least}});
  }
  return {};
}

}  // namespace

Found find_uneven_epochs(const Situation& situation) {
  for (const RankSeen& rank : situation.evidence().ranks)
    if (Found uneven = find_uneven_epochs(rank)) return uneven;
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

namespace {

/// The rank's own result, if nobody made anything else of it.
const EvaluationSeen* find_own(const RankSeen& rank, const ReportSeen& report) {
  const auto own = std::ranges::find(rank.evaluations, report.loss, &EvaluationSeen::loss);
  return own == rank.evaluations.end() ? nullptr : &*own;
}

// Of whatever images a rank's own result is, what is made of it counts. Losses are added up in another order, and hits
// are counted. Each image may count several times, if all count alike.
Found find_wrong_report(const RankSeen& rank, std::size_t epoch, const ReportSeen& report,
                        const EvaluationSeen& expected) {
  const bool other_loss = !(std::abs(report.loss - expected.loss) < 1e-4 * expected.loss),
             other_accuracy = !(std::abs(report.accuracy - expected.accuracy) < 1e-9);
  if (!other_loss && !other_accuracy) return {};
  const EvaluationSeen* own = find_own(rank, report);
  if (own && own->samples % expected.samples != 0)
    return found("evaluation_of_other_images",
                 {{"epoch", epoch}, {"samples", own->samples}, {"test", expected.samples}});
  const auto [key, seen, right] = other_loss ? std::tuple("loss_differs", report.loss, expected.loss)
                                             : std::tuple("accuracy_differs", report.accuracy, expected.accuracy);
  return found(key, {{"epoch", epoch}, {"seen", measured(seen, right)}, {"expected", fmt::format("{:.4g}", right)}});
}

}  // namespace

Found find_wrong_evaluation(const RankSeen& rank, const RunData& data) {
  std::map<std::size_t, EvaluationSeen> expected;  // after so many updates
  for (const auto* reports : {&rank.observations, &rank.reports})
    for (std::size_t i = 0; i < reports->size(); ++i) {
      const ReportSeen& report = (*reports)[i];
      if (report.updates == 0 || rank.steps[report.updates - 1].empty()) continue;
      const auto [known, is_new] = expected.try_emplace(report.updates);
      if (is_new)
        known->second =
            evaluate(data, rank.steps[report.updates - 1].front().parameters, whole_set(data.sets.test->size()));
      if (Found wrong = find_wrong_report(rank, i + 1, report, known->second)) return wrong;
    }
  return {};
}

}  // namespace odori::grader
