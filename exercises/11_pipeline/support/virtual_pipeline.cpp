// SPDX-License-Identifier: Apache-2.0
#include "virtual_pipeline.h"

#include <algorithm>
#include <cmath>

#include "errors/error.h"
#include "errors/language.h"
#include "simulate/simulated_communicator.h"

namespace odori {
namespace {

constexpr double backward_over_forward = 2;  // see blank 1

/// A layer of one value for each stage, and two classes at the end.
std::vector<mlp::Layer> layers_for(std::size_t stages) {
  std::vector<std::size_t> widths(stages + 1, 1);
  widths.back() = 2;
  return mlp::make_layers(widths);
}

/// Weights are 9/8 and 8/9 in turn, so that activations stay near 1 in thousands of stages; biases are 0.
Stage stage_of(const std::vector<mlp::Layer>& layers, Range own) {
  Stage stage(layers, own, 0);
  std::ranges::fill(stage.parameters, 0.0f);
  const std::size_t begin = stage.range().begin;
  for (std::size_t i = own.begin; i < own.end; ++i)
    stage.parameters[layers[i].range.begin - begin] = i % 2 == 0 ? 9.0f / 8 : 8.0f / 9;
  return stage;
}

/// One for each of m micro-batches, all of them different.
mlp::Images images_of(int m) {
  mlp::Images images;
  for (int i = 0; i < m; ++i) {
    images.x.push_back(1 + static_cast<float>(i) / static_cast<float>(m));
    images.labels.push_back(i % 3 == 0 ? 1 : 0);
  }
  return images;
}

}  // namespace

std::vector<float> gradients_of_one_device(int p, int m) {
  const std::vector<mlp::Layer> layers = layers_for(static_cast<std::size_t>(p));
  Stage whole = stage_of(layers, {0, layers.size()});
  whole.begin(images_of(m), 1);
  whole.forward(0, whole.images(0));
  whole.backward(0, whole.loss_gradient(0));
  return whole.gradients;
}

void check_gradients(const VirtualPipeline& run, const std::vector<float>& expected) {
  constexpr float tolerance = 1e-3f;  // thousands of products, each rounded
  for (std::size_t i = 0; i < expected.size(); ++i)
    if (std::abs(run.gradients[i] - expected[i]) > tolerance * std::abs(expected[i]))
      throw Error(
          {fmt::format("The gradients are WRONG: parameter {} has {:.6g}, and {:.6g} on one device. ./odori check "
                       "pipeline looks for the blank.",
                       i, run.gradients[i], expected[i]),
           fmt::format("勾配が正しくありません。パラメータ {} の勾配は {:.6g} ですが、1 デバイスでは {:.6g} です。"
                       "原因の空欄は ./odori check pipeline で調べられます。",
                       i, run.gradients[i], expected[i])});
}

std::vector<Order> orders_of(const PipelineFunctions& functions, bool is_gpipe, int p, int m) {
  std::vector<Order> orders;
  for (int rank = 0; rank < p; ++rank) orders.push_back(functions.order(is_gpipe, rank, p, m));
  return orders;
}

VirtualPipeline run_in_virtual_time(const PipelineFunctions& functions, const std::vector<Order>& orders, int m,
                                    const cost::Cluster& cluster, double forward, const simulate::Options& options,
                                    const OnStep& on_step) {
  const std::vector<mlp::Layer> layers = layers_for(orders.size());
  const mlp::Images images = images_of(m);
  VirtualPipeline run{{}, std::vector<int>(orders.size()), std::vector<float>(mlp::range_of(layers).end)};
  run.result = simulate::run(
      cluster,
      [&](simulate::Rank& rank) {
        const auto r = static_cast<std::size_t>(rank.rank());
        Stage stage = stage_of(layers, {r, r + 1});
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
        std::ranges::copy(stage.gradients, &run.gradients[stage.range().begin]);
      },
      options);
  return run;
}

}  // namespace odori
