// SPDX-License-Identifier: Apache-2.0
// Calls to other ranks that go on while the program computes: a thread makes them, one after another.
//
// MPI is called by one thread at a time (MPI_THREAD_SERIALIZED), and all ranks have to make all calls in one order. So
// whatever else a program asks of other ranks (collective.h) waits until the calls in the background have ended: ranks
// that start the same calls at the same places of their program make them in one order.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

namespace odori {

class Background {
 public:
  /// Throws Error if this MPI can't be called by a second thread.
  Background();
  /// Waits for all calls.
  ~Background();
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  /// `call` is made when those that were started before have ended. From the program's main thread, as all that
  /// follows. Returns the call's ticket.
  std::int64_t start(std::function<void()> call);
  /// Returns when all have ended. Throws what the first of them threw that did, each time: those after it were not
  /// made.
  void wait();
  /// Waits for the call with this ticket and those before it only. Throws the first failure so far, even of a later
  /// call.
  void wait(std::int64_t ticket);
  /// The same without a throw.
  void wait_quietly(std::int64_t ticket) noexcept;
  /// The same for all of this process, without a throw. Does nothing within a call in the background.
  static void wait_for_all() noexcept;

 private:
  class Worker;
  void throw_failure() const;
  std::shared_ptr<Worker> worker_;  // one a process, while anybody uses it
};

}  // namespace odori
