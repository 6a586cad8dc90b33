// SPDX-License-Identifier: Apache-2.0
// Data-parallel training on several devices of one process. After Chainer's MultiprocessParallelUpdater.
//
//   iterators[i] -> batch i -> device i: forward, backward          (all devices at once)
//   main device:  g = mean of all gradients -> update -> parameters to all the others
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "backend/device_pool.h"
#include "optim/gradient_rule.h"
#include "train/device_team.h"
#include "train/updater.h"

namespace odori {

class ParallelUpdater : public Updater {
 public:
  /// `devices`: device ids by name. "main" holds the optimizer's model, and updates. iterators[0] feeds "main", the
  /// others feed the other devices in the order of their names. Throws Error if there is no "main", a device occurs
  /// twice, there are not as many iterators as devices, the iterators' data sets differ in size, the model is not on
  /// the main device, or the optimizer is sharded; UsageError for the rule `sum` with another optimizer than momentum.
  ParallelUpdater(std::vector<SerialIterator> iterators, Optimizer& optimizer,
                  const std::map<std::string, int>& devices, DevicePool& pool, GradientRule rule = GradientRule::mean);

  /// One update: each device computes the gradients of one batch, the main device updates. Rethrows an exception of a
  /// device's thread after all threads have ended their part.
  void update() override;
  Metrics take_metrics() override;
  std::vector<SerialIterator>& iterators() override { return iterators_; }
  std::vector<Classifier*> models() override;
  std::string description() const override;
  /// How GPUs are connected, and the gradient rule, for the lines above the table.
  std::string setting() const override { return setting_; }
  GradientRule rule() const { return rule_; }
  const std::map<std::string, int>& devices() const override { return devices_; }
  std::string kind() const override { return "ParallelUpdater"; }
  bool shares_devices() override;

 private:
  void set_rule();
  void exchange(const std::function<void(std::size_t)>& step);
  void gather(std::size_t slice_index);
  void update_and_send(std::size_t slice_index);
  /// If events are traced, waits for the main device, so that its spans end with its work. Otherwise no host waits.
  void finish_span();

  std::vector<SerialIterator> iterators_;
  GradientRule rule_;
  std::string setting_;
  std::map<std::string, int> devices_;
  std::vector<std::unique_ptr<Classifier>> replicas_;  // on the other devices
  std::vector<Buffer*> gradients_, parameters_;        // one flat vector per device, main first
  DeviceTeam team_;                                    // main first
  std::unique_ptr<DeviceGroup> group_;                 // last: its work ends before the vectors are destroyed
  std::size_t n_slices_ = 1;                           // of each flat vector
};

/// Prints {'main': 0, 'gpu1': 1}.
void print_devices(const std::map<std::string, int>& devices);

}  // namespace odori
