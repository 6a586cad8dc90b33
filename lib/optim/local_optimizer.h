// SPDX-License-Identifier: Apache-2.0
// What the optimizers of one rank have in common: the model, its shard, hooks, and vectors of state.
#pragma once

#include <optional>
#include <string>

#include "optim/optimizer.h"

namespace odori {

/// Applies hooks and a rule to a shard of the parameters, and keeps vectors that are laid out as the shard is: the
/// rule's state. All are zero after setup().
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

  /// The rule on `range`, to which the hooks have been applied. Called by several threads, with ranges of their own.
  virtual void apply_rule(Device& device, ModelMemory& memory, Range range) = 0;
  bool is_set_up() const { return model_ != nullptr; }
  Buffer& vector(std::size_t i) { return vectors_[i]; }
  /// The element of the parameters to which the first element of each vector belongs.
  std::size_t shard_begin() const { return shard_.begin; }

 private:
  /// True if the shard is everything, so that the vectors are laid out as the parameters are.
  bool is_whole() { return shard_.size() == model().memory().parameters.size(); }
  /// Copies as many elements as the shard has.
  void copy(const Buffer& from, std::size_t from_begin, Buffer& to, std::size_t to_begin);

  float rate_;
  Classifier* model_ = nullptr;
  std::optional<Range> wanted_shard_;  // none: everything
  Range shard_;
  std::vector<Buffer> vectors_;
  std::vector<std::unique_ptr<Hook>> hooks_;
};

}  // namespace odori
