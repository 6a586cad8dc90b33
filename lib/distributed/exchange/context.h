// SPDX-License-Identifier: Apache-2.0
// The interface that exchange strategies use: communicator, device, flat vectors, and a queue of all-reduces that run
// while the program computes.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "backend/device.h"
#include "comm/communicator.h"
#include "distributed/exchange/strategy.h"

namespace odori {

/// Runs the all-reduces that a strategy has started, in the order of starting.
class AsyncQueue {
 public:
  virtual ~AsyncQueue() = default;
  /// Queues `all_reduce`, which averages `ranges` of `buffer`. Returns at once.
  virtual void start(Buffer& buffer, std::span<const Range> ranges, std::function<void()> all_reduce) = 0;
  /// Returns when all of them have ended. Rethrows the first failure.
  virtual void wait() = 0;
};

class ExchangeContext {
 public:
  /// `ranges`: the place of each parameter in the flat vectors, ascending. `dtype`: the type of the elements in
  /// messages. Everything passed by reference outlives the context. Throws UsageError if the communicator does not
  /// support the dtype.
  ExchangeContext(Communicator& comm, Device& device, Buffer& gradients, Buffer& parameters, std::vector<Range> ranges,
                  Dtype dtype = Dtype::fp32);
  ~ExchangeContext();
  ExchangeContext(const ExchangeContext&) = delete;
  ExchangeContext& operator=(const ExchangeContext&) = delete;

  Communicator& comm;
  Device& device;
  Buffer& gradients;
  Buffer& parameters;
  const std::vector<Range> ranges;
  const Dtype dtype;
  ExchangeReport report;

  /// Replaces each element in `ranges` of `buffer` by its mean over all ranks; all ranges of one call share a message.
  /// On a GPU it is ordered after the device's queued work, and before work queued later.
  void all_reduce_mean(Buffer& buffer, std::span<const Range> ranges);

  // ---- The same while the program computes
  /// To be called in setup() by a strategy that uses start(). All-reduces run on a thread of the process
  /// (comm/background.h), on a GPU in a stream of their own. Throws Error if MPI does not support calls from a second
  /// thread.
  void enable_async();
  /// To be called before the strategy's setup(): all-reduces run in this queue instead.
  void set_queue(std::unique_ptr<AsyncQueue> queue) { queue_ = std::move(queue); }
  /// Starts an all-reduce of what the device's work queued so far computes. Neither host nor device waits. `buffer`
  /// must not be touched in these ranges, and `ranges` must live, until wait() has returned.
  void start(Buffer& buffer, std::span<const Range> ranges);
  /// Returns when all started all-reduces have ended on the host; later work of the device waits for them on the
  /// device.
  void wait();

  // ---- Overflow of 16-bit dtypes
  /// Returns false if an element of the means since the last call is infinite or NaN. Then counts an overflow, and
  /// rank 0 prints a warning on the 1st, 2nd, 4th, 8th, ... overflow.
  bool all_finite();
  /// Infinite or NaN elements of means that were restored from a snapshot; forgets those counted before.
  void set_not_finite(std::int64_t n) { not_finite_ = n; }

 private:
  void all_reduce_mean_on(Device& stream, Buffer& buffer, std::span<const Range> ranges);

  std::int64_t not_finite_ = 0;
  std::unique_ptr<Device> stream_;     // of a GPU, for the queue's all-reduces. Null on a CPU device
  std::unique_ptr<AsyncQueue> queue_;  // last: its calls end before what they use
};

}  // namespace odori
