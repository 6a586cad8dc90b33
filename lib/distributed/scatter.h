// SPDX-License-Identifier: Apache-2.0
// Sends each rank its shard of a data set. After ChainerMN's scatter_dataset. That broadcasts the whole set to every
// rank; here each rank receives only its own examples, so that every rank but the root needs memory only for these.
#pragma once

#include <cstdint>

#include "comm/communicator.h"
#include "data/dataset.h"
#include "numbers/range.h"

namespace odori {

struct ScatterOptions {
  bool shuffle = false;
  std::uint64_t seed = 0;  // of the shuffled order, which the root draws
  bool force_equal_length = true;
  int root = 0;
};

/// The shard of `rank` as positions in the shuffled order of n examples, as in the original. Equal length:
/// [n*rank/size, n*rank/size + ceil(n/size)); neighbours overlap unless size divides n. Otherwise: the first n % size
/// ranks get one more example; no overlap.
Range shard_range(std::size_t n, int rank, int size, bool force_equal_length);
/// The examples of the shard that count on this rank: over all ranks these ranges are disjoint and cover [0, n).
Range owned_range(std::size_t n, int rank, int size, bool force_equal_length);

/// Returns this rank's shard. The root gives the data set, the others null. Examples outside owned_range() have counted
/// = false. Throws Error on every rank if the root gave none, or another rank gave one. Collective.
DatasetPtr scatter_dataset(const DatasetPtr& dataset, Communicator& comm, const ScatterOptions& options = {},
                           CallSite site = CallSite::current());

}  // namespace odori
