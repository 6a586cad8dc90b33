// SPDX-License-Identifier: Apache-2.0
// Costs of sharded training state and of split layers.
#include <algorithm>
#include <vector>

#include "comm/algorithm.h"
#include "errors/error.h"

namespace odori::cost {
namespace {

double parameters_of(std::span<const LayerCost> layers) {
  double sum = 0;
  for (const LayerCost& layer : layers) sum += layer.parameters;
  return sum;
}

/// Of a reduce-scatter or an all-gather: half of an all-reduce by the ring.
double half_of_ring(const Cluster& cluster, double bytes) { return ring(cluster, bytes) / 2; }
/// Bytes that a rank sends in it.
double half_sent(double n, double bytes) { return bytes * (n - 1) / n; }

Iteration iteration_of(double compute, double exchange) {
  return {.compute = compute, .exchange = exchange, .waited = exchange};
}

/// What of a network is split over a node's devices by tensor parallelism. Parameters and operations: a sum over
/// layers.
struct Pairs {
  LayerCost replicated, split;
  std::vector<double> reduced;  // elements of each all-reduce, for one image
  double fewest_channels = 0;   // 0: there is no pair
};

Pairs pairs_of(std::span<const LayerCost> layers) {
  Pairs pairs;
  const auto add = [](LayerCost& to, const LayerCost& layer, double parameters) {
    to.parameters += parameters;
    to.operations += layer.operations;
    to.activations += layer.activations;
  };
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const bool in_pair = i > 0 && (i % 2 == 0 || i + 1 < layers.size());
    if (!in_pair) {
      add(pairs.replicated, layers[i], layers[i].parameters);
      continue;
    }
    if (i % 2 == 1) {
      add(pairs.split, layers[i], layers[i].parameters);
      pairs.reduced.push_back(layers[i].inputs);
      const double channels = layers[i].channels;
      pairs.fewest_channels = pairs.fewest_channels > 0 ? std::min(pairs.fewest_channels, channels) : channels;
      continue;
    }
    // By rows: partial sums of all outputs.
    add(pairs.split, {.operations = layers[i].operations}, layers[i].parameters - layers[i].vectors);
    add(pairs.replicated, {.activations = layers[i].activations}, layers[i].vectors);
    pairs.reduced.push_back(layers[i].outputs);
  }
  return pairs;
}

}  // namespace

Memory zero_memory(int stage, double devices, std::span<const LayerCost> layers, const State& state, double batch) {
  if (stage < 0 || stage > 3)
    throw UsageError(fmt::format("ZeRO has the stages 1, 2 and 3 (0: nothing is sharded), and no stage {}.", stage));
  const double all = parameters_of(layers);
  const auto kept = [&](double bytes, int sharded_from) { return all * bytes / (stage >= sharded_from ? devices : 1); };
  double largest = 0, activations = 0;
  for (const LayerCost& layer : layers) {
    largest = std::max(largest, layer.parameters);
    activations += layer.activations;
  }
  Memory memory{.parameters = kept(state.parameter, 3),
                .gradients = kept(state.gradient, 2),
                .optimizer = kept(state.optimizer, 1),
                .activations = batch * activations * state.parameter};
  if (devices > 1 && stage >= 2) memory.gathered = largest * state.gradient;
  if (devices > 1 && stage == 3) memory.gathered += std::min(2 * largest, all) * state.parameter;
  return memory;
}

Split zero(int stage, const Training& training, std::span<const LayerCost> layers, const State& state, double batch) {
  const Cluster& cluster = training.cluster;
  const double n = cluster.ranks(), all = parameters_of(layers);
  const double sent_once = half_sent(n, all * state.gradient), gathered_once = half_sent(n, all * state.parameter);
  const auto by_layer = [&](double bytes) {
    double seconds = 0;
    for (const LayerCost& layer : layers) seconds += half_of_ring(cluster, layer.parameters * bytes);
    return seconds;
  };
  Split split{.memory = zero_memory(stage, n, layers, state, batch), .sent = sent_once + gathered_once};
  double exchange = 0;
  if (stage == 0) {
    exchange = ring(cluster, all * state.gradient);
    split.sent = 2 * sent_once;
  } else if (stage == 1) {
    exchange = half_of_ring(cluster, all * state.gradient) + half_of_ring(cluster, all * state.parameter);
  } else if (stage == 2) {
    exchange = by_layer(state.gradient) + half_of_ring(cluster, all * state.parameter);
  } else {
    exchange = by_layer(state.gradient) + 2 * by_layer(state.parameter);
    split.sent += gathered_once;
  }
  split.iteration = iteration_of(training.compute.seconds(batch), exchange);
  return split;
}

std::optional<Split> tensor_parallel(const Training& training, std::span<const LayerCost> layers, const State& state,
                                     double batch) {
  const Cluster& cluster = training.cluster;
  const double devices = cluster.ranks_per_node, nodes = cluster.nodes, images = devices * batch;
  const Pairs pairs = pairs_of(layers);
  if (pairs.fewest_channels < devices) return {};
  const auto own = [&](double LayerCost::*cost) { return pairs.replicated.*cost + pairs.split.*cost / devices; };

  const double parameters = own(&LayerCost::parameters), operations = own(&LayerCost::operations);
  const double all_operations = pairs.replicated.operations + pairs.split.operations;
  const Compute& compute = training.compute;
  const double per_image = compute.per_image * (all_operations > 0 ? operations / all_operations : 1);

  const Cluster node{.ranks_per_node = cluster.ranks_per_node, .within = cluster.within, .between = cluster.between};
  // All devices of a node average their shards over its one network card.
  double exchange = ring(between_nodes(cluster), devices * parameters * state.gradient);
  double sent = 2 * half_sent(nodes, parameters * state.gradient);
  for (const double elements : pairs.reduced) {
    const double bytes = images * elements * state.parameter;
    exchange += ring(node, bytes);
    sent += 2 * half_sent(devices, bytes);
  }
  return Split{.memory = {.parameters = parameters * state.parameter,
                          .gradients = parameters * state.gradient,
                          .optimizer = parameters * state.optimizer,
                          .activations = images * own(&LayerCost::activations) * state.parameter},
               .sent = sent,
               .iteration = iteration_of(compute.fixed + images * per_image, exchange)};
}

}  // namespace odori::cost
