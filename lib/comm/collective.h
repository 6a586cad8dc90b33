// SPDX-License-Identifier: Apache-2.0
// Scopes of calls that wait for other ranks. They inform the rank table, the watchdog and the observer.
#pragma once

#include "comm/agreement.h"
#include "observe/hooks.h"
#include "program/rank_table.h"

namespace odori {

/// A call that waits for other ranks, from construction to destruction: recorded in the rank table
/// (program/rank_table.h) and followed by the watchdog. Waits for background calls first.
class BlockingCall {
 public:
  explicit BlockingCall(const rank_table::Call& call) noexcept;
  /// A collective over all ranks of the job. Throws Error on every rank if their calls differ (agreement.h).
  explicit BlockingCall(const CollectiveCall& plan);
  ~BlockingCall();
  BlockingCall(const BlockingCall&) = delete;
  BlockingCall& operator=(const BlockingCall&) = delete;

 private:
  rank_table::Call outer_;
};

/// A collective that a learner may call: also reported to the observer. If calls are checked (agreement.h), the
/// constructor waits for all ranks, so construct a trace::Span before it to measure that wait.
struct Collective {
  explicit Collective(const CollectiveCall& plan) : scope(plan.name, plan.site), blocking(plan) {}
  observe::CollectiveScope scope;
  BlockingCall blocking;
};

}  // namespace odori
