// What an iteration takes on this machine.
#pragma once

#include <string>
#include <utility>
#include <vector>

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

/// What a prediction is made from.
struct Given {
  NetworkSpec network, other;
  int images = 0, batch = 1;  // of an epoch; of an iteration, all devices together
  cost::Link wire;
  cost::Measured small, large;
  int percent = 10;  // that an epoch may take more than its images alone
};
/// "vgg/mid/6400/64/100mbit,1ms/16:0.023,64:0.051/10+...": the networks, images, batch, wire, recorded timings and
/// percent of some; of none, if it is empty. Throws UsageError for another text.
std::vector<Given> given_in(const std::string& text);

/// "32:0.041,128:0.153": what iterations of these batches took, in seconds, somewhere. Throws UsageError for another
/// text.
std::pair<cost::Measured, cost::Measured> recorded_timings(const std::string& text);

}  // namespace odori
