// SPDX-License-Identifier: Apache-2.0
#include "runner/work_through.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "errors/error.h"
#include "program/program.h"

namespace odori::grader {

void work_through(std::size_t n, int jobs, const std::function<void(std::size_t)>& work,
                  const std::function<void()>& wait, const std::function<void()>& stop) {
  std::mutex mutex;
  std::exception_ptr failure;
  std::atomic<bool> failed = false;
  std::atomic<std::size_t> next = 0;
  const auto guarded = [&](const std::function<void()>& what) {
    try {
      what();
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!failure) failure = std::current_exception();
      failed = true;
      stop();
    }
  };
  std::atomic<std::size_t> n_working = std::min<std::size_t>(n, static_cast<std::size_t>(std::max(jobs, 1)));
  std::vector<std::jthread> threads;
  for (std::size_t i = 0, workers = n_working; i < workers; ++i)
    // A thread lives as long as the children that it started: they end with it.
    threads.emplace_back([&] {
      for (std::size_t at; !failed && (at = next++) < n;) guarded([&] { work(at); });
      --n_working;
    });
  while (n_working > 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    if (failed) continue;
    guarded([&] {
      if (interrupted()) throw Error("Interrupted.", exit_code::interrupted);
      wait();
    });
  }
  threads.clear();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace odori::grader
