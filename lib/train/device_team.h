// SPDX-License-Identifier: Apache-2.0
// Runs a task on all devices of a process at once, with one thread per device.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

#include "backend/device.h"

namespace odori {

/// The calling thread drives the first device. Each other device gets a thread, which lives as long as the team.
class DeviceTeam {
 public:
  /// Binds all threads, the calling one too, to their devices.
  explicit DeviceTeam(std::vector<Device*> devices);

  std::size_t size() const { return devices_.size(); }
  Device& device(std::size_t i) { return *devices_[i]; }

  /// Calls task(i) on the thread of each device i, and returns when all have returned. Then rethrows the exception of
  /// the first device whose task threw, if any.
  void run(const std::function<void(std::size_t)>& task);

 private:
  void work(std::size_t i, std::stop_token stop);
  void attempt(std::size_t i);

  std::vector<Device*> devices_;
  std::mutex mutex_;
  std::condition_variable_any start_;
  std::condition_variable done_;
  const std::function<void(std::size_t)>* task_ = nullptr;
  std::size_t tasks_given_ = 0, running_ = 0;
  std::vector<std::exception_ptr> failures_;  // one per device
  std::vector<std::jthread> threads_;         // last: they end before what they use
};

}  // namespace odori
