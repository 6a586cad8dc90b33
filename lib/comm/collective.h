// Calls in which a rank waits for others, and who is notified of them.
#pragma once

#include "observe/hooks.h"
#include "program/rank_table.h"

namespace odori {

/// Entered now, and left when this object goes; the other ranks of the node and the watch know.
class Exchange {
 public:
  explicit Exchange(const rank_table::Call& call) noexcept;
  ~Exchange();
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

 private:
  rank_table::Call outer_;
};

/// A call that all ranks have to make and that a learner may make: also reported to the observer. `name` must outlive
/// this object.
struct Collective {
  explicit Collective(const char* name) noexcept : scope(name), exchange({name}) {}
  observe::CollectiveScope scope;
  Exchange exchange;
};

}  // namespace odori
