// SPDX-License-Identifier: Apache-2.0
// Runs MPI calls on a second thread, one after another, while the program computes.
//
// MPI is initialised with MPI_THREAD_SERIALIZED, and all ranks must make their calls in the same order. So every other
// call to MPI (collective.h) first waits until the background calls have ended. The order is then the same on all ranks
// if they start the same calls at the same points of the program.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

namespace odori {

class Background {
 public:
  /// Throws Error if MPI does not support calls from a second thread.
  Background();
  /// Waits for all calls that were started.
  ~Background();
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  /// Queues `call` after those started before. Returns its ticket. Only the main thread may use this class.
  std::int64_t start(std::function<void()> call);
  /// Waits for all calls. Rethrows the first exception that a call threw, each time; the calls after that one were
  /// skipped.
  void wait();
  /// Waits for the call with this ticket and those before it. Rethrows the first exception so far, even of a later
  /// call.
  void wait(std::int64_t ticket);
  /// The same, but never throws.
  void wait_quietly(std::int64_t ticket) noexcept;
  /// Waits for all calls of this process, and never throws. Does nothing within a background call.
  static void wait_for_all() noexcept;

 private:
  class Worker;
  void throw_failure() const;
  std::shared_ptr<Worker> worker_;  // one per process, shared
};

}  // namespace odori
