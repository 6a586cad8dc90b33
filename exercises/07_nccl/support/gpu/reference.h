// SPDX-License-Identifier: Apache-2.0
// The same training without streams and NCCL.
#pragma once

#include <vector>

namespace odori {

struct Reference {
  std::vector<float> weights;  // at the end
  std::vector<float> losses;   // [ranks, iterations]
};

/// Computes the batches of all ranks on the current GPU, one after another. Each update uses the sum over ranks, in
/// their order, of `factor` times their gradients.
Reference train_on_one_gpu(int ranks, int iterations, float factor);

}  // namespace odori
