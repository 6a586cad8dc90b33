// Calls in which a rank waits for others, and who hears of them.
#pragma once

#include "core/rank_table.h"
#include "trace/evidence.h"

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

/// One that all ranks have to make, and a learner calls: the grader knows as well. `name` must outlive it.
struct Collective {
  explicit Collective(const char* name) noexcept : evidence(name), exchange({name}) {}
  evidence::Collective evidence;
  Exchange exchange;
};

}  // namespace odori
