// SPDX-License-Identifier: Apache-2.0
// A training of several ranks, and the same updates written out as plain arithmetic.
#pragma once

#include <numeric>

#include "backend/reference/adam.h"
#include "comm/communicator.h"
#include "distributed/multi_node_optimizer.h"
#include "optim/adam.h"
#include "train_support.h"

namespace odori::test {

inline constexpr int batch = 4;
inline constexpr float rate = 0.05f, decay = 5e-4f;

/// Adam with an epsilon so large that the rounding of gradients near 0 does not decide about whole steps.
inline constexpr float adam_rate = 0.01f;
inline constexpr double adam_epsilon = 1e-3;
inline std::unique_ptr<Optimizer> optimizer_named(const std::string& name) {
  if (name == "adam") return std::make_unique<Adam>(adam_rate, 0.9, 0.999, adam_epsilon);
  return std::make_unique<MomentumSGD>(rate);
}

/// One rank's part in a training of all.
struct RankTraining {
  RankTraining(Communicator& comm, const ExchangeOptions& options, const std::string& network = "tiny",
               std::optional<int> accumulate = {}, const DatasetPtr& train = images(96),
               const std::string& optimizer_name = "momentum")
      : model(create_network(network, 10), batch, 7),
        optimizer(create_multi_node_optimizer(optimizer_named(optimizer_name), comm, options)) {
    set_up(comm, accumulate, train);
  }
  RankTraining(std::unique_ptr<ExchangeStrategy> strategy, Communicator& comm)
      : model(create_network("tiny", 10), batch, 7),
        optimizer(
            create_multi_node_optimizer_with_strategy(std::make_unique<MomentumSGD>(rate), comm, std::move(strategy))) {
    set_up(comm, {}, images(96));
  }
  void set_up(Communicator& comm, std::optional<int> accumulate, const DatasetPtr& train) {
    model.to_device(pool.use(comm.intra_rank()));
    optimizer->setup(model);
    optimizer->add_hook(std::make_unique<WeightDecay>(decay));
    updater = std::make_unique<StandardUpdater>(of_rank(train, comm.rank(), comm.size()), *optimizer, accumulate);
  }
  static SerialIterator of_rank(const DatasetPtr& train, int rank, int size) {
    return {every(train, rank, size), batch, {.shuffle = false}};
  }
  std::vector<float> parameters() { return read(model.device(), model.memory().parameters); }

  DevicePool pool{device_under_test()};
  Classifier model;
  std::unique_ptr<Optimizer> optimizer;
  std::unique_ptr<Updater> updater;
};

/// The same training, computed by each rank for all of them: p and v in double, and every gradient by itself.
class WrittenOut {
 public:
  WrittenOut(int n_ranks, const DatasetPtr& train = images(96), const std::string& optimizer = "momentum")
      : optimizer_(optimizer), model_(create_network("tiny", 10), batch, 7) {
    model_.to_device(pool_.use(0));
    const std::vector<float> initial = read(model_.device(), model_.memory().parameters);
    p.assign(initial.begin(), initial.end());
    m_.resize(p.size());
    v_.resize(p.size());
    for (int r = 0; r < n_ranks; ++r) iterators_.push_back(RankTraining::of_rank(train, r, n_ranks));
  }
  /// The mean gradient of the next batches: batches[r] of rank r.
  std::vector<double> gradient(const std::vector<int>& batches) {
    const std::vector<float> now(p.begin(), p.end());
    model_.device().write(model_.memory().parameters, 0, now);
    std::vector<double> mean(p.size());
    const double share = 1.0 / std::accumulate(batches.begin(), batches.end(), 0);
    for (std::size_t r = 0; r < iterators_.size(); ++r)
      for (int b = 0; b < batches[r]; ++b) {
        model_.forward_backward(*iterators_[r].next());
        const std::vector<float> g = read(model_.device(), model_.memory().gradients);
        for (std::size_t i = 0; i < g.size(); ++i) {
          mean[i] += share * g[i];
          largest_gradient = std::max(largest_gradient, std::abs(double{g[i]}));
        }
      }
    return mean;
  }
  void update(std::vector<double> g) {
    if (optimizer_ == "adam") {
      for (std::size_t i = 0; i < p.size(); ++i) g[i] += decay * p[i];
      return reference::adam<double>(p, g, m_, v_, ++n_updates_, adam_rate, 0.9, 0.999, adam_epsilon);
    }
    for (std::size_t i = 0; i < p.size(); ++i) {
      v_[i] = 0.9 * v_[i] - rate * (g[i] + decay * p[i]);
      p[i] += v_[i];
    }
  }
  /// The largest difference. It goes on from what was seen: rounding that adds up would decide a maximum otherwise.
  double difference(const std::vector<float>& seen) {
    double off = 0;
    for (std::size_t i = 0; i < p.size(); ++i) off = std::max(off, std::abs(p[i] - seen[i]));
    p.assign(seen.begin(), seen.end());
    return off;
  }
  std::vector<double> p;
  double largest_gradient = 0;  // of a batch

 private:
  const std::string optimizer_;
  DevicePool pool_{device_under_test()};
  Classifier model_;
  std::vector<double> m_, v_;
  int n_updates_ = 0;
  std::vector<SerialIterator> iterators_;
};

}  // namespace odori::test
