// SPDX-License-Identifier: Apache-2.0
// Parallel loops on all threads of the device that the calling thread is bound to.
#pragma once

#include <omp.h>

#include <cstddef>

#include "numbers/range.h"

namespace odori::cpu {

/// The smallest number of elements that is worth a thread.
inline constexpr std::size_t vector_grain = 8192;

/// Divides [0, n) into one part per thread and calls `work` on each. Boundaries are multiples of `grain`; for small n,
/// some threads get no part.
template <typename Work>
void parallel(std::size_t n, std::size_t grain, const Work& work) {
  const std::size_t grains = (n + grain - 1) / grain;
#pragma omp parallel if (grains > 1 && !omp_in_parallel())
  {
    const auto i = static_cast<std::size_t>(omp_get_thread_num());
    const auto threads = static_cast<std::size_t>(omp_get_num_threads());
    const auto boundary = [&](std::size_t k) { return k == threads ? n : grains * k / threads * grain; };
    if (const Range part{boundary(i), boundary(i + 1)}; part.begin < part.end) work(part);
  }
}

}  // namespace odori::cpu
