// What training tells the grader (trace/evidence.h). Each of these does nothing unless the grader asks for it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "train/updater.h"

namespace odori {

/// An updater as it is asked for, before anything is checked: the iterators with all their pictures. `rule`: what it
/// makes of its devices' gradients, "mean" or "sum".
void record_updater(const char* kind, const char* rule, const std::vector<SerialIterator>& iterators);
/// An evaluator as it is asked for, and the device that it is told.
void record_evaluator(const SerialIterator& iterator, int device);
void record_devices(const std::map<std::string, int>& devices);
/// What an update has made of the parameters, on every device.
void record_update(Updater& updater);
void record_evaluation(const Metrics& metrics);

}  // namespace odori
