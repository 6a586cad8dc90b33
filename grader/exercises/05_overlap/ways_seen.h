// SPDX-License-Identifier: Apache-2.0
// What a run of task 5 showed: what each way did in each iteration, and by which gradients the weights were updated.
#pragma once

#include "checks/findings.h"
#include "known_gradients.h"

namespace odori::grader::overlap {

/// The strategies, numbered as the program tries them.
enum Way { synchronous, overlapped, double_buffered, half_precision, n_ways };

struct Iteration {
  std::vector<facts::Event> during, after;  // backward
  std::vector<float> before, weights;       // the weights before and after the update
};
struct WaySeen {
  std::vector<Iteration> iterations;  // those that came to their end
  std::int64_t sent = -1;             // bytes
};

Range range_of(const facts::Event& event);
std::vector<Range> started_in(const std::vector<facts::Event>& events);
bool has(const std::vector<facts::Event>& events, const char* what);
inline bool same(const Range& a, const Range& b) { return a.begin == b.begin && a.end == b.end; }

/// What a plan tries the ways with: once, and then with another network.
struct Tried {
  Tried(const RunPlan& plan, std::size_t setting, std::uint64_t seed);
  std::size_t size() const { return parameters.back().end; }
  float gradient(int rank, int k, std::size_t i) const {
    return trial::gradient(seed, rank, k, k == iterations - 1, i);
  }

  int n, iterations = 0;
  std::uint64_t seed;
  int first_way = 0, first_value = 0;  // of what the ranks showed
  std::vector<std::vector<Range>> layers;
  std::vector<Range> parameters, buckets;
};

WaySeen seen_of(const Tried& tried, const RankSeen& rank, Way way);

/// The first finding of all ranks that showed something, the lowest first.
template <typename Find>
Found first_of_ranks(const Situation& situation, Find find) {
  const auto& ranks = situation.evidence().ranks;
  for (const std::size_t setting : {0, 1}) {
    const Tried tried(situation.plan, setting, situation.plan.programs_seed(situation.data().seed));
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
      Found wrong = find(tried, ranks[rank], static_cast<int>(rank));
      if (wrong && setting > 0) wrong->values["note"] = "second_network";
      if (wrong) return wrong;
    }
  }
  return {};
}
template <typename Find>
Found first_of_ranks(const Situation& situation, Way way, Find find) {
  return first_of_ranks(situation, [&](const Tried& tried, const RankSeen& seen, int rank) {
    return find(tried, seen_of(tried, seen, way), rank);
  });
}

/// The library's sentence about elements that can't be sent, or about views that show others.
Found find_refused(const Situation& situation);

/// Of a position.
using Gradient = std::function<double(std::size_t)>;

/// Was the update of iteration k by `gradient` of each position, which is rounded by `rounding` at most? No if there
/// was none.
bool updated_by(const Tried& tried, const Iteration& iteration, double rounding, const Gradient& gradient);
constexpr double of_fp32 = 1e-5, of_fp16 = 2e-3, of_bf16 = 2e-2;

/// The mean over the ranks of iteration k's gradients; and this rank's own.
Gradient mean_of(const Tried& tried, int k, double factor = 1);
Gradient own_of(const Tried& tried, int rank, int k);

/// Blanks 1 to 3, by the order of what was done (checks_of_order.cpp).
Found find_in_order(const Situation& situation);
Found find_in_starting(const Situation& situation);
Found find_in_finishing(const Situation& situation);

}  // namespace odori::grader::overlap
