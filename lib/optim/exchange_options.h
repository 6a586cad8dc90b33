// SPDX-License-Identifier: Apache-2.0
// Options for the exchange of gradients between ranks, from flags. The defaults are exercise 02's: synchronous, in
// fp32. At most one of the strategies below (distributed/exchange/strategies.h) is in force, with these dtypes:
//
//   strategy            fp32   fp16, bf16
//   synchronous         yes    yes
//   bucket_mib          yes    yes
//   double_buffering    yes    yes
//   sharded             yes    no: ranks send each other parameters, which a 16-bit dtype would round
//
// `accumulate` works with all of them.
#pragma once

#include <optional>

#include "numbers/dtype.h"

namespace odori {

struct ExchangeOptions {
  /// Type of the elements in messages; 16 bits send half the bytes. If the mean is infinite or NaN in 16 bits, the
  /// update is skipped, and rank 0 prints a warning at the 1st, 2nd, 4th, 8th, ... of them.
  Dtype dtype = Dtype::fp32;
  /// Exchange the gradients of one iteration during the next one: each update is one iteration late, and the first
  /// iteration updates nothing.
  bool double_buffering = false;
  /// Exchange gradients during backward, last layer first: a bucket of 1 MiB, then buckets of this size. 0: after
  /// backward, all at once.
  int bucket_mib = 0;
  /// Each rank keeps the optimizer state of one shard of the parameters, updates it, and sends it to the others.
  bool sharded = false;
  /// Batches of this rank per update. None: as given to the updater.
  std::optional<int> accumulate = {};

  bool operator==(const ExchangeOptions&) const = default;
};

}  // namespace odori
