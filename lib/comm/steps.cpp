// SPDX-License-Identifier: Apache-2.0
#include "comm/steps.h"

#include <utility>

namespace odori {

Steps ring_steps(int n, int rounds, double bytes) {
  Steps ring{{}, rounds * (n - 1)};
  if (n == 1) return ring;
  for (int r = 0; r < n; ++r) ring.hops.push_back({r, (r + 1) % n, ring.steps, ring.steps * bytes / n});
  return ring;
}

void each_tree_hop(int n, const std::function<void(int, int, int, double)>& hop) {
  int power = 1;
  while (2 * power <= n) power *= 2;
  const int pairs = n - power;
  const auto rank_at = [pairs](int place) { return place < pairs ? 2 * place + 1 : place + pairs; };
  int step = 0;
  for (int pair = 0; pair < pairs; ++pair) hop(step, 2 * pair, 2 * pair + 1, 1);
  double share = 0.5;
  for (int distance = 1; distance < power; distance *= 2, share /= 2) {
    ++step;
    for (int place = 0; place < power; ++place) hop(step, rank_at(place), rank_at(place ^ distance), share);
  }
}

std::vector<Steps> tree_steps(int n, double bytes) {
  std::vector<Steps> there, back;
  each_tree_hop(n, [&](int step, int from, int to, double share) {
    there.resize(static_cast<std::size_t>(step) + 1, {{}, 1});
    there.back().hops.push_back({from, to, 1, share * bytes});
  });
  for (auto step = there.rbegin(); step != there.rend(); ++step) {
    back.push_back(*step);
    for (Hop& hop : back.back().hops) std::swap(hop.from, hop.to);
  }
  there.insert(there.end(), back.begin(), back.end());
  return there;
}

Steps chain_steps(int n, int root, double bytes, bool to_root) {
  Steps chain{{}, n - 1, true};
  for (int i = 0; i < n - 1; ++i) {
    Hop hop{(root + i) % n, (root + i + 1) % n, 1, bytes};
    if (to_root) std::swap(hop.from, hop.to);
    chain.hops.push_back(hop);
  }
  return chain;
}

Steps all_to_all_steps(int n, double bytes) {
  Steps pairs{{}, n - 1};
  for (int from = 0; from < n; ++from)
    for (int to = 0; to < n; ++to)
      if (from != to) pairs.hops.push_back({from, to, 1, bytes / n});
  return pairs;
}

Steps scatter_steps(int root, const std::vector<double>& bytes) {
  Steps all{{}, 1};
  for (int to = 0; to < static_cast<int>(bytes.size()); ++to)
    if (to != root) all.hops.push_back({root, to, 1, bytes[static_cast<std::size_t>(to)]});
  return all;
}

}  // namespace odori
