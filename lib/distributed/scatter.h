// SPDX-License-Identifier: Apache-2.0
// One shard of a data set to each rank. After ChainerMN's scatter_dataset, with one difference: the original
// broadcasts the whole set to every rank; here each rank receives its own examples only, so that the memory of
// every rank but the root falls with their number.
#pragma once

#include <cstdint>

#include "comm/communicator.h"
#include "data/dataset.h"
#include "numbers/range.h"

namespace odori {

struct ScatterOptions {
  bool shuffle = false;
  std::uint64_t seed = 0;  // of the order, which the root draws for all
  bool force_equal_length = true;
  int root = 0;
};

/// What rank `rank` of `size` gets of n examples (positions in the shuffled order), as the original has it.
/// Equal length: [n*rank/size, n*rank/size + ceil(n/size)); neighbours overlap where size doesn't divide n.
/// Otherwise: the first n % size ranks get one more; no overlap.
Range shard_range(std::size_t n, int rank, int size, bool force_equal_length);
/// The part of it that rank owns: the owned parts of all ranks are disjoint and cover [0, n).
Range owned_range(std::size_t n, int rank, int size, bool force_equal_length);

/// Collective. The root gives the data set, all others null. Examples outside the owned range have counted = false.
/// Throws Error on every rank if the root gave none, or another rank gave one.
DatasetPtr scatter_dataset(const DatasetPtr& dataset, Communicator& comm, const ScatterOptions& options = {},
                           CallSite site = CallSite::current());

}  // namespace odori
