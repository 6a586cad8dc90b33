#include "checks/training.h"

#include <algorithm>
#include <cmath>

namespace odori::grader {
namespace {

/// All pictures of an update, and nothing if they aren't those of one batch a worker.
Pictures pictures_of(const RunData& data, const std::vector<Step>& update) {
  Pictures all;
  const auto n_train = static_cast<std::int64_t>(data.sets.train->size());
  for (const Step& step : update) {
    if (step.pictures.size() != static_cast<std::size_t>(data.batch_size)) return {};
    for (const std::int64_t picture : step.pictures) {
      if (picture < 0 || picture >= n_train) return {};
      all.push_back(picture);
    }
  }
  return all;
}

/// With which learning rate would the first update have come to `seen`? It moves the weights by a multiple of the rate.
std::optional<double> explaining_rate(const std::vector<float>& before, const std::vector<float>& expected,
                                      const std::vector<float>& seen, double rate) {
  double along = 0, length = 0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    const double way = static_cast<double>(expected[i]) - before[i];
    along += way * (static_cast<double>(seen[i]) - before[i]);
    length += way * way;
  }
  const double factor = along / length;
  if (!std::isfinite(factor) || std::abs(factor - 1) < same_weights || std::abs(factor) < same_weights) return {};
  std::vector<float> explained = before;
  for (std::size_t i = 0; i < before.size(); ++i)
    explained[i] += static_cast<float>(factor * (static_cast<double>(expected[i]) - before[i]));
  if (distance(seen, explained, before) > same_weights) return {};
  return factor * rate;
}

}  // namespace

Updates updates_of_ranks(const Evidence& evidence) {
  Updates updates;
  for (std::size_t update = 0;; ++update) {
    std::vector<Step> steps;
    for (const RankSeen& rank : evidence.ranks) {
      if (update >= rank.steps.size() || rank.steps[update].empty()) return updates;
      steps.push_back(rank.steps[update].front());
    }
    if (steps.empty()) return updates;
    updates.push_back(std::move(steps));
  }
}

std::optional<Disagreement> find_disagreement(const Updates& updates) {
  // Workers that get the same numbers from one another have the same bits.
  for (std::size_t update = 0; update < updates.size(); ++update)
    for (std::size_t worker = 1; worker < updates[update].size(); ++worker)
      if (updates[update][worker].parameters != updates[update].front().parameters)
        return Disagreement{static_cast<int>(update) + 1, 0, static_cast<int>(worker)};
  return {};
}

std::optional<WrongWeights> find_wrong_weights(const RunData& data, const Updates& updates) {
  if (updates.empty()) return {};
  const int n_pictures = data.batch_size * static_cast<int>(updates.front().size());
  Reference reference(data, n_pictures, {.learning_rate = data.learning_rate}, data.seed);
  const std::vector<float> start = reference.parameters();
  for (std::size_t update = 0; update < updates.size(); ++update) {
    const int number = static_cast<int>(update) + 1;
    const Pictures pictures = pictures_of(data, updates[update]);
    if (pictures.size() != static_cast<std::size_t>(n_pictures)) return WrongWeights{number, 1, {}};
    reference.update(pictures);
    const std::vector<float> expected = reference.parameters();
    for (const Step& step : updates[update]) {
      const double off = distance(step.parameters, expected, start);
      if (off < same_weights) continue;
      WrongWeights wrong{number, off, {}};
      if (update == 0 && step.parameters.size() == start.size())
        wrong.rate = explaining_rate(start, expected, step.parameters, data.learning_rate);
      return wrong;
    }
  }
  return {};
}

std::vector<float> alone(const RunData& data, const Pictures& pictures, std::uint64_t seed) {
  Reference reference(data, static_cast<int>(pictures.size()), {.learning_rate = data.learning_rate}, seed);
  reference.update(pictures);
  return reference.parameters();
}

}  // namespace odori::grader
