// SPDX-License-Identifier: Apache-2.0
// Optimizations of the CUDA backend. Each can be turned off, to measure its effect (bench_vgg --compare-without) and to
// compare results in tests. backend/cuda/README.md describes them.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace odori {

enum class GpuOptimization {
  fused_update,      // weight decay, momentum SGD and both casts of bf16 in one kernel
  parallel_metrics,  // loss and correct predictions of a batch by several blocks
  step_graph,        // forward, backward and update as one CUDA graph
  last_block,        // batch normalization combines partial sums in the last block of the kernel that computes them
  fused_dropout,     // dropout within batch normalization
  fused_gelu,        // a GELU within batch normalization
  dependent_launch   // programmatic dependent launch: a kernel starts before the previous one has ended
};

/// As `--cuda-without` spells them, in the order of the enumeration.
inline constexpr std::array<std::string_view, 7> gpu_optimization_names{
    "fused-update", "parallel-metrics", "step-graph", "last-block", "fused-dropout", "fused-gelu", "dependent-launch"};

constexpr std::string_view to_string(GpuOptimization one) {
  return gpu_optimization_names[static_cast<std::size_t>(one)];
}

/// Parses names separated by commas, or "all"; removes duplicates. Throws UsageError for an unknown name.
std::vector<GpuOptimization> gpu_optimizations(const std::string& list);

/// The set of optimizations in use: by default all.
class GpuOptimizations {
 public:
  constexpr bool has(GpuOptimization one) const { return (off_ & bit(one)) == 0; }
  constexpr GpuOptimizations without(GpuOptimization one) const {
    GpuOptimizations fewer = *this;
    fewer.off_ |= bit(one);
    return fewer;
  }

 private:
  static constexpr unsigned bit(GpuOptimization one) { return 1u << static_cast<unsigned>(one); }
  unsigned off_ = 0;
};

}  // namespace odori
