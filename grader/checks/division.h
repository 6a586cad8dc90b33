// How a set of images is divided among devices or ranks.
#pragma once

#include <cstddef>
#include <vector>

#include "data/dataset.h"
#include "runner/evidence.h"

namespace odori::grader {

/// What there is to say about parts of a set of `size` images; all numbers are of different images.
struct Division {
  std::size_t covered = 0;                // images that are in some part
  std::size_t shared = 0;                 // images that are in more than one part
  std::size_t repeated = 0;               // images that are in one part more than once
  std::size_t outside = 0;                // positions that the set doesn't have
  std::size_t smallest = 0, largest = 0;  // of the parts, repetitions included
  bool all_the_same = false;              // two parts or more, and each holds the same images
  bool in_order = false;  // neighbours in the set, or images n apart, share a part far more often than by chance
};

Division divide(const std::vector<Images>& parts, std::size_t size);

/// Do images of one class lie in the same part, far more often than by chance? All have to be images of the set.
bool follows_classes(const std::vector<Images>& parts, const Dataset& set);

}  // namespace odori::grader
