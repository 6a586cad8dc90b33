// SPDX-License-Identifier: Apache-2.0
#include "large_chunks.h"
#include "observe/hooks.h"
#include "observe/refusal.h"
#include "ring_support.h"

namespace odori {
namespace {

/// Reports large chunks to the grader, once.
void report_large_chunks(BeginOfChunk begin) {
  static const bool reported = [&] {
    for (const auto& [c, n, length] : large_chunks)
      observe::on_event("large_chunk", {static_cast<std::int64_t>(begin(c, n, length)),
                                        static_cast<std::int64_t>(begin(c + 1, n, length))});
    return true;
  }();
  static_cast<void>(reported);
}

}  // namespace

std::span<float> chunk_of(std::span<float> numbers, int c, int n, BeginOfChunk begin) {
  refusal::require(refusal::no_such_chunk, c >= 0 && c < n,
                   "chunk_of: there is no chunk {} of {}. They are counted from 0.", c, n);
  const auto index = static_cast<std::size_t>(c), chunks = static_cast<std::size_t>(n);
  const std::size_t first = begin(index, chunks, numbers.size()), last = begin(index + 1, chunks, numbers.size());
  refusal::require(refusal::chunk_outside, first <= last && last <= numbers.size(),
                   "chunk_of: chunk {} of {} begins at {} and ends at {}, of {} numbers.", c, n, first, last,
                   numbers.size());
  if (observe::enabled()) report_large_chunks(begin);
  return numbers.subspan(first, last - first);
}

}  // namespace odori
