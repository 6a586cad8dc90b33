// Calls that all ranks have to make, and who hears of them.
#pragma once

#include "trace/evidence.h"

namespace odori {

/// Entered now, and left when this object goes; the other ranks of the node and the watch know. `name` must outlive it.
class Exchange {
 public:
  explicit Exchange(const char* name) noexcept;
  ~Exchange();
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

 private:
  const char* outer_;
};

/// One that a learner calls: the grader knows as well.
struct Collective {
  explicit Collective(const char* name) noexcept : evidence(name), exchange(name) {}
  evidence::Collective evidence;
  Exchange exchange;
};

}  // namespace odori
