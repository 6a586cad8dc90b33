// SPDX-License-Identifier: Apache-2.0
// The flags of the benchmarks.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "backend/device_pool.h"

namespace odori::bench {

struct Options {
  std::string model;   // empty: the benchmark's default
  int batchsize = 0;   // images per device; 0: the benchmark's default
  int iterations = 0;  // per round; 0: the benchmark's default
  int rounds = 9;
  bool autotune = false;
  DevicePoolOptions devices{.request = DeviceRequest::cpu};  // bench_vgg and bench_allreduce: --device --precision
  std::optional<Precision> compare_precision;                // bench_vgg: measured alternately with --precision
  std::vector<GpuOptimization> compare_without;              // bench_vgg: each turned off in turn
  std::string json;                                          // bench_vgg: output file for the rates
  int image_size = 32;                                       // bench_vgg
  double peak_tflops = 0;                                    // bench_vgg: the device's peak; 0: unknown
  std::string communicator = "pure_nccl";                    // bench_allreduce: one, or several joined by commas
  bool compare_mpi = false;                                  // bench_allreduce
  std::string rank_of;  // bench_scaling: communicator of the program that it starts under mpirun
};

/// The benchmarks, whose flags differ.
enum class Benchmark { scaling, vgg, allreduce, exchange };

/// Parses the flags; `options` holds the defaults. Throws UsageError, and HelpRequested for --help.
Options parse(int argc, char** argv, Benchmark benchmark, const std::string& about, Options options);

}  // namespace odori::bench
