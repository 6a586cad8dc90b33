// SPDX-License-Identifier: Apache-2.0
#include "virtual_pipeline.h"

#include "simulate/simulated_communicator.h"

namespace odori {
namespace {

constexpr double backward_over_forward = 2;  // see blank 1

}  // namespace

std::vector<Order> orders_of(const PipelineFunctions& functions, bool is_gpipe, int p, int m) {
  std::vector<Order> orders;
  for (int rank = 0; rank < p; ++rank) orders.push_back(functions.order(is_gpipe, rank, p, m));
  return orders;
}

VirtualPipeline run_in_virtual_time(const PipelineFunctions& functions, const std::vector<Order>& orders, int m,
                                    const cost::Cluster& cluster, double forward, const simulate::Options& options,
                                    const OnStep& on_step) {
  const std::vector<std::size_t> widths(orders.size() + 1, 1);
  const std::vector<mlp::Layer> layers = mlp::make_layers(widths);
  const auto n = static_cast<std::size_t>(m);
  const mlp::Images images{std::vector<float>(n, 1), std::vector<int>(n, 0)};
  VirtualPipeline run{{}, std::vector<int>(orders.size())};
  run.result = simulate::run(
      cluster,
      [&](simulate::Rank& rank) {
        const auto r = static_cast<std::size_t>(rank.rank());
        Stage stage(layers, {r, r + 1}, 0);
        stage.on_compute([&](Step step) {
          const bool is_forward = step.pass == Phase::forward;
          const double began = rank.now();
          rank.compute(is_forward ? forward : backward_over_forward * forward, is_forward ? "forward" : "backward");
          if (on_step) on_step(rank, step, began);
        });
        stage.begin(images, m);
        simulate::SimulatedCommunicator comm(rank);
        MpiPeers peers(comm);
        functions.compute_gradients(orders[r], stage, peers);
        run.most_held[r] = stage.most_held();
      },
      options);
  return run;
}

}  // namespace odori
