// SPDX-License-Identifier: Apache-2.0
// What ranks must have in common before they average anything, and steps that succeed on all ranks or fail on all.
#pragma once

#include <functional>
#include <string>

#include "comm/communicator.h"
#include "model/classifier.h"

namespace odori {

/// Collective, and safe where the models differ: throws Error, on every rank the same, unless all ranks' parameters
/// have the same names, shapes, order and memory layout. Otherwise elements that do not belong together would be
/// averaged, or ranks would wait for ever.
void agree_on_model(Classifier& model, Communicator& comm);

/// The same for how they exchange their gradients, in words: other types, buckets or parts would be other messages.
void agree_on_exchange(const std::string& words, Communicator& comm);

/// Collective: runs this rank's part of a step. If any rank's part throws, the Error of the lowest of these ranks is
/// thrown on all ranks, so that none goes on into a collective where the others never arrive. `comm` null: one rank.
void collectively(Communicator* comm, const std::function<void()>& step);

}  // namespace odori
