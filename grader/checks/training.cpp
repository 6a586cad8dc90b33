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

/// The number by which `way` has to be multiplied to come from `expected` to `seen`; nothing if there is none, or if
/// nothing is to come.
std::optional<double> multiple_of(const std::vector<double>& way, const std::vector<float>& expected,
                                  const std::vector<float>& seen) {
  if (seen.size() != way.size()) return {};
  double along = 0, length = 0, rest = 0;
  for (std::size_t i = 0; i < way.size(); ++i) {
    along += way[i] * (static_cast<double>(seen[i]) - expected[i]);
    length += way[i] * way[i];
  }
  const double factor = along / length;
  for (std::size_t i = 0; i < way.size(); ++i)
    rest += std::pow(static_cast<double>(seen[i]) - expected[i] - factor * way[i], 2);
  const bool fits = std::isfinite(factor) && std::sqrt(rest / length) < same_weights;
  return fits && std::abs(factor) > same_weights ? std::optional(factor) : std::nullopt;
}

std::vector<double> difference(const std::vector<float>& to, const std::vector<float>& from) {
  std::vector<double> way;
  for (std::size_t i = 0; i < to.size(); ++i) way.push_back(static_cast<double>(to[i]) - from[i]);
  return way;
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

// The first update moves the weights by rate * gradient, the second one again by momentum times the same way: so the
// first that goes wrong tells a wrong rate, or a wrong momentum.
std::optional<WrongWeights> find_wrong_weights(const RunData& data, const Updates& updates) {
  if (updates.empty() || updates.front().empty()) return {};
  const int n_pictures = data.batch_size * static_cast<int>(updates.front().size());
  Reference reference(data, n_pictures, data.seed);
  const std::vector<float> start = reference.parameters();
  std::vector<double> first_way;
  for (std::size_t update = 0; update < updates.size(); ++update) {
    WrongWeights wrong{.update = static_cast<int>(update) + 1};
    const Pictures pictures = pictures_of(data, updates[update]);
    if (pictures.size() != static_cast<std::size_t>(n_pictures)) return wrong;
    reference.update(pictures);
    const std::vector<float> expected = reference.parameters();
    if (update == 0) first_way = difference(expected, start);
    for (const Step& step : updates[update]) {
      if (distance(step.parameters, expected, start) < same_weights) continue;
      const auto multiple = multiple_of(first_way, expected, step.parameters);
      if (multiple && update == 0) wrong.rate = (1 + *multiple) * data.learning_rate;
      if (multiple && update == 1) wrong.momentum = momentum + *multiple;
      return wrong;
    }
    reference.go_on_from(updates[update].front().parameters);
  }
  return {};
}

std::vector<float> alone(const RunData& data, const Pictures& pictures, std::uint64_t seed) {
  Reference reference(data, static_cast<int>(pictures.size()), seed);
  reference.update(pictures);
  return reference.parameters();
}

}  // namespace odori::grader
