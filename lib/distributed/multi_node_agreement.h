// What ranks must have in common before they average anything.
#pragma once

#include "comm/communicator.h"
#include "model/classifier.h"

namespace odori {

/// Collective, and safe where the models differ: throws Error, on every rank the same, unless all ranks' parameters
/// have the same names, shapes and order, and lie in memory alike. Numbers that don't belong together would be averaged
/// otherwise, or ranks would wait for ever.
void agree_on_model(Classifier& model, Communicator& comm);

}  // namespace odori
