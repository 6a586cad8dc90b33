// SPDX-License-Identifier: Apache-2.0
// What an iteration takes on this machine.
#pragma once

#include <string>
#include <utility>

#include "backend/device_pool.h"
#include "comm/cost_terms.h"
#include "model/networks.h"

namespace odori {

/// Trains on random images with `n_devices` devices of this process, `batch` images each, for about a second: the
/// median of some iterations. Throws what DevicePool does where there are fewer devices.
cost::Measured measure_iteration(const NetworkSpec& network, int batch, int n_devices,
                                 const DevicePoolOptions& devices);

/// Two batches of one device, in turn, so that a machine that becomes slower meanwhile is slower for both.
std::pair<cost::Measured, cost::Measured> measure_two(const NetworkSpec& network, int small, int large,
                                                      const DevicePoolOptions& devices);

/// "32:0.041,128:0.153": what iterations of these batches took, in seconds, somewhere. Throws UsageError for another
/// text.
std::pair<cost::Measured, cost::Measured> recorded_timings(const std::string& text);

}  // namespace odori
