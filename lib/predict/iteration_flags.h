// SPDX-License-Identifier: Apache-2.0
// Flags that ./odori predict and ./odori simulate share: links of the cluster, and iterations of one device.
#pragma once

#include <string>

#include "backend/device_pool.h"
#include "comm/cost_terms.h"
#include "flags/command_line.h"
#include "model/networks.h"

namespace odori {

struct IterationFlags {
  int gpus_per_node = 1;
  std::string network = "10gbit,50us", within = "100gbit,5us";
  std::string model = "vgg", proxy, timings;
  int image_size = 32, batchsize = 32;
  DevicePoolOptions devices;
};

/// Adds --gpus-per-node, --network and --within.
void add_cluster_flags(CommandLine& line, IterationFlags& flags);
/// Adds --model, --image-size, --batchsize, --proxy, --timings, --device and --threads-per-device.
void add_iteration_flags(CommandLine& line, IterationFlags& flags);

/// Iterations of one device without communication: from --timings, or else measured here, which takes some seconds.
/// Throws UsageError for invalid timings.
cost::Compute compute_of(const IterationFlags& flags, const NetworkSpec& network);

}  // namespace odori
