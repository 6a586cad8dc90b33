// SPDX-License-Identifier: Apache-2.0
// Were the weights that a run shows really reached by the training that it was to do?
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "backend/device_pool.h"
#include "model/classifier.h"
#include "runner/evidence.h"
#include "runner/run_plan.h"

namespace odori::grader {

/// One model on one device. The network has neither batch normalisation nor dropout, so that several devices on parts
/// of a batch must come to what one device comes to on the whole of it.
class Reference {
 public:
  /// Takes `n_images` at a time.
  Reference(const RunData& data, int n_images);
  /// The mean gradient of these training images, in any order, at these weights.
  std::vector<float> gradient(const std::vector<float>& weights, const Images& images);

 private:
  const RunData& data_;
  DevicePool pool_;
  Classifier model_;
};

/// The weights that a program begins with, by its --seed.
std::vector<float> first_weights(const RunData& data, std::uint64_t seed);

/// What evaluating these weights on these images of the test set must give.
EvaluationSeen evaluate(const RunData& data, const std::vector<float>& weights, const Images& images);

/// 0, 1, ... n-1: all images of a set.
Images whole_set(std::size_t n);

/// [update][worker]: a worker is a device of one process, or a rank with its one device.
using Updates = std::vector<std::vector<Step>>;
/// Of the ranks of a run, each with its own device. As many updates as all ranks have done.
Updates updates_of_ranks(const Evidence& evidence);

/// Workers that came out of the same update with other weights.
struct Disagreement {
  int update = 0;          // from 1
  int one = 0, other = 0;  // positions in the update
};
std::optional<Disagreement> find_disagreement(const Updates& updates);

/// v = momentum * v - rate * (g + decay * w); w += v, with the mean gradient g of all workers' images.
struct Sgd {
  double rate = 0, momentum = 0.9, decay = 5e-4;
};
/// What the programs are to do in an update after that many epochs. Where gradients are summed, and the rate is
/// divided by their number, decay is as well. A scaled rate is reached in the first epoch (P. Goyal et al., 2017).
Sgd sgd_of(const RunPlan& plan, double epochs = 0);

/// Weights that got another share of their gradients than all of it, over all updates, while most got theirs.
struct WrongShares {
  std::size_t n = 0, weights = 0;  // n of all `weights`
  std::size_t first = 0;           // its position in plain order
  double share = 1;                // what it got: 0 is nothing, 2 is twice as much
};

/// An update after which the weights are not what these rules make of them.
struct WrongWeights {
  int update = 0;  // from 1
  Sgd expected;
  // With one of these, the update would be right; none: something else is wrong with it.
  std::optional<double> rate, momentum, decay;
  // The weights that are wrong by this update, if they are few; none: the update as a whole is.
  WrongShares of_some = {};
};
/// Looks at each update by itself, from the weights that were seen before it. A change of 1 % of the rate, of the
/// momentum or of the decay is seen, and over all updates a single weight that got another gradient.
std::optional<WrongWeights> find_wrong_weights(const RunData& data, const RunPlan& plan, const Updates& updates);
/// What the first update starts from.
struct StartingPoint {
  std::vector<float> weights;
  std::vector<float> earlier;  // the weights before the velocity was added: weights - velocity
};
/// The same with rules that change: `sgd_of` an update, counted from 0. Each worker has `images_of_worker` images in an
/// update. `start`: that of a training run that was resumed; null: the weights of the plan's seed, without velocity.
std::optional<WrongWeights> find_wrong_weights(const RunData& data, const RunPlan& plan, const Updates& updates,
                                               std::size_t images_of_worker,
                                               const std::function<Sgd(std::size_t update)>& sgd_of,
                                               const StartingPoint* start = nullptr);

/// Did this worker's first update come of its own images alone, at whatever rate, from the weights that `rank` has by
/// itself?
bool learnt_alone(const RunData& data, const RunPlan& plan, const Step& step, int rank = 0);

}  // namespace odori::grader
