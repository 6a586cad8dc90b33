// SPDX-License-Identifier: Apache-2.0
// Reports the facts of a training run to the observer (observe/hooks.h). For .cpp files of this folder.
//
// Does nothing without an observer. on_training_begun() reports the objects that the trainer uses. Constructor calls
// before it are also reported, because a refused program never trains.
#pragma once

#include <map>
#include <span>
#include <string>

#include "observe/hooks.h"
#include "train/updater.h"

namespace odori {
class Trainer;
}

namespace odori::observe {

/// Reports a new updater and its iterators with all their images, before any check.
void on_updater_made(const char* kind, std::span<const SerialIterator> iterators);
/// Reports a new evaluator and its device, before any check.
void on_evaluator_made(const SerialIterator& iterator, int device);
void on_devices_named(const std::map<std::string, int>& devices);

/// Reports updater, iterators, models and evaluators when training begins.
void on_training_begun(Trainer& trainer);
/// Reports the images of an update and, if the observer wants them, the parameters on every device after it.
void on_update_done(Updater& updater);
void on_evaluation(const Metrics& metrics);
/// Reports the evaluation's values, if any, at the end of an epoch after all extensions.
void on_observation(const std::map<std::string, double>& observation);
/// Reports the validation loss and accuracy that LogReport writes.
void on_report(const std::map<std::string, double>& observation);

}  // namespace odori::observe
