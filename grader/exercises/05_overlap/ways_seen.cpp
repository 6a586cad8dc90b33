// SPDX-License-Identifier: Apache-2.0
#include "ways_seen.h"

#include <algorithm>
#include <cmath>

#include "observe/refusal.h"

namespace odori::grader::overlap {

Range range_of(const facts::Event& event) {
  if (event.about.size() != 2) return {};
  return {static_cast<std::size_t>(event.about[0]), static_cast<std::size_t>(event.about[1])};
}
std::vector<Range> started_in(const std::vector<facts::Event>& events) {
  std::vector<Range> started;
  for (const facts::Event& event : events)
    if (event.what == "start") started.push_back(range_of(event));
  return started;
}
bool has(const std::vector<facts::Event>& events, const char* what) {
  return std::ranges::any_of(events, [&](const facts::Event& event) { return event.what == what; });
}

Tried::Tried(const RunPlan& plan, std::size_t setting, std::uint64_t seed) : n(plan.ranks()), seed(seed) {
  const auto settings = trial::settings(std::stoi(plan.flags.at(1)), seed);
  iterations = settings.at(setting).iterations, layers = trial::layers(settings.at(setting).layers);
  for (std::size_t i = 0; i < setting; ++i) first_way += n_ways, first_value += n_ways * settings.at(i).iterations;
  for (const auto& layer : layers) parameters.insert(parameters.end(), layer.begin(), layer.end());
  const std::size_t full = size() / static_cast<std::size_t>(std::stoi(plan.flags.at(3)));
  for (auto parameter = parameters.rbegin(); parameter != parameters.rend(); ++parameter)
    if (buckets.empty() || buckets.back().size() >= full)
      buckets.push_back(*parameter);
    else
      buckets.back().begin = parameter->begin;
}

WaySeen seen_of(const Tried& tried, const RankSeen& rank, Way way) {
  WaySeen seen;
  const int number_of_way = tried.first_way + way;
  std::vector<Iteration> begun;
  int current = -1;
  bool is_over = false;  // backward
  for (const facts::Event& event : rank.events) {
    const std::int64_t number = event.about.empty() ? -1 : event.about.front();
    if (event.what == "way") current = static_cast<int>(number);
    if (current == number_of_way && event.what == "iteration") begun.emplace_back(), is_over = false;
    if (current == number_of_way && event.what == "sent") seen.sent = number;
    if (current == number_of_way && !begun.empty() && event.what != "iteration")
      (is_over ? begun.back().after : begun.back().during).push_back(event);
    is_over |= event.what == "finish";
  }
  const auto first = static_cast<std::size_t>(tried.first_value + way * tried.iterations);
  for (std::size_t k = 0; k < begun.size() && first + k < rank.values.size(); ++k) {
    begun[k].weights = rank.values[first + k];
    begun[k].before = k > 0 ? rank.values[first + k - 1] : std::vector<float>();
    seen.iterations.push_back(std::move(begun[k]));
  }
  return seen;
}

Found find_refused(const Situation& situation) {
  for (const char* name :
       {refusal::no_such_parameter, refusal::no_such_range, refusal::cannot_start, refusal::views_changed})
    if (Found refused = grader::find_refused(situation.evidence(), name)) return refused;
  return {};
}

bool updated_by(const Tried& tried, const Iteration& iteration, double rounding, const Gradient& gradient) {
  if (iteration.weights.size() != tried.size() || !has(iteration.after, "update")) return false;
  for (const Range& parameter : tried.parameters)
    for (std::size_t i = parameter.begin; i < parameter.end; ++i) {
      const double before = iteration.before.empty() ? trial::first_weight(i) : iteration.before[i];
      const double seen = (before - iteration.weights[i]) / trial::rate - trial::decay * before;
      const double expected = gradient(i);
      if (!(std::abs(seen - expected) <= 1e-4 * (1 + std::abs(before)) + rounding * std::abs(expected))) return false;
    }
  return true;
}

Gradient mean_of(const Tried& tried, int k, double factor) {
  return [&tried, k, factor](std::size_t i) {
    double sum = 0;
    for (int rank = 0; rank < tried.n; ++rank) sum += tried.gradient(rank, k, i);
    return factor * sum / tried.n;
  };
}
Gradient own_of(const Tried& tried, int rank, int k) {
  return [&tried, rank, k](std::size_t i) { return static_cast<double>(tried.gradient(rank, k, i)); };
}

}  // namespace odori::grader::overlap
