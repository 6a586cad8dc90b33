// SPDX-License-Identifier: Apache-2.0
// Evaluates the whole test set, sharded over all ranks. After ChainerMN's create_multi_node_evaluator; but each sample
// counts once, where the original averages the ranks' means.
#pragma once

#include <memory>

#include "comm/communicator.h"
#include "train/evaluator.h"

namespace odori {

/// Wraps an evaluator. Each evaluation averages the batch-normalisation statistics over the ranks, evaluates each
/// rank's shard, and sums the results: all ranks report the same bits. Evaluations are collective. `comm` must outlive
/// it.
std::unique_ptr<Evaluator> create_multi_node_evaluator(std::unique_ptr<Evaluator> evaluator, Communicator& comm);

/// Replaces the running means and variances of batch normalisation by their means over all ranks. After ChainerMN's
/// AllreducePersistent. Collective.
void average_statistics(Classifier& model, Communicator& comm);

}  // namespace odori
