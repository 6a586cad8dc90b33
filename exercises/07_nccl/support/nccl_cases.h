// SPDX-License-Identifier: Apache-2.0
// Exercise 07's test cases, the names of what it reports to the grader, and virtual times. No program includes this.
#pragma once

#include <nlohmann/json.hpp>

namespace odori {

/// The emulated GPUs of each node.
struct NcclCase {
  int gpus = 0;           // 0: as many as the node has ranks
  bool one_each = false;  // each process sees one of them: CUDA_VISIBLE_DEVICES=intra_rank
  int seed = 1;           // of the weights, and of the order in which streams run
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(NcclCase, gpus, one_each, seed)

namespace nccl_facts {

// Events. `log`: the entries of an operation log follow, an event each, whose name is an entry's JSON.
inline constexpr const char *gpu = "gpu",  // {current, physical, visible}
    *broadcast = "broadcast",              // {bytes, root}
        *log = "log",                      // {one of Phase}
            *one_process = "one_process";  // {GPUs}
enum Phase { training, one_process_phase };

// Refusals.
inline constexpr const char *cuda_failed = "cuda_failed", *no_such_gpu = "no_such_gpu", *nccl_failed = "nccl_failed",
                            *ranks_missing = "ranks_missing", *init_refused = "init_refused",
                            *one_gpu_twice = "one_gpu_twice", *all_reduce_refused = "all_reduce_refused",
                            *no_group = "no_group", *no_communicator = "no_communicator",
                            *exchange_failed = "exchange_failed";

// What a rank shows, in this order. Those from `mean` on: rank 0 alone, computed by one GPU.
enum Shown { weights, losses, mean, sum, twice, all_losses, of_one_process, one_process_mean, n_shown };

}  // namespace nccl_facts

/// Virtual times of an emulated GPU: seconds per parameter of the layer, and bytes per second.
namespace nccl_times {
inline constexpr double forward = 3e-7, backward = 1e-6, update = 1e-7, loss = 1e-4, all_reduce_bytes = 4.4e6;
}

}  // namespace odori
