// SPDX-License-Identifier: Apache-2.0
// Memory and iteration time where training state or layers are split over devices: what ./odori predict and exercise 06
// print.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "comm/cost.h"

namespace odori {

/// A way to use several devices, and what it costs one of them.
struct OfSplit {
  std::string name;
  std::optional<cost::Split> cost;  // none where it can't be used
};

/// Data parallelism, ZeRO-1 to 3, and tensor parallelism in each node, by cost.h. `batch`: images a device. Tensor
/// parallelism needs several devices on each node.
std::vector<OfSplit> splits_of(const cost::Training& training, std::span<const LayerCost> layers,
                               const cost::State& state, double batch);

/// A table: megabytes of a device, megabytes that it sends in an iteration, milliseconds.
std::string to_text(const std::vector<OfSplit>& splits);

}  // namespace odori
