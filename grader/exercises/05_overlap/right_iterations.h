// SPDX-License-Identifier: Apache-2.0
// Right iterations of the exchanges of task 5, put together as the evidence has them.
#pragma once

#include "fabricated.h"
#include "observe/refusal.h"

namespace odori::grader::test::of_overlap {

enum Way { synchronous, overlapped, double_buffered, half_precision };

/// A rank's iteration by one way, and what a test makes of it.
struct Iteration {
  Way way = synchronous;
  int k = 0, rank = 0, n = 1, iterations = 1;
  std::vector<facts::Event> during, after;  // backward
  bool updates = true;
  std::function<double(std::size_t)> gradient;  // that the update is by

  double mean(int of, std::size_t i) const {
    double sum = 0;
    for (int r = 0; r < n; ++r) sum += trial::gradient(data().seed, r, of, of == iterations - 1, i);
    return sum / n;
  }
  double own(int of, std::size_t i) const { return trial::gradient(data().seed, rank, of, of == iterations - 1, i); }
};
using Change = std::function<void(Iteration&)>;

inline facts::Event event(const char* what, const Range& range) {
  return {what, {static_cast<std::int64_t>(range.begin), static_cast<std::int64_t>(range.end)}};
}

inline std::vector<Range> buckets_of(const std::vector<std::vector<Range>>& layers, std::size_t full) {
  std::vector<Range> buckets;
  for (auto layer = layers.rbegin(); layer != layers.rend(); ++layer)
    for (auto parameter = layer->rbegin(); parameter != layer->rend(); ++parameter)
      if (buckets.empty() || buckets.back().size() >= full)
        buckets.push_back(*parameter);
      else
        buckets.back().begin = parameter->begin;
  return buckets;
}

inline Iteration right_iteration(Way way, int k, int rank, const RunPlan& plan, const trial::Setting& setting) {
  const auto layers = trial::layers(setting.layers);
  const std::size_t size = layers.back().back().end;
  const auto buckets = buckets_of(layers, size / std::stoul(plan.flags[3]));
  Iteration it{.way = way,
               .k = k,
               .rank = rank,
               .n = plan.ranks(),
               .iterations = setting.iterations,
               .updates = way != double_buffered || k > 0};
  std::size_t started = 0;
  for (auto layer = layers.rbegin(); layer != layers.rend(); ++layer) {
    const Range range{layer->front().begin, layer->back().end};
    it.during.push_back(event("final", range));
    while (way == overlapped && started < buckets.size() && buckets[started].begin >= range.begin)
      it.during.push_back(event("start", buckets[started++]));
  }
  if (way == synchronous) it.after = {event("start", {0, size}), {"wait", {}}};
  if (way == overlapped) it.after = {{"wait", {}}};
  if (way == double_buffered) it.after = {{"wait", {}}, event("start_in_flight", {0, size})};
  if (way == half_precision) it.after = {event("sum", {16, size})};
  const int of = way == double_buffered ? k - 1 : k;
  it.gradient = [n = it.n, of, all = setting.iterations](std::size_t i) {
    return Iteration{.n = n, .iterations = all}.mean(of, i);
  };
  return it;
}

}  // namespace odori::grader::test::of_overlap
