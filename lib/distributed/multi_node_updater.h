// An updater whose update somebody else writes: of how many batches, when ranks exchange gradients, at which rate.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "comm/communicator.h"
#include "train/updater.h"

namespace odori {

class MultiNodeUpdater : public Updater {
 public:
  /// One update, by the functions below. It has to change the same on every rank: nothing else makes ranks equal.
  using Update = std::function<void(MultiNodeUpdater&)>;

  /// All ranks' models begin with the same weights: give them the same seed. Throws Error as StandardUpdater does.
  MultiNodeUpdater(SerialIterator iterator, Optimizer& optimizer, Communicator& comm, Update update);

  /// Numbers of a gradient, in host memory.
  std::size_t n_gradients() { return model().memory().gradients.size(); }
  /// The mean gradient of this rank's next batch.
  std::vector<float> next_gradients();
  /// Every rank's numbers become their mean over all ranks: one exchange. Collective.
  void average_over_ranks(std::span<float> gradients);
  /// Changes the weights by these gradients, with this learning rate.
  void step(std::span<const float> gradients, double rate);

  void update() override;
  Metrics take_metrics() override { return model().take_metrics(); }
  std::vector<SerialIterator>& iterators() override { return iterators_; }
  std::vector<Classifier*> models() override { return {&model()}; }
  std::string description() const override { return "1 device, with an update of its own"; }
  bool is_new_epoch() override { return new_epoch_; }

 private:
  void require_length(std::size_t n, const char* call);

  std::vector<SerialIterator> iterators_;  // one
  Communicator& comm_;
  Update update_;
  int n_batches_ = 0;       // of this update, so far
  bool new_epoch_ = false;  // a batch of the last update has begun one
};

}  // namespace odori
