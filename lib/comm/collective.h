// SPDX-License-Identifier: Apache-2.0
// Calls in which a rank waits for others, and who is notified of them.
#pragma once

#include "comm/agreement.h"
#include "observe/hooks.h"
#include "program/rank_table.h"

namespace odori {

/// Entered now, and left when this object goes; the other ranks of the node and the watch know.
class Exchange {
 public:
  explicit Exchange(const rank_table::Call& call) noexcept;
  /// A call that all ranks of the job make. Throws Error on every rank if they make different ones.
  explicit Exchange(const Plan& plan);
  ~Exchange();
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

 private:
  rank_table::Call outer_;
};

/// A call that all ranks have to make and that a learner may make: also reported to the observer. Comparing the ranks'
/// calls waits for the last of them, so a trace::Span that measures the call begins before this.
struct Collective {
  explicit Collective(const Plan& plan) : scope(plan.name, plan.site), exchange(plan) {}
  observe::CollectiveScope scope;
  Exchange exchange;
};

}  // namespace odori
