// SPDX-License-Identifier: Apache-2.0
// Measures the time of an iteration on this machine.
#pragma once

#include <string>
#include <utility>

#include "backend/device_pool.h"
#include "comm/cost_terms.h"
#include "model/networks.h"

namespace odori {

/// Trains on random images for about a second, with `n_devices` devices of this process and `batch` images each, and
/// returns the median time of an iteration. Throws Error if there are fewer devices.
cost::Measured measure_iteration(const NetworkSpec& network, int batch, int n_devices,
                                 const DevicePoolOptions& devices);

/// Measures two batch sizes on one device, alternately, so that changes of the machine's speed affect both.
std::pair<cost::Measured, cost::Measured> measure_two(const NetworkSpec& network, int small, int large,
                                                      const DevicePoolOptions& devices);

/// Parses "32:0.041,128:0.153": seconds of an iteration for two batch sizes. Throws UsageError for any other text.
std::pair<cost::Measured, cost::Measured> recorded_timings(const std::string& text);

}  // namespace odori
