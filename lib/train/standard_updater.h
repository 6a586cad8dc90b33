// One device a process. After Chainer's StandardUpdater.
#pragma once

#include <string>
#include <vector>

#include "train/updater.h"

namespace odori {

class StandardUpdater : public Updater {
 public:
  /// Throws Error if a batch is larger than the iterator's data set or doesn't fit the model.
  StandardUpdater(SerialIterator iterator, Optimizer& optimizer);
  void update() override;
  Metrics take_metrics() override;
  Optimizer& optimizer() override { return optimizer_; }
  std::vector<SerialIterator>& iterators() override { return iterators_; }
  std::vector<Classifier*> models() override { return {&optimizer_.model()}; }
  std::string description() const override { return "1 device"; }

 private:
  std::vector<SerialIterator> iterators_;  // one
  Optimizer& optimizer_;
};

}  // namespace odori
