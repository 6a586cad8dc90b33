// SPDX-License-Identifier: Apache-2.0
// The flags of the benchmarks.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "backend/device_pool.h"

namespace odori::bench {

struct Options {
  std::string model;   // empty: the benchmark's own choice
  int batchsize = 0;   // images a device; 0: the benchmark's own choice
  int iterations = 0;  // a round; 0: the benchmark's own choice
  int rounds = 9;
  bool autotune = false;
  DevicePoolOptions devices{.request = DeviceRequest::cpu};  // bench_vgg and bench_allreduce: --device --precision
  std::optional<Precision> beside;                           // bench_vgg: measured in turn with --precision
  std::vector<GpuOptimization> compare_without;              // bench_vgg: each measured in turn with all of them
  std::string json;                                          // bench_vgg: a file for the rates
  int image_size = 32;                                       // bench_vgg
  double peak_tflops = 0;                                    // bench_vgg: what the device could do; 0: unknown
  std::string communicator = "pure_nccl";                    // bench_allreduce: one, or several joined by commas
  bool beside_mpi = false;                                   // bench_allreduce
  std::string rank_of;  // bench_scaling starts itself with this under mpirun: the communicator
};

/// Which benchmark asks: each has flags of its own.
enum class Benchmark { scaling, vgg, allreduce, exchange };

/// What isn't given is unchanged in `options`. Throws UsageError and HelpRequested.
Options parse(int argc, char** argv, Benchmark benchmark, const std::string& about, Options options);

}  // namespace odori::bench
