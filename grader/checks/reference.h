// The grader's own training and evaluation, in its own process and from its own files: what a run must have given.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "backend/device_pool.h"
#include "model/classifier.h"
#include "optim/momentum_sgd.h"
#include "worker/evidence.h"

namespace odori::grader {

inline constexpr float momentum = 0.9f, weight_decay = 5e-4f;  // the programs'

/// One model on one device. The network has neither batch normalisation nor dropout, so that several devices on parts
/// of a batch must come to what one device comes to on the whole of it.
class Reference {
 public:
  /// Starts from the weights of `seed`, and takes `n_pictures` in each update.
  Reference(const RunData& data, int n_pictures, std::uint64_t seed);
  /// One update by the mean gradient of these pictures, in any order.
  void update(const Pictures& pictures);
  std::vector<float> parameters() const;
  /// Goes on from weights that were seen: what rounding made of one update doesn't grow in those that follow.
  void go_on_from(const std::vector<float>& parameters);

 private:
  const RunData& data_;
  DevicePool pool_;
  Classifier model_;
  MomentumSGD optimizer_;
};

/// What evaluating these weights on these pictures of the test set must give.
EvaluationSeen evaluate(const RunData& data, const std::vector<float>& parameters, const Pictures& pictures);

/// 0, 1, ... n-1: all pictures of a set.
Pictures whole_set(std::size_t n);

/// How far `seen` lies from `expected`, as a share of how far `expected` has come from `before`. Two updates that add
/// up the same numbers in another order differ by 1e-6 mostly, but by up to 4e-3 where two values of a pooling window
/// are so close that the order decides which is the larger: less than `same_weights`.
double distance(const std::vector<float>& seen, const std::vector<float>& expected, const std::vector<float>& before);
inline constexpr double same_weights = 1e-2;

}  // namespace odori::grader
