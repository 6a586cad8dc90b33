// SPDX-License-Identifier: Apache-2.0
#include "train/device_team.h"

#include <utility>

#include "trace/trace.h"

namespace odori {

DeviceTeam::DeviceTeam(std::vector<Device*> devices) : devices_(std::move(devices)), failures_(devices_.size()) {
  for (std::size_t i = 1; i < devices_.size(); ++i)
    threads_.emplace_back([this, i](std::stop_token stop) { work(i, std::move(stop)); });
  run([this](std::size_t i) {
    devices_[i]->bind_thread();
    trace::set_device(devices_[i]->id());
  });
}

void DeviceTeam::run(const std::function<void(std::size_t)>& task) {
  {
    const std::lock_guard lock(mutex_);
    task_ = &task;
    ++tasks_given_;
    running_ = threads_.size();
  }
  start_.notify_all();
  attempt(0);
  {
    std::unique_lock lock(mutex_);
    done_.wait(lock, [this] { return running_ == 0; });
  }
  std::exception_ptr first;
  for (std::exception_ptr& failure : failures_)
    if (std::exception_ptr it = std::exchange(failure, nullptr); it && !first) first = it;
  if (first) std::rethrow_exception(first);
}

void DeviceTeam::work(std::size_t i, std::stop_token stop) {
  for (std::size_t tasks_done = 0;; ++tasks_done) {
    {
      std::unique_lock lock(mutex_);
      if (!start_.wait(lock, stop, [&] { return tasks_given_ > tasks_done; })) return;
    }
    attempt(i);
    const std::lock_guard lock(mutex_);
    if (--running_ == 0) done_.notify_one();
  }
}

void DeviceTeam::attempt(std::size_t i) {
  try {
    (*task_)(i);
  } catch (...) {
    failures_[i] = std::current_exception();
  }
}

}  // namespace odori
