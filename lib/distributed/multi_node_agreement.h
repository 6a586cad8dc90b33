// SPDX-License-Identifier: Apache-2.0
// Checks that ranks can average their models, and steps that succeed on all ranks or fail on all.
#pragma once

#include <functional>
#include <string>

#include "comm/communicator.h"
#include "model/classifier.h"

namespace odori {

/// Throws the same Error on every rank unless the parameters of all ranks have the same names, shapes, order and memory
/// layout. Without this check, unrelated elements would be averaged, or ranks would hang. Collective.
void agree_on_model(Classifier& model, Communicator& comm);

/// The same for the exchange of gradients. `words` describes dtype, buckets and shards, which decide about the
/// messages.
void agree_on_exchange(const std::string& words, Communicator& comm);

/// Runs this rank's part of a step. If it throws on any rank, all ranks throw the Error of the lowest such rank, so
/// that none enters a collective without the others. `comm` null: one rank. Collective.
void collectively(Communicator* comm, const std::function<void()>& step);

}  // namespace odori
