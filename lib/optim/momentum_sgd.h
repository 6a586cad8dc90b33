// Stochastic gradient descent with momentum, as Chainer's MomentumSGD.
#pragma once

#include <optional>

#include "optim/optimizer.h"

namespace odori {

/// v = momentum * v - rate * g; p += v. Source: B. Polyak, 1964, "Some methods of speeding up the convergence
/// of iteration methods".
class MomentumSGD : public Optimizer {
 public:
  explicit MomentumSGD(float learning_rate = 0.01f, float momentum = 0.9f);

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

 private:
  /// True if the shard is everything, so that velocity_ is laid out as the parameters are.
  bool is_whole() { return shard_.size() == model().memory().parameters.size(); }
  /// Copies as many elements as the shard has.
  void copy(const Buffer& from, std::size_t from_begin, Buffer& to, std::size_t to_begin);

  float rate_, momentum_;
  Classifier* model_ = nullptr;
  std::optional<Range> wanted_shard_;  // none: everything
  Range shard_;
  Buffer velocity_;  // of the shard
  std::vector<std::unique_ptr<Hook>> hooks_;
};

}  // namespace odori
