// SPDX-License-Identifier: Apache-2.0
// Measures loss and accuracy on validation data. After Chainer's Evaluator, but exact: a mean over samples, where the
// original averages the means of batches, although the last one is smaller.
#pragma once

#include "data/serial_iterator.h"
#include "model/classifier.h"
#include "train/extension.h"

namespace odori {

/// Reports validation/main/loss and validation/main/accuracy at the end of every epoch.
class Evaluator : public Extension {
 public:
  /// `device`: id of the model's device. Throws Error if the model is on another device, or if the iterator repeats.
  Evaluator(SerialIterator iterator, Classifier& model, int device);

  int priority() const override { return writer; }
  void run(Trainer& trainer) override;
  std::string name() const override { return "validation"; }
  std::optional<Evaluated> evaluated() const override { return Evaluated{model_, iterator_}; }

  /// Sums over the iterator's counted samples.
  virtual Metrics evaluate();
  Classifier& model() { return model_; }
  const SerialIterator& iterator() const { return iterator_; }

 private:
  SerialIterator iterator_;
  Classifier& model_;
};

}  // namespace odori
