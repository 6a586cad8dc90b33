// How the ranks of a training exchange their gradients. The defaults are task 2's: all of them at once in fp32, when
// backward has come to its end and before the update.
#pragma once

#include <optional>

#include "numbers/dtype.h"

namespace odori {

struct ExchangeOptions {
  /// In which numbers they travel: half the bytes in fp16 or bf16. Where a mean can't be told in fp16, nothing is
  /// updated, and rank 0 says so.
  Dtype dtype = Dtype::fp32;
  /// The exchange of one iteration goes on during the next one: each update is by the gradients of the iteration
  /// before, and the first iteration updates nothing.
  bool double_buffering = false;
  /// Gradients are exchanged while backward computes others, the last layers' first: a bucket of 1 MiB, then buckets of
  /// so many. 0: all at once.
  int bucket_mib = 0;
  /// Each rank keeps the velocities of a part of the parameters alone, updates it, and sends it to the others.
  bool sharded = false;
  /// Batches of this rank that make one update; none: as the updater is told.
  std::optional<int> accumulate = {};

  bool operator==(const ExchangeOptions&) const = default;
};

}  // namespace odori
