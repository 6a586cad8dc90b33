// SPDX-License-Identifier: Apache-2.0
// Several devices in one process. After Chainer's MultiprocessParallelUpdater.
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
  /// `devices` names the devices by number; "main" is the one that the optimizer's model is on, and updates.
  /// iterators[0] feeds "main", the others feed the other devices in the order of their names.
  /// Throws Error for: no "main"; a device twice; not as many iterators as devices;
  /// iterators over sets of different sizes; a model that is not on the main device; a batch larger than a share.
  ParallelUpdater(std::vector<SerialIterator> iterators, Optimizer& optimizer,
                  const std::map<std::string, int>& devices, DevicePool& pool, GradientRule rule = GradientRule::mean);

  /// Throws what a device's thread threw, when all threads are through with this update.
  void update() override;
  Metrics take_metrics() override;
  std::vector<SerialIterator>& iterators() override { return iterators_; }
  std::vector<Classifier*> models() override;
  std::string description() const override;
  /// How GPUs are linked, and the rule in force. Said by who prints a table: measuring prints none.
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
  /// While the event stream is written, its spans end with the main device's work; otherwise nothing waits for a GPU.
  void finish_span();

  std::vector<SerialIterator> iterators_;
  GradientRule rule_;
  std::string setting_;
  std::map<std::string, int> devices_;
  std::vector<std::unique_ptr<Classifier>> replicas_;  // on the devices other than main
  std::vector<Buffer*> gradients_, parameters_;        // one flat vector a device, main first
  DeviceTeam team_;                                    // main first
  std::unique_ptr<DeviceGroup> group_;                 // last: what it has under way ends before the vectors go
  std::size_t n_slices_ = 1;                           // of each flat vector
};

/// {'main': 0, 'gpu1': 1}
void print_devices(const std::map<std::string, int>& devices);

}  // namespace odori
