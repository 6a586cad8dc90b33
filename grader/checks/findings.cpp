// SPDX-License-Identifier: Apache-2.0
#include "checks/findings.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "optim/momentum_sgd.h"

namespace odori::grader {
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

// Of whatever images a rank's own result is, what is made of it counts. Losses are added up in another order, and hits
// are counted. Each image may count several times, if all count alike.
Found find_wrong_report(const RankSeen& rank, std::size_t epoch, const ReportSeen& report,
                        const EvaluationSeen& expected) {
  const bool other_loss = !(std::abs(report.loss - expected.loss) < 1e-4 * expected.loss),
             other_accuracy = !(std::abs(report.accuracy - expected.accuracy) < 1e-9);
  if (!other_loss && !other_accuracy) return {};
  // The rank's own result, if nobody made anything else of it.
  const auto own = std::ranges::find(rank.evaluations, report.loss, &EvaluationSeen::loss);
  if (own != rank.evaluations.end() && own->samples % expected.samples != 0)
    return found("evaluation_of_other_images",
                 {{"epoch", epoch}, {"samples", own->samples}, {"test", expected.samples}});
  const auto [key, seen, right] = other_loss ? std::tuple("loss_differs", report.loss, expected.loss)
                                             : std::tuple("accuracy_differs", report.accuracy, expected.accuracy);
  return found(key, {{"epoch", epoch}, {"seen", measured(seen, right)}, {"expected", fmt::format("{:.4g}", right)}});
}

/// Ranks, in words: "0, 2, 3".
template <typename Holds>
std::string ranks_where(const std::vector<RankSeen>& ranks, Holds holds) {
  std::vector<std::size_t> found;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank)
    if (holds(ranks[rank])) found.push_back(rank);
  return fmt::format("{}", fmt::join(found, ", "));
}

/// Where each rank waits: "0 → 1 (send)", "1 ← 0, 1 → 2 (exchange)", "2: scatter_dataset()"; empty if none waits in a
/// message.
std::string waits_in_messages(const std::vector<RankSeen>& ranks) {
  std::vector<std::string> waits;
  bool in_message = false;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const RankSeen& seen = ranks[rank];
    if (!seen.messages.empty() && !seen.messages.back().done) {
      const MessageSeen& message = seen.messages.back();
      std::vector<std::string> ways;
      if (message.to >= 0) ways.push_back(fmt::format("{} → {}", rank, message.to));
      if (message.from >= 0) ways.push_back(fmt::format("{} ← {}", rank, message.from));
      waits.push_back(fmt::format("{} ({})", fmt::join(ways, ", "), message.call));
      in_message = true;
    } else if (seen.inside_collective) {
      waits.push_back(fmt::format("{}: {}", rank, seen.collectives.back()));
    }
  }
  return in_message ? fmt::format("{}", fmt::join(waits, "; ")) : "";
}

using Set = std::set<std::int64_t>;
using PartOf = std::map<std::int64_t, std::size_t>;  // of each image, the first that has it

/// Of the pairs of images at this distance in the set, how many lie in one part? In a random division each does with a
/// chance of 1 / n. Further off than 5 standard deviations comes a random division once in a million times.
bool lie_together(const PartOf& part_of, std::size_t n_parts, std::size_t distance) {
  double pairs = 0, together = 0;
  for (const auto& [image, part] : part_of) {
    const auto other = part_of.find(image + static_cast<std::int64_t>(distance));
    if (other == part_of.end()) continue;
    ++pairs;
    if (other->second == part) ++together;
  }
  const double chance = 1.0 / static_cast<double>(n_parts);
  return together > pairs * chance + 5 * std::sqrt(pairs * chance * (1 - chance));
}

}  // namespace

Found found(const char* key, std::initializer_list<std::pair<const char*, Value>> values) {
  Finding finding{key, {}};
  for (const auto& [name, value] : values) finding.values[name] = value.text;
  return finding;
}

std::string list(const std::vector<int>& numbers) { return fmt::format("{}", fmt::join(numbers, ", ")); }

int calls(const RankSeen& rank, const char* collective) {
  return static_cast<int>(std::ranges::count(rank.collectives, collective));
}

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

Division divide(const std::vector<Images>& parts, std::size_t size) {
  Division division;
  if (parts.empty()) return division;
  std::vector<Set> sets;
  PartOf part_of;
  Set shared, outside;
  for (const Images& part : parts) {
    const Set& set = sets.emplace_back(part.begin(), part.end());
    division.repeated += part.size() - set.size();
    for (const std::int64_t image : set) {
      if (!part_of.emplace(image, sets.size() - 1).second) shared.insert(image);
      if (image < 0 || image >= static_cast<std::int64_t>(size)) outside.insert(image);
    }
  }
  const auto by_size = [](const Images& a, const Images& b) { return a.size() < b.size(); };
  division.smallest = std::min_element(parts.begin(), parts.end(), by_size)->size();
  division.largest = std::max_element(parts.begin(), parts.end(), by_size)->size();
  division.covered = part_of.size();
  division.shared = shared.size();
  division.outside = outside.size();

  const std::size_t n = parts.size();
  if (n < 2) return division;
  const auto all = [&](auto condition) { return std::all_of(sets.begin(), sets.end(), condition); };
  division.all_the_same = all([&](const Set& set) { return set == sets.front(); });
  division.in_order = lie_together(part_of, n, 1) || lie_together(part_of, n, n);
  return division;
}

bool follows_classes(const std::vector<Images>& parts, const Dataset& set) {
  std::vector<std::pair<int, std::size_t>> by_class;
  for (std::size_t i = 0; i < set.size(); ++i) by_class.emplace_back(set[i].label, i);
  std::sort(by_class.begin(), by_class.end());
  std::vector<std::int64_t> place(set.size());
  for (std::size_t i = 0; i < set.size(); ++i) place[by_class[i].second] = static_cast<std::int64_t>(i);
  PartOf part_of;
  for (std::size_t part = 0; part < parts.size(); ++part)
    for (const std::int64_t image : parts[part]) part_of.emplace(place.at(static_cast<std::size_t>(image)), part);
  return parts.size() > 1 && lie_together(part_of, parts.size(), 1);
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

Finding find_hang(const Evidence& evidence) {
  const std::vector<RankSeen>& ranks = evidence.ranks;
  const Finding alone{"hang", {{"seconds", evidence.detail}}};
  if (const std::string waits = waits_in_messages(ranks); !waits.empty())
    return {"hang_messages", {{"seconds", evidence.detail}, {"waits", waits}}};
  const RankSeen* ahead = nullptr;
  for (const RankSeen& rank : ranks)
    if (rank.inside_collective && (!ahead || rank.collectives.size() > ahead->collectives.size())) ahead = &rank;
  if (!ahead || ranks.size() < 2) return alone;

  const std::string& call = ahead->collectives.back();
  const std::size_t n_calls = ahead->collectives.size();
  const auto is_there = [&](const RankSeen& rank) {
    return rank.inside_collective && rank.collectives.size() == n_calls && rank.collectives.back() == call;
  };
  const auto behind = std::find_if_not(ranks.begin(), ranks.end(), is_there);
  if (behind == ranks.end()) return alone;
  Finding finding{"hang_collective",
                  {{"seconds", evidence.detail},
                   {"call", call},
                   {"waiting", ranks_where(ranks, is_there)},
                   {"missing", ranks_where(ranks, [&](const RankSeen& rank) { return !is_there(rank); })}}};
  if (behind->inside_collective) {
    finding.key = "hang_two_collectives";
    finding.values["other_call"] = behind->collectives.back();
  }
  return finding;
}

std::optional<Finding> find_calls_apart(const Evidence& evidence) {
  const std::vector<RankSeen>& ranks = evidence.ranks;
  for (std::size_t position = 0;; ++position) {
    const auto calls = [&](const RankSeen& rank) { return rank.collectives.size() > position; };
    const auto one = std::find_if(ranks.begin(), ranks.end(), calls);
    if (one == ranks.end()) return {};
    const std::string& call = one->collectives[position];
    const auto calls_another = [&](const RankSeen& rank) { return calls(rank) && rank.collectives[position] != call; };
    const auto other = std::find_if(one, ranks.end(), calls_another);
    if (other == ranks.end()) continue;
    const std::string& other_call = other->collectives[position];
    const auto who_calls = [&](const std::string& name) {
      return ranks_where(ranks,
                         [&](const RankSeen& rank) { return calls(rank) && rank.collectives[position] == name; });
    };
    return Finding{
        "ranks_called_apart",
        {{"ranks", who_calls(call)}, {"call", call}, {"others", who_calls(other_call)}, {"other_call", other_call}}};
  }
}

}  // namespace odori::grader
