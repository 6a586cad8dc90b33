// SPDX-License-Identifier: Apache-2.0
// A watch over work that may never end because another device, process or machine doesn't take part in it: one for
// MPI (comm/session.cpp), and one for each NCCL communicator. There is one rule for all of them.
//
// A job hangs when an operation that a watch follows is pending and there is no progress for ODORI_TIMEOUT seconds
// (60): no such operation has ended, and no rank of this node has entered or left a collective call, or computed a
// batch (program/rank_table.h). So a rank that evaluates for minutes while the others wait for it does not hang. Work
// that shows neither, such as a calculation of a learner's own, has to end within the limit, or the limit must be
// raised.
//
// After 5 s without progress in which one of the node's ranks keeps the others waiting, a table on standard error shows
// each rank's last call, once. The job ends then only if the ranks wait for what cannot come: messages that no rank
// takes, or a rank that has ended.
//
// What ranks of other nodes do can't be seen from here. Where no rank of this node is missing, but the job has others,
// ten times the limit has to pass. A node that is missing a rank reports sooner.
//
// Only time in which this process was scheduled counts: a job that was suspended, a laptop that slept, or a machine
// that is too busy has not waited. A rank that sits alone in a debugger is missing to the others: ODORI_TIMEOUT=0 turns
// all watches off. Rank 0's setting applies to all ranks.
//
// Then the message says who is missing and what is known of them, and which call the others wait in. One rank of a node
// says it, and ends the job: by MPI_Abort with exit_code::hang, or, before MPI has started or where MPI_Abort hangs as
// well, by its own end, which mpirun answers by ending the others. Stopped ranks are killed.
//
// The grader's runs have limits of their own, and go without (grader/runner/run.cpp).
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace odori {

/// Ends the program, and all ranks of an MPI job, through report_failure(), if it hangs (see above), or if `failure`
/// has something to tell. A thread of its own does it: all others may be stuck.
class Watch {
 public:
  struct Words {
    std::string work;    // begins the sentence: "NCCL's exchange between the ranks"
    std::string advice;  // appended if no rank is known to be missing: sentences on what may help
  };
  /// `limit`: 0 for none. `failure` is asked several times a second, and returns a sentence, or nothing while all is
  /// well.
  Watch(Words words, std::chrono::seconds limit, std::function<std::string()> failure = {});
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  /// A piece of work begins: a call that waits for others, or something queued on a device.
  void begin() noexcept;
  /// The piece that began first has ended. From any thread.
  void end() noexcept;

  /// A piece of work that ends with this object.
  class During {
   public:
    explicit During(Watch& watch) : watch_(watch) { watch_.begin(); }
    ~During() { watch_.end(); }
    During(const During&) = delete;
    During& operator=(const During&) = delete;

   private:
    Watch& watch_;
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
  std::atomic<std::uint64_t> moves_ = 0;  // how often something ended, or began after a rest
  std::jthread thread_;                   // last: it ends before what it uses
};

/// How long a Watch waits: ODORI_TIMEOUT in seconds (0: no limit), or 60. Throws Error if that is no whole number.
std::chrono::seconds watch_limit();
/// Later calls of watch_limit() return this: rank 0's.
void set_watch_limit(std::chrono::seconds limit) noexcept;

}  // namespace odori
