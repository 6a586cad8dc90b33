// SPDX-License-Identifier: Apache-2.0
// A network with its loss and accuracy, on one device. After Chainer's Classifier.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "backend/device.h"
#include "backend/graph.h"
#include "model/networks.h"

namespace odori {

/// Name and position of a parameter or statistic.
struct NamedView {
  std::string name;
  ParameterView view;
};

/// Host copy of a model, in plain order, for snapshots.
struct ModelState {
  std::vector<std::vector<float>> parameters,
      statistics;  // as Classifier::parameters() and statistics() list them
  RandomKey random;
  AlgorithmTable algorithms;
};

class Classifier {
 public:
  /// `batch_size`: images per batch. Initial weights depend on the seed only; dropout and augmentation also on
  /// `stream`, which differs for each device and rank.
  Classifier(const NetworkSpec& network, int batch_size, std::uint64_t seed, std::uint32_t stream = 0);
  ~Classifier();

  /// Allocates memory and graph on the device, and writes the initial weights. Prints the algorithms if `options` asks
  /// for it and this is rank 0.
  void to_device(Device& device, const AlgorithmOptions& options = {});
  /// Copies the model to another device, with another random stream.
  std::unique_ptr<Classifier> replicate(Device& device, std::uint32_t stream) const;

  /// Computes loss and gradients of one full batch. Throws Error if to_device() was not called, or for a partial batch.
  /// Calls `on_gradient_ready` for gradients as Graph::backward() does.
  void forward_backward(const Batch& batch, const OnGradientReady& on_gradient_ready = {});
  /// Adds one batch of any size to the metrics, without training.
  void evaluate(const Batch& batch);
  /// Outputs of the last batch, N x classes with N = batch_size(). Rows after the last image are meaningless. Waits for
  /// the device.
  std::vector<float> read_logits() const;
  /// Returns the metrics since the last call, of training and evaluation alike. Waits for the device.
  Metrics take_metrics();

  Device& device() const;  // throws Error before to_device()
  bool on_device() const { return device_ != nullptr; }
  int batch_size() const { return batch_size_; }
  const NetworkSpec& network() const { return network_; }
  std::size_t parameter_count() const;  // trained elements, without gaps
  const std::vector<NamedView>& parameters() const { return parameters_; }
  const std::vector<NamedView>& statistics() const { return statistics_; }
  ModelMemory& memory() { return memory_; }
  Graph& graph() const { return *graph_; }
  AlgorithmTable& algorithms() { return algorithms_; }

  const RandomKey& random() const { return random_; }

  ModelState state() const;
  /// Throws Error if the state belongs to another network. Rebuilds the graph if it used other algorithms.
  void restore(const ModelState& state);

 private:
  void allocate(Device& device, bool measure);  // memory and graph, without values

  NetworkSpec network_;
  int batch_size_;
  RandomKey random_;
  std::size_t parameter_floats_ = 0, statistic_floats_ = 0;  // of the flat vectors, gaps included
  std::vector<NamedView> parameters_, statistics_;
  Device* device_ = nullptr;
  ModelMemory memory_;
  AlgorithmTable algorithms_;
  std::unique_ptr<Graph> graph_;
  Tensor logits_;
};

}  // namespace odori
