// SPDX-License-Identifier: Apache-2.0
// What the checks of task 8 have in common.
#pragma once

#include <algorithm>
#include <cmath>

#include "sharded_seen.h"

namespace odori::grader {

/// Calls `find` for each case and each rank, until it finds something.
template <typename Find>
Found on_ranks(const Situation& situation, const Find& find) {
  for (std::size_t i = 0; i < sharded_cases_of(situation.plan).cases.size(); ++i) {
    const ShardedCaseSeen seen(situation, i);
    for (int rank = 0; rank < seen.ranks(); ++rank)
      if (Found wrong = find(seen, rank)) return wrong;
  }
  return {};
}
/// The same for each update or step.
template <typename Find>
Found in_updates(const Situation& situation, const Find& find) {
  return on_ranks(situation, [&](const ShardedCaseSeen& seen, int rank) -> Found {
    for (int update = 0; update < seen.sizes().updates; ++update)
      if (Found wrong = find(seen, rank, update)) return wrong;
    return {};
  });
}

/// Values may differ by rounding.
inline bool near_value(double seen, double expected) {
  return std::abs(seen - expected) <= 2e-6 * std::max(1.0, std::abs(expected));
}

template <typename Expected>
bool all_near(const std::vector<float>& seen, const Expected& expected) {
  for (std::size_t i = 0; i < seen.size(); ++i)
    if (!near_value(seen[i], expected(i))) return false;
  return true;
}

template <typename Expected>
Found first_that_differs(const char* key, int rank, const std::vector<float>& seen, const Expected& expected) {
  for (std::size_t i = 0; i < seen.size(); ++i)
    if (!near_value(seen[i], expected(i)))
      return found(key, {{"rank", rank},
                         {"i", i},
                         {"seen", fmt::format("{:g}", seen[i])},
                         {"expected", fmt::format("{:g}", expected(i))}});
  return {};
}

/// An update of part A that sends more than 2 E (n - 1) / n bytes, for E bytes of parameters.
Found find_more_bytes_of_updates(const char* key, const Situation& situation);
/// A step of part B that sends more than 3 E (n - 1) / n bytes.
Found find_more_bytes_of_steps(const char* key, const Situation& situation);

/// What is wrong with the calls on layers in forward(), or in backward().
Found find_in_pass(const Situation& situation, bool is_forward);

}  // namespace odori::grader
