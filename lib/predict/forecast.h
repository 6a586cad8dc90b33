// SPDX-License-Identifier: Apache-2.0
// From an iteration of one device to a cluster of them: what ./odori predict prints.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "comm/cost.h"

namespace odori {

/// A way to use several devices, and what it costs one of them.
struct OfSplit {
  std::string name;
  std::optional<cost::Split> cost;  // none where it can't be used
};

/// Data parallelism, ZeRO-1 to 3, and tensor parallelism in each node, by cost.h. `batch`: images a device. Tensor
/// parallelism needs several devices on each node.
std::vector<OfSplit> splits_of(const cost::Training& training, std::span<const LayerCost> layers,
                               const cost::State& state, double batch);

/// A table: megabytes of a device, megabytes that it sends in an iteration, milliseconds.
std::string to_text(const std::vector<OfSplit>& splits);

struct Question {
  std::string model;
  cost::Training training;             // on the whole cluster
  double batch = 32;                   // images a device and iteration, where each device brings its own (weak scaling)
  double shared_batch = 8192;          // and where all devices share one (strong scaling)
  double images = 50000;               // of an epoch
  std::vector<LayerCost> layers = {};  // of the model
  cost::State state = cost::fp32_adam;
};

/// An all-reduce on the whole cluster, and iterations with it.
struct OfCommunicator {
  std::string name;
  std::optional<cost::Iteration> plain, half, overlap, double_buffering;  // none where it refuses that
};

struct OfNodes {
  int nodes = 1, devices = 1;
  std::optional<cost::Iteration> weak, strong;   // strong: none with more devices than images
  double images_per_second = 0, efficiency = 0;  // weak: of one device's images a second, times the devices
  double speedup = 0;                            // strong: over one device with the whole batch
  double epoch = 0;                              // weak, seconds
};

struct Forecast {
  Question question;
  std::vector<OfCommunicator> communicators;
  std::vector<OfNodes> scaling;  // 1, 2, 4, ... nodes, and the cluster's
  int best_nodes = 1;            // strong scaling gains no more beyond
  std::vector<OfSplit> splits;   // on the whole cluster, weak scaling
  double epoch = 0;              // of one device, seconds
  double batch_within_10_percent = 1;
};

Forecast forecast(const Question& question);
std::string to_text(const Forecast& forecast);
/// One self-contained page, in English and Japanese. `chart_js`: as for a comparison's page.
std::string to_page(const Forecast& forecast, const std::string& chart_js);
void to_json(nlohmann::json& json, const Forecast& forecast);

/// "41.2 kB", "59.9 MB".
std::string in_bytes(double n);

}  // namespace odori
