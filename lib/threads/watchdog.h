// SPDX-License-Identifier: Apache-2.0
// The watchdog: ends a job that hangs because a device, process or machine does not take part in an operation. There is
// one for MPI (comm/session.cpp), and one for each NCCL communicator, all with the same rule.
//
// A job hangs when an operation that a watchdog follows is pending without progress for ODORI_TIMEOUT seconds (60).
// Progress: such an operation ends, or a rank of this node enters or leaves a collective, or computes a batch
// (program/rank_table.h). So a rank that evaluates for minutes while the others wait does not hang. Other work, such as
// a learner's own computation, must end within the limit, or the limit must be raised.
//
// After 5 s without progress, if a rank of the node keeps the others waiting, a table on standard error shows each
// rank's last call, once. The job ends at that time only if it is deadlocked: messages that no rank receives, calls
// that differ, or a rank that has ended.
//
// The ranks of other nodes cannot be seen. If no rank of this node is missing, but the job has other nodes, the limit
// is ten times longer. A node with a missing rank reports sooner.
//
// Only time in which this process was scheduled counts, so suspended jobs, sleeping laptops and overloaded machines do
// not hang. A rank in a debugger counts as missing: ODORI_TIMEOUT=0 turns all watchdogs off. Rank 0's setting applies
// to all ranks.
//
// The message names the missing ranks, and the call in which the others wait. One rank per node prints it and ends the
// job with exit_code::hang: by MPI_Abort or, if that hangs or MPI has not started, by exiting, after which mpirun ends
// the other ranks. Stopped ranks are killed.
//
// The grader's runs have other limits, and no watchdog (grader/runner/run.cpp).
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "errors/language.h"

namespace odori {

/// Ends the program, and all ranks of an MPI job, through report_failure(), if it hangs (see above), or if `failure`
/// reports an error. Runs on its own thread, since all others may be blocked.
class Watchdog {
 public:
  struct Words {
    Text work;    // begins the sentence: "NCCL's exchange between the ranks"
    Text advice;  // appended if no missing rank is known: sentences on what may help
  };
  /// `limit`: 0: none. `failure` is called several times per second, and returns a sentence about an error, or an empty
  /// string.
  Watchdog(Words words, std::chrono::seconds limit, std::function<std::string()> failure = {});
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  /// An operation begins: a call that waits for other ranks, or work queued on a device.
  void begin() noexcept;
  /// The operation that began first has ended. Thread-safe.
  void end() noexcept;

  /// An operation that ends with this object.
  class During {
   public:
    explicit During(Watchdog& watch) : watch_(watch) { watch_.begin(); }
    ~During() { watch_.end(); }
    During(const During&) = delete;
    During& operator=(const During&) = delete;

   private:
    Watchdog& watch_;
  };

 private:
  void watch(const std::stop_token& stop);
  std::string standstill(std::chrono::steady_clock::duration silent) const;

  Words words_;
  std::chrono::seconds limit_;
  std::function<std::string()> failure_;
  std::mutex mutex_;
  std::condition_variable_any stopped_;
  std::atomic<std::size_t> under_way_ = 0;
  std::atomic<std::uint64_t> moves_ = 0;  // operations that ended, or began while none was pending
  std::jthread thread_;                   // last: it ends before what it uses
};

/// The limit: ODORI_TIMEOUT in seconds (0: no limit), or 60. Throws Error if ODORI_TIMEOUT is not an integer, 0 or
/// greater.
std::chrono::seconds watchdog_limit();
/// Overrides watchdog_limit(), with rank 0's setting.
void set_watchdog_limit(std::chrono::seconds limit) noexcept;

}  // namespace odori
