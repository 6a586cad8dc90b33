// What training tells the grader (trace/evidence.h). Each of these does nothing unless the grader asks for it.
//
// What counts is told by the trainer, of the objects that it trains with: others may be made, and used, before, beside
// and after it. What was asked for before is told too, since a program that is refused comes no further.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "train/updater.h"

namespace odori {

class Trainer;

/// An updater as it is asked for, before anything is checked: the iterators with all their images.
void record_updater(const char* kind, const std::vector<SerialIterator>& iterators);
/// An evaluator as it is asked for, and the device that it is told.
void record_evaluator(const SerialIterator& iterator, int device);
void record_devices(const std::map<std::string, int>& devices);

/// The training begins: with which updater, iterators, models and evaluator.
void record_training(Trainer& trainer);
/// What an update has made of the parameters, on every device, and by which images.
void record_update(Updater& updater);
void record_evaluation(const Metrics& metrics);
/// What is known of an epoch at its end, if it was evaluated.
void record_observation(const std::map<std::string, double>& observation);
/// What is written down of it.
void record_report(const std::map<std::string, double>& observation);
/// Nothing that follows is a fact of the training.
void record_training_end();

}  // namespace odori
