// SPDX-License-Identifier: Apache-2.0
// An evaluator whose result is that of the whole test set, on every rank. After create_multi_node_evaluator, but
// weighted by samples and counting each once, where the original takes the mean of the ranks' means.
#pragma once

#include <memory>

#include "comm/communicator.h"
#include "train/evaluator.h"

namespace odori {

/// Collective at every evaluation: averages batch normalisation's statistics over the ranks, evaluates each rank's
/// shard, sums. All ranks report the same bits. `comm` must outlive it.
std::unique_ptr<Evaluator> create_multi_node_evaluator(std::unique_ptr<Evaluator> evaluator, Communicator& comm);

/// Collective: batch normalisation's running means and variances become their means over all ranks. After
/// ChainerMN's AllreducePersistent.
void average_statistics(Classifier& model, Communicator& comm);

}  // namespace odori
