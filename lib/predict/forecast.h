// SPDX-License-Identifier: Apache-2.0
// Predicts training on a cluster from iterations of one device (./odori predict).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "comm/cost.h"
#include "errors/language.h"
#include "report/table.h"

namespace odori {

/// A parallelization, and its cost per device.
struct SplitForecast {
  Text name;
  std::optional<cost::Split> cost;  // none if it cannot be used
};

/// Predicts data parallelism, ZeRO-1 to 3, and tensor parallelism within nodes (cost.h). `batch`: images per device.
/// Tensor parallelism needs several devices per node.
std::vector<SplitForecast> splits_of(const cost::Training& training, std::span<const LayerCost> layers,
                                     const cost::State& state, double batch);

/// A table of memory per device (MB), bytes sent per device and iteration (MB), and iteration time (ms).
std::string to_text(const std::vector<SplitForecast>& splits);

struct Question {
  std::string model;
  cost::Training training;             // on the whole cluster
  double batch = 32;                   // images per device (weak scaling)
  double shared_batch = 8192;          // images of all devices together (strong scaling)
  double images = 50000;               // per epoch
  std::vector<LayerCost> layers = {};  // of the model
  cost::State state = cost::fp32_adam;
};

/// Iterations on the whole cluster with one communicator, by exchange strategy.
struct CommunicatorForecast {
  std::string name;
  std::optional<cost::Iteration> plain, half, overlap, double_buffering;  // none if unsupported
};

struct NodesForecast {
  int nodes = 1, devices = 1;
  std::optional<cost::Iteration> weak, strong;   // seconds; strong: none if there are more devices than images
  double images_per_second = 0, efficiency = 0;  // weak scaling; efficiency: over one device's x devices
  double speedup = 0;                            // of strong scaling, over one device with the whole batch
  double epoch = 0;                              // seconds, weak scaling
};

struct Forecast {
  Question question;
  std::vector<CommunicatorForecast> communicators;
  std::vector<NodesForecast> scaling;  // 1, 2, 4, ... nodes, and the whole cluster
  int best_nodes = 1;                  // fastest number of nodes for strong scaling
  std::vector<SplitForecast> splits;   // on the whole cluster, weak scaling
  double epoch = 0;                    // seconds on one device
  double batch_within_10_percent = 1;
};

Forecast forecast(const Question& question);
std::string to_text(const Forecast& forecast);
/// A self-contained web page in English and Japanese. `chart_js`: as in report/comparison.h.
std::string to_page(const Forecast& forecast, const std::string& chart_js);
void to_json(nlohmann::json& json, const Forecast& forecast);

/// The cells of a table's row; "-" for what is not there.
TableRow cells_of(const CommunicatorForecast& of);
TableRow cells_of(const NodesForecast& of);
TableRow cells_of(const SplitForecast& of);
/// "41.2 kB", "59.9 MB".
std::string in_bytes(double n);

}  // namespace odori
