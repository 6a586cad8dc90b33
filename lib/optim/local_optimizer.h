// SPDX-License-Identifier: Apache-2.0
// The base class of optimizers of one rank: model, shard, hooks, and state vectors.
#pragma once

#include <optional>
#include <string>

#include "optim/optimizer.h"

namespace odori {

/// Applies hooks and an update rule to a shard of the parameters. State vectors are laid out like the shard, and are
/// zero after setup().
class LocalOptimizer : public Optimizer {
 public:
  void setup(Classifier& model) override;
  void set_shard(Range range) override { wanted_shard_ = range; }
  void add_hook(std::unique_ptr<Hook> hook) override;
  using Optimizer::update;
  void update(Range range) override;
  Classifier& model() override;
  float learning_rate() const override { return rate_; }
  void set_learning_rate(float rate) override { rate_ = rate; }
  std::vector<std::vector<float>> state() override;
  void restore(const std::vector<std::vector<float>>& state) override;
  std::size_t n_lists() const override { return vectors_.size(); }

 protected:
  LocalOptimizer(float learning_rate, std::size_t n_vectors) : rate_(learning_rate), vectors_(n_vectors) {}

  /// Applies the update rule to `range`, after the hooks. Called by several threads at once, with disjoint ranges.
  virtual void apply_rule(Device& device, ModelMemory& memory, Range range) = 0;
  bool is_set_up() const { return model_ != nullptr; }
  Buffer& vector(std::size_t i) { return vectors_[i]; }
  /// Position of the shard in the parameters: element i of each state vector belongs to parameter shard_begin() + i.
  std::size_t shard_begin() const { return shard_.begin; }

 private:
  /// True if the shard is the whole parameter vector.
  bool is_whole() { return shard_.size() == model().memory().parameters.size(); }
  /// Copies shard_.size() elements.
  void copy(const Buffer& from, std::size_t from_begin, Buffer& to, std::size_t to_begin);

  float rate_;
  Classifier* model_ = nullptr;
  std::optional<Range> wanted_shard_;  // none: everything
  Range shard_;
  std::vector<Buffer> vectors_;
  std::vector<std::unique_ptr<Hook>> hooks_;
};

}  // namespace odori
