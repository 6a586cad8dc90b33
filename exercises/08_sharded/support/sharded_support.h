// SPDX-License-Identifier: Apache-2.0
// Support code of exercise 08: Adam's state, a model whose parameters are gathered layer by layer, and training runs
// with the learner's functions.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "comm/communicator.h"
#include "comm/process_group.h"
#include "flags/arguments.h"
#include "numbers/range.h"

namespace odori {

/// The shard that ProcessGroup::shard(size) gives to `rank`, of n ranks: [size rank / n, size (rank + 1) / n).
Range shard_of(std::size_t size, int rank, int n);

/// Adam's two moments of some parameters, in fp32.
/// Source: D. Kingma and J. Ba, 2015, "Adam: A Method for Stochastic Optimization" (arXiv 1412.6980), algorithm 1.
class AdamState {
 public:
  /// Both moments of this many parameters, all 0.
  explicit AdamState(std::size_t size) : first_(size), second_(size) {}
  std::size_t size() const { return first_.size(); }

  /// Begins the next update of these parameters. The training run calls it before update(); a blank does not.
  void begin_update(float learning_rate);
  /// Updates `parameter` by its gradient, with element k of both moments. Throws Error unless k is less than size().
  void update(std::size_t k, float& parameter, float gradient);

  /// Calls this in update().
  void on_element(std::function<void(std::size_t k, float gradient)> seen) { seen_ = std::move(seen); }

 private:
  std::vector<float> first_, second_;
  float learning_rate_ = 0;
  double rest_of_first_ = 1, rest_of_second_ = 1;  // beta1^t, beta2^t in update t = 1, 2, ...
  std::optional<std::size_t> first_updated_;       // element in this update
  std::function<void(std::size_t, float)> seen_;
};

/// How a layer is computed, with its parameters. Backward writes the gradients of this rank's own images.
struct LayerCompute {
  std::function<void(int layer, std::span<const float> parameters)> forward;
  std::function<void(int layer, std::span<const float> parameters, std::span<float> gradients)> backward;
};

/// Layers of which each rank has a shard. Layer i has some parameters; this rank keeps world.shard() of them, of their
/// mean gradients, and nothing else between two steps. All layers are computed once in forward, 0, 1, ..., and once in
/// backward, ..., 1, 0. Every call throws Error if it comes at a wrong time, or for a layer that does not exist.
class ShardedModel {
 public:
  int layers() const { return static_cast<int>(layers_.size()); }

  // ---- Parameters. Collective: every rank makes the same calls in the same order.
  /// Takes memory for all parameters of layer i, and starts world.all_gather_async() of the ranks' shards into it. Does
  /// nothing if they are in memory already, or on their way.
  void start_gather(int i);
  /// Returns when the gather of layer i has ended.
  void wait(int i);
  /// Frees the memory for all parameters of layer i. This rank's shard of them is kept.
  void free_parameters(int i);

  // ---- Compute, with all parameters of the layer
  void forward(int i);
  /// Takes memory for all gradients of layer i, and computes them from this rank's own images.
  void backward(int i);

  // ---- Gradients
  /// All gradients of layer i, from backward(i) to free_gradients(i).
  std::span<float> gradients(int i);
  /// Where this rank's shard of the mean gradients of layer i belongs.
  std::span<float> mean_shard(int i);
  void free_gradients(int i);

  // ---- Around it
  /// Layer i has sizes[i] of the `parameters`, of which this rank keeps its shards.
  ShardedModel(std::span<const std::size_t> sizes, std::span<const float> parameters, ProcessGroup world);
  /// A new step: no layer is computed yet.
  void begin_step(LayerCompute compute);
  /// Throws Error unless all layers are computed, and all memory but that of the shards is free.
  void end_step();
  /// This rank's shards of all layers, one after another.
  std::span<float> shards() { return shards_; }
  std::span<const float> shards() const { return shards_; }
  std::span<float> mean_shards() { return mean_shards_; }
  /// Elements in memory at most since begin_step(), without the shards.
  std::size_t most_parameters() const { return most_parameters_; }
  std::size_t most_gradients() const { return most_gradients_; }

 private:
  enum class Phase { forward, backward };
  struct Layer {
    std::size_t size = 0;
    Range own;  // place of this rank's shard in shards_
    std::vector<float> parameters, gradients;
    std::optional<Work> gathering;
    bool in_memory = false, has_gradients = false;
  };
  Layer& layer(const char* call, int i);
  const std::vector<float>& gathered(const char* call, int i);
  void compute(const char* call, Phase phase, int i);

  std::vector<float> shards_, mean_shards_;  // before the layers, whose gathers read them
  ProcessGroup world_;
  std::vector<Layer> layers_;
  LayerCompute compute_;
  int computed_ = 0;  // of 2 layers(): forward, then backward
  std::size_t parameters_ = 0, most_parameters_ = 0, gradients_ = 0, most_gradients_ = 0;
};

/// The learner's functions, and the sizes of what they train.
struct ShardedProgram {
  AdamState (*make_state)(std::size_t n, const ProcessGroup& world);
  void (*clip)(std::span<float> shard, float max_norm, const ProcessGroup& world);
  void (*update)(std::span<float> parameters, std::span<float> gradients, AdamState& state, float max_norm,
                 const ProcessGroup& world);
  std::vector<float> (*reshard)(const std::vector<std::vector<float>>& saved, int rank, int n);
  void (*forward)(ShardedModel& model);
  void (*backward)(ShardedModel& model, const ProcessGroup& world);
  int batch = 64, n_layers = 5, width = 128;
  int stage = 3;  // of the training run: 1 or 3
};

/// Counts the memory and the bytes of both parts, compares them with one process, and trains; rank 0 prints. With test
/// cases of the grader it tries the functions on these instead. Collective. Throws Error unless the number of ranks
/// divides the batch.
void train_sharded(const ShardedProgram& program, const Arguments& args, Communicator& comm);

}  // namespace odori
