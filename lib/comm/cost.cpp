// SPDX-License-Identifier: Apache-2.0
#include "comm/cost.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "comm/algorithm.h"
#include "comm/steps.h"
#include "errors/error.h"

namespace odori::cost {

double ring(const Cluster& cluster, double bytes) {
  const double n = cluster.ranks(), chunk = bytes / n;
  // Each step waits for its slowest message; of a node's ranks one sends to the next node.
  double step = 0;
  if (cluster.ranks_per_node > 1) step = cluster.within.message(chunk);
  if (cluster.nodes > 1) step = std::max(step, cluster.between.message(chunk));
  return 2 * (n - 1) * step;
}

double tree(const Cluster& cluster, double bytes) {
  double seconds = 0, within = 0, between = 0;  // the most of a rank and, to other nodes, of a node, in this step
  std::vector<double> sent(static_cast<std::size_t>(cluster.nodes));
  int step = 0;
  const auto end_step = [&] {
    seconds += 2 * std::max(within > 0 ? cluster.within.message(within) : 0,
                            between > 0 ? cluster.between.message(between) : 0);
    within = between = 0;
    std::fill(sent.begin(), sent.end(), 0.0);
  };
  each_tree_hop(cluster.ranks(), [&](int of_step, int from, int to, double share) {
    if (of_step != step) end_step();
    step = of_step;
    const int node = from / cluster.ranks_per_node;
    if (node == to / cluster.ranks_per_node)
      within = std::max(within, share * bytes);
    else
      between = std::max(between, sent[static_cast<std::size_t>(node)] += share * bytes);
  });
  end_step();
  return seconds;
}

double faster(const Cluster& cluster, double bytes) { return std::min(ring(cluster, bytes), tree(cluster, bytes)); }

Cluster between_nodes(const Cluster& cluster) {
  return {.nodes = cluster.nodes, .within = cluster.within, .between = cluster.between};
}

double to_or_from_first(const Cluster& cluster, double bytes) {
  const double tree = std::ceil(std::log2(cluster.ranks_per_node)) * cluster.within.message(bytes);
  const double pipeline = (cluster.ranks_per_node - 1) * cluster.within.latency + bytes / cluster.within.bandwidth;
  return std::min(tree, pipeline);
}

double halves(const Cluster& cluster, double bytes) {
  const double n = cluster.ranks_per_node;
  return (n - 1) * cluster.within.message(bytes / n);
}

double in_slices(double bytes, const std::function<double(double)>& slice) {
  const double slices = std::ceil(bytes / static_cast<double>(slice_bytes));
  return slices * slice(bytes / std::max(slices, 1.0));
}

std::optional<double> all_reduce(const std::string& communicator, const Cluster& cluster, const Gradients& gradients) {
  const Algorithm& algorithm = Algorithm::named(communicator);
  if (cluster.ranks() == 1) return 0;
  return algorithm.seconds(cluster, gradients);
}

Compute compute_from(const Measured& one, const Measured& other) {
  const double per_image = (other.seconds - one.seconds) / (other.batch - one.batch);
  if (!(per_image > 0) || !std::isfinite(per_image))
    throw UsageError(in_language(
        {"An iteration of {} images took {} s, and one of {} images {} s. Prediction needs two different batches, "
         "and the larger one has to take longer. Measure again, with batches that differ more.",
         "{} 枚の反復に {} 秒、{} 枚の反復に {} 秒かかりました。予測には、大きい方が長くかかる 2 "
         "つの異なるバッチが必要です。差の"
         "もっと大きいバッチで測り直してください。"},
        one.batch, one.seconds, other.batch, other.seconds));
  return {one.seconds - per_image * one.batch, per_image};
}

Compute compute_of_other(const Compute& proxy, double proxys_operations, double operations) {
  return {proxy.fixed, proxy.per_image * operations / proxys_operations};
}

std::optional<Iteration> iteration(const Training& training, double batch) {
  const Strategy& strategy = training.strategy;
  if (strategy.half && !takes_half_precision(training.communicator)) return {};
  Gradients gradients = training.gradients;
  if (strategy.half) gradients.bytes /= 2;
  const double buckets = strategy.overlap ? std::max(1.0, std::ceil(gradients.bytes / bucket_bytes)) : 1;
  const auto bucket =
      all_reduce(training.communicator, training.cluster,
                 {gradients.bytes / buckets, std::max(1, static_cast<int>(gradients.arrays / buckets))});
  if (!bucket) return {};
  Iteration result{.compute = training.compute.seconds(batch), .exchange = buckets * *bucket};
  double hidden = 0;
  if (strategy.double_buffering)
    hidden = result.compute;
  else if (strategy.overlap)  // the last bucket is full when backward ends
    hidden = std::min(backward_share * result.compute, result.exchange) * (buckets - 1) / buckets;
  result.waited = std::max(0.0, result.exchange - hidden);
  return result;
}

int best_nodes(Training training, double global_batch, int most) {
  int best = 1;
  double least = 0;
  for (int nodes = 1; nodes <= most; ++nodes) {
    training.cluster.nodes = nodes;
    const double batch = global_batch / training.cluster.ranks();
    if (batch < 1) break;
    const auto now = iteration(training, batch);
    if (!now || (nodes > 1 && now->seconds() >= least)) continue;
    best = nodes;
    least = now->seconds();
  }
  return best;
}

double iterations(double images, double batch) { return std::ceil(images / batch); }

double batch_where_gain_ends(const Compute& compute, double share) {
  return std::max(1.0, std::ceil(compute.fixed / (share * compute.per_image)));
}

}  // namespace odori::cost
