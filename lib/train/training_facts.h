// SPDX-License-Identifier: Apache-2.0
// Gathers the facts of a training for the observer (observe/hooks.h), for .cpp files of this folder.
//
// Without an observer nothing is gathered. What counts are the facts of the training, from the objects that the trainer
// uses. What a program asks for before is reported as well, because a refused program never trains.
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

/// An updater of this kind is made; before any check. Reports the iterators with all their images.
void on_updater_made(const char* kind, std::span<const SerialIterator> iterators);
/// An evaluator is made for this device; before any check.
void on_evaluator_made(const SerialIterator& iterator, int device);
void on_devices_named(const std::map<std::string, int>& devices);

/// The training begins. Reports updater, iterators, models and evaluators.
void on_training_begun(Trainer& trainer);
/// Reports the parameters on every device after an update, if the observer wants them, and the images it was made of.
void on_update_done(Updater& updater);
void on_evaluation(const Metrics& metrics);
/// The values at the end of an epoch, after all extensions. Reports those of the evaluation, if there are any.
void on_observation(const std::map<std::string, double>& observation);
/// The values that LogReport writes.
void on_report(const std::map<std::string, double>& observation);

}  // namespace odori::observe
