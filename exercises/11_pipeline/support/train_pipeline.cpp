// SPDX-License-Identifier: Apache-2.0
// Around the training run of the program: the cut into stages, and what is printed.
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "data/batch.h"
#include "errors/error.h"
#include "observe/hooks.h"
#include "pipeline_support.h"

namespace odori {

std::vector<mlp::Layer> make_perceptron(int n_layers, int width, int n_classes) {
  std::vector<std::size_t> widths(static_cast<std::size_t>(n_layers) + 1, static_cast<std::size_t>(width));
  widths.front() = Example::bytes;
  widths.back() = static_cast<std::size_t>(n_classes);
  return mlp::make_layers(widths);
}

std::vector<Range> cut(std::span<const mlp::Layer> layers, CostOf cost_of, int p) {
  const std::size_t n = layers.size(), stages = static_cast<std::size_t>(p);
  require(stages <= n, "{} layers can't be cut into {} stages. Start fewer ranks, or give more --layers.", n, p);
  std::vector<double> sums{0};  // of the layers before this one
  for (const mlp::Layer& layer : layers) {
    const double cost = cost_of(layer, layer.range.begin == 0);
    require(cost > 0 && std::isfinite(cost),

            "cost_of() is {} for a layer of {} inputs and {} outputs. A cost is a number above 0.", cost, layer.in,
            layer.out);
    sums.push_back(sums.back() + cost);
  }
  // Dynamic programming, twice: first for the smallest largest cost, then for the most even stages within that.
  // best[s][end]: of s stages that end before layer `end`; from[s][end]: the first layer of the last of them.
  const double none = std::numeric_limits<double>::infinity();
  std::vector<std::vector<std::size_t>> from(stages + 1, std::vector<std::size_t>(n + 1));
  const auto minimise = [&](auto&& with_stage) {
    std::vector<std::vector<double>> best(stages + 1, std::vector<double>(n + 1, none));
    best[0][0] = 0;
    for (std::size_t s = 1; s <= stages; ++s)
      for (std::size_t end = s; end <= n; ++end)
        for (std::size_t begin = s - 1; begin < end; ++begin)
          if (const double all = with_stage(best[s - 1][begin], sums[end] - sums[begin]); all < best[s][end])
            best[s][end] = all, from[s][end] = begin;
    return best[stages][n];
  };
  const double largest = minimise([](double others, double cost) { return std::max(others, cost); });
  minimise([&](double others, double cost) { return cost <= largest * (1 + 1e-9) ? others + cost * cost : none; });
  std::vector<Range> ranges(stages);
  for (std::size_t s = stages, end = n; s > 0; end = from[s--][end]) ranges[s - 1] = {from[s][end], end};
  return ranges;
}

Range cut(std::span<const mlp::Layer> layers, CostOf cost_of, Communicator& comm) {
  const std::vector<Range> ranges = cut(layers, cost_of, comm.size());
  if (comm.rank() == 0)
    for (std::size_t rank = 0; rank < ranges.size(); ++rank) {
      double cost = 0;
      for (const mlp::Layer& layer : layers.subspan(ranges[rank].begin, ranges[rank].size()))
        cost += cost_of(layer, layer.range.begin == 0);
      fmt::print("Rank {} trains layers {} to {}: {:.2f} million multiply-adds for an image\n", rank,
                 ranges[rank].begin, ranges[rank].end - 1, cost / 1e6);
    }
  return ranges[static_cast<std::size_t>(comm.rank())];
}

void PipelineReport::iteration_over(std::span<const mlp::Layer> layers, std::uint64_t seed) {
  ++iterations_;
  loss_ += stage_.loss().mean;
  correct_ += static_cast<double>(stage_.loss().correct);
  for (const mlp::Images& batch : stage_.batches()) images_ += static_cast<double>(batch.labels.size());
  if (compared_) return;
  compared_ = true;

  // One device: the whole network and the whole batch at once.
  mlp::Images whole;
  for (const mlp::Images& batch : stage_.batches()) {
    whole.x.insert(whole.x.end(), batch.x.begin(), batch.x.end());
    whole.labels.insert(whole.labels.end(), batch.labels.begin(), batch.labels.end());
  }
  const Range all = mlp::range_of(layers), own = stage_.range();
  const std::vector<float> parameters = mlp::initial_parameters(layers, all, seed);
  std::vector<float> gradients(all.size());
  const mlp::Activations activations = mlp::stage_forward(layers, parameters, std::move(whole.x));
  std::vector<float> dy(activations.back().size());
  mlp::softmax_cross_entropy(activations.back(), whole.labels, dy);
  mlp::stage_backward(layers, parameters, activations, std::move(dy), gradients);
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < own.size(); ++i) {
    difference += std::pow(double{stage_.gradients[i]} - gradients[own.begin + i], 2);
    size += std::pow(double{gradients[own.begin + i]}, 2);
  }
  const std::vector<double> of_ranks = comm_.all_gather(std::sqrt(difference / std::max(size, 1e-300)));
  if (comm_.rank() != 0) return;
  std::vector<std::size_t> wrong;
  for (std::size_t rank = 0; rank < of_ranks.size(); ++rank)
    if (!(of_ranks[rank] < 1e-4)) wrong.push_back(rank);
  if (wrong.empty())
    fmt::print("First gradients: as one device computes them, on every rank\n");
  else
    fmt::print("First gradients: WRONG on rank {}, off by {:.3g} times the right ones\n", fmt::join(wrong, ", "),
               of_ranks[wrong.front()]);
}

void PipelineReport::epoch_over(std::int64_t epoch) {
  // The last stage alone knows the loss.
  std::array sums{stage_.is_last() ? loss_ : 0.0, stage_.is_last() ? correct_ : 0.0};
  comm_.sum(sums);
  if (comm_.rank() == 0)
    fmt::print("Epoch {}: main/loss {:.4f}, main/accuracy {:.4f}\n", epoch, sums[0] / static_cast<double>(iterations_),
               sums[1] / images_);
  iterations_ = 0;
  loss_ = correct_ = images_ = 0;
}

}  // namespace odori
