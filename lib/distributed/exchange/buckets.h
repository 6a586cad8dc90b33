// SPDX-License-Identifier: Apache-2.0
// Groups parameters into buckets whose gradients are all-reduced together while backward computes others.
//
//   flat vector:   | conv1 | conv2 |   ...   | conv5 | linear |        backward goes from right to left
//                  <--- third ---> <------ second ---> <-first->
//
// The first bucket is small, so that communication starts early; the others are large, so that there are few messages.
// A bucket ends with the parameter that fills it. Source: S. Li et al., 2020, "PyTorch distributed: experiences on
// accelerating data parallel training" (arXiv 2006.15704): buckets of 25 MiB, and a first one of 1 MiB.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "numbers/range.h"

namespace odori {

class Buckets {
 public:
  /// `ranges`: one per parameter, ascending; they must outlive this. Buckets of at least `mib` MiB.
  Buckets(std::span<const Range> ranges, int mib);

  /// The gradients from range.begin to the end of the flat vector are final. Returns the buckets that this completes,
  /// in backward order.
  std::vector<std::span<const Range>> complete(Range range);
  /// Returns all remaining buckets, and starts again for the next update.
  std::vector<std::span<const Range>> rest();

  const std::vector<std::span<const Range>>& all() const { return buckets_; }

 private:
  std::vector<std::span<const Range>> buckets_;  // in backward order
  std::size_t completed_ = 0;
};

}  // namespace odori
