// SPDX-License-Identifier: Apache-2.0
// An iteration's spans, for a profiler to see.
#include <fmt/core.h>

#include "trace/trace.h"

int main() {
  const odori::trace::Span iteration("iteration");
  { const odori::trace::Span forward("forward"); }
  fmt::print("{}\n", odori::trace::watched() ? "watched" : "unwatched");
}
