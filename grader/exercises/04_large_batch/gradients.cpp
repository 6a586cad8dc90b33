// SPDX-License-Identifier: Apache-2.0
#include "gradients.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "given.h"
#include "observe/refusal.h"

namespace odori::grader::large_batch {
namespace {

/// Exchanges of gradients, of the rank that made the most, and its updates.
struct Exchanges {
  int seen = 0, updates = 0;
  bool too_many() const { return updates > 0 && seen > updates; }
};
Exchanges exchanges_of(const Evidence& evidence) {
  Exchanges most;
  for (const RankSeen& rank : evidence.ranks) {
    const auto calls = std::count(rank.collectives.begin(), rank.collectives.end(), "average_over_ranks()");
    most.seen = std::max(most.seen, static_cast<int>(calls));
    most.updates = static_cast<int>(rank.earlier_updates + rank.steps.size());
  }
  return most;
}

/// By the rates that there should be, and `part` of the mean gradient of each worker's last so many images.
std::optional<WrongWeights> find_wrong(const Situation& situation, int batches, double part) {
  if (!came_to_the_last(situation)) return {};
  const Given given = given_of(situation);
  Updates updates = updates_of_ranks(situation.evidence());
  const auto n = static_cast<std::size_t>(batches * given.batch);
  for (auto& update : updates)
    for (Step& step : update)
      if (step.images.size() > n)
        step.images.erase(step.images.begin(), step.images.end() - static_cast<std::ptrdiff_t>(n));
  return find_wrong_weights(situation.data(), situation.plan, updates, n, [&](std::size_t update) {
    // Weight decay is added to a sum as it is.
    return Sgd{.rate = given.rate(static_cast<int>(update)) * part, .decay = Sgd().decay / given.summed() / part};
  });
}
std::optional<WrongWeights> find_wrong(const Situation& situation) {
  return find_wrong(situation, given_of(situation).m, 1);
}

Found found_gradient(const char* key, const Situation& situation, const WrongWeights& wrong) {
  const Given given = given_of(situation);
  return found(key, {{"update", wrong.update},
                     {"times", wrong.rate ? fmt::format("{:.3g}", *wrong.rate / wrong.expected.rate) : "?"},
                     {"m", given.m},
                     {"ranks", given.ranks},
                     {"n", given.m * given.ranks}});
}

/// Single weights are wrong, and all others right.
Found found_in_some(const WrongShares& some) {
  return found("some_numbers_wrong",
               {{"wrong", some.n}, {"n", some.weights}, {"first", some.first}, {"times", measured(some.share, 1)}});
}

Found found_exchanges(const char* key, const Situation& situation) {
  const Exchanges exchanges = exchanges_of(situation.evidence());
  return found(key, {{"seen", exchanges.seen}, {"updates", exchanges.updates}, {"m", given_of(situation).m}});
}

/// How many times as long as it should be the gradient is.
bool is_longer_by(const WrongWeights& wrong, double factor) {
  return wrong.rate && std::abs(*wrong.rate / wrong.expected.rate - factor) < 0.01 * factor;
}

/// Ranks that went apart, unless an update before that was `wrong` on all of them: what that leads to, weights that are
/// no numbers among it, says nothing more.
Found find_apart(const Situation& situation, const std::optional<WrongWeights>& wrong) {
  if (!came_to_the_last(situation)) return {};
  const auto apart = find_disagreement(updates_of_ranks(situation.evidence()));
  if (!apart || (wrong && wrong->update < apart->update)) return {};
  if (exchanges_of(situation.evidence()).seen == 0)
    return found("not_exchanged", {{"update", apart->update}, {"ranks", situation.plan.ranks()}});
  return found("ranks_apart", {{"update", apart->update}, {"one", apart->one}, {"other", apart->other}});
}

/// Another length was exchanged.
Found find_refused(const Situation& situation) {
  return grader::find_refused(situation.evidence(), refusal::other_gradients, "other_length_exchanged");
}

}  // namespace

Found find_in_total(const Situation& situation) {
  if (situation.plan.epochs == 0) return {};
  if (Found refused = find_refused(situation)) return refused;
  if (exchanges_of(situation.evidence()).too_many()) return found_exchanges("exchanged_each_batch", situation);
  const Given given = given_of(situation);
  const auto wrong = find_wrong(situation);
  if (!wrong) return {};
  if (wrong->of_some.n > 0) return found_in_some(wrong->of_some);
  if (given.m > 1 && !find_wrong(situation, 1, 1.0 / given.m))
    return found_gradient("last_batch_alone", situation, *wrong);
  if (given.m > 1 && is_longer_by(*wrong, 1.0 / given.m))
    return found_gradient("divided_in_the_loop", situation, *wrong);
  return found_gradient("total_wrong", situation, *wrong);
}

Found find_in_mean(const Situation& situation) {
  if (situation.plan.epochs == 0) return {};
  if (Found refused = find_refused(situation)) return refused;
  const auto wrong = find_wrong(situation);
  if (Found apart = find_apart(situation, wrong)) return apart;
  if (!wrong)
    return exchanges_of(situation.evidence()).too_many() ? found_exchanges("exchanged_too_often", situation) : Found();
  if (wrong->of_some.n > 0) return found_in_some(wrong->of_some);
  const Given given = given_of(situation);
  return found_gradient(is_longer_by(*wrong, given.m) ? "batches_not_averaged" : "mean_wrong", situation, *wrong);
}

Found find_other_weights(const Situation& situation) {
  if (situation.plan.epochs == 0) return {};
  const auto wrong = find_wrong(situation);
  if (Found apart = find_apart(situation, wrong)) return apart;
  return wrong ? found("weights_differ", {{"update", wrong->update}}) : Found();
}

}  // namespace odori::grader::large_batch
