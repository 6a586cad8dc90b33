// Which gradients are exchanged together while backward computes others.
//
//   flat vector:   | conv1 | conv2 |   ...   | conv5 | linear |        backward goes from the right to the left
//                  <--- third ---> <------ second ---> <-first->
//
// The first bucket is small, so that the exchange begins early; the others are large, so that few messages start. A
// bucket ends with the parameter that fills it.
// Source: S. Li et al., 2020, "PyTorch distributed: experiences on accelerating data parallel training" (arXiv
// 2006.15704): buckets of 25 MiB, and a first one of 1 MiB.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "core/range.h"

namespace odori {

class Buckets {
 public:
  /// `pieces`: one range a parameter, ascending; it must outlive this.
  Buckets(std::span<const Range> pieces, int mib);

  /// The gradients of this range are final, as those behind it are: the buckets that are full now, in their order.
  std::vector<std::span<const Range>> take(Range range);
  /// All others, and from here on the next update's.
  std::vector<std::span<const Range>> rest();

  const std::vector<std::span<const Range>>& all() const { return buckets_; }

 private:
  std::vector<std::span<const Range>> buckets_;  // in backward's order
  std::size_t taken_ = 0;
};

}  // namespace odori
