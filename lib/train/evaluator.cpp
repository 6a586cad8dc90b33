// SPDX-License-Identifier: Apache-2.0
#include "train/evaluator.h"

#include <cmath>
#include <utility>

#include "errors/error.h"
#include "trace/trace.h"
#include "train/trainer.h"
#include "train/training_facts.h"

namespace odori {

Evaluator::Evaluator(SerialIterator iterator, Classifier& model, int device)
    : iterator_(std::move(iterator)), model_(model) {
  observe::on_evaluator_made(iterator_, device);
  require(model.device().id() == device,
          "The model is on device {}, but the evaluator was given device {}. A model is evaluated where it is.",
          model.device().id(), device);
  require(!iterator_.repeat(),
          "The evaluator's iterator starts again after the last image, so an evaluation "
          "would never end: give it repeat = false.");
}

void Evaluator::run(Trainer& trainer) {
  const Metrics metrics = evaluate();
  observe::on_evaluation(metrics);
  trainer.observation()["validation/main/loss"] = std::abs(metrics.loss());  // nan without its sign
  trainer.observation()["validation/main/accuracy"] = metrics.accuracy();
}

Metrics Evaluator::evaluate() {
  const trace::Span span("evaluate");
  model_.take_metrics();  // what training has left there doesn't belong to the test set
  iterator_.reset();
  while (const Batch* batch = iterator_.next()) model_.evaluate(*batch);
  return model_.take_metrics();
}

}  // namespace odori
