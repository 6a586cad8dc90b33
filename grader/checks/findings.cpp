#include "checks/findings.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "checks/division.h"
#include "checks/hang.h"

namespace odori::grader {

Found found(const char* key, std::initializer_list<std::pair<const char*, Value>> values) {
  Finding finding{key, {}};
  for (const auto& [name, value] : values) finding.values[name] = value.text;
  return finding;
}

std::string list(const std::vector<int>& numbers) { return fmt::format("{}", fmt::join(numbers, ", ")); }

bool is_test_set(const RunData& data, const std::vector<Pictures>& parts, const Updates& updates) {
  const std::size_t n_test = data.sets.test->size();
  const Division division = divide(parts, n_test);
  if (division.outside > 0 || division.covered + parts.size() <= n_test) return false;
  return updates.empty() || find_wrong_weights(data, updates);
}

Found explain(const WrongWeights& wrong, const RunData& data) {
  if (wrong.momentum)
    return found("momentum_changed", {{"seen", fmt::format("{:.2g}", *wrong.momentum)}, {"expected", momentum}});
  if (!wrong.rate) return found("weights_differ", {{"update", wrong.update}});
  // The rate that an optimizer has if none is given.
  const bool forgotten = std::abs(*wrong.rate / MomentumSGD().learning_rate() - 1) < same_weights;
  return found(forgotten ? "learning_rate_forgotten" : "learning_rate_changed",
               {{"seen", fmt::format("{:.3g}", *wrong.rate)}, {"expected", data.learning_rate}});
}

Found find_early_end(const Evidence& evidence, const RunData& data) {
  const auto stopped = std::find_if(evidence.ranks.begin(), evidence.ranks.end(),
                                    [](const RankSeen& rank) { return rank.error.has_value(); });
  if (evidence.ending == Ending::failed) {
    if (Found apart = find_calls_apart(evidence)) return apart;
    return found("stopped_by_library",
                 {{"detail", stopped == evidence.ranks.end() ? evidence.detail : stopped->error.value()}});
  }
  if (evidence.ending != Ending::finished) return {};
  for (const RankSeen& rank : evidence.ranks)
    if (rank.steps.empty() || static_cast<int>(rank.evaluations.size()) != data.epochs)
      return found("ended_early", {{"seen", rank.evaluations.size()}, {"expected", data.epochs}});
  return {};
}

Found find_forgery(const Evidence& evidence) {
  for (const RankSeen& rank : evidence.ranks)
    if (rank.forged) return rank.forged;
  return {};
}

Found find_untrained(const Evidence& evidence, const RunData& data) {
  const Found early = find_early_end(evidence, data);
  return early ? early : find_forgery(evidence);
}

Found find_wrong_evaluation(const RankSeen& rank, const RunData& data) {
  if (rank.evaluations.empty() || rank.steps.empty() || rank.steps.back().empty()) return {};
  const EvaluationSeen& seen = rank.evaluations.back();
  const EvaluationSeen expected =
      evaluate(data, rank.steps.back().front().parameters, whole_set(data.sets.test->size()));
  // Losses are added up in another order; hits are counted.
  const bool right = seen.samples == expected.samples && std::abs(seen.loss - expected.loss) < 1e-4 * expected.loss &&
                     std::abs(seen.accuracy - expected.accuracy) < 1e-9;
  if (right) return {};
  return found("evaluation_differs", {{"seen", fmt::format("{:.4f}", seen.loss)},
                                      {"expected", fmt::format("{:.4f}", expected.loss)},
                                      {"samples", seen.samples},
                                      {"test", expected.samples}});
}

}  // namespace odori::grader
