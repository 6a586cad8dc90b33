// SPDX-License-Identifier: Apache-2.0
#include "distributed/exchange/buckets.h"

namespace odori {

Buckets::Buckets(std::span<const Range> ranges, int mib) {
  const auto floats_of = [](int mebibytes) { return (static_cast<std::size_t>(mebibytes) << 20) / sizeof(float); };
  for (std::size_t end = ranges.size(); end > 0;) {
    const std::size_t full = floats_of(buckets_.empty() ? 1 : mib);
    std::size_t begin = end, size = 0;
    while (begin > 0 && size < full) size += ranges[--begin].size();
    buckets_.push_back(ranges.subspan(begin, end - begin));
    end = begin;
  }
}

std::vector<std::span<const Range>> Buckets::complete(Range range) {
  std::vector<std::span<const Range>> full;
  while (completed_ < buckets_.size() && buckets_[completed_].front().begin >= range.begin)
    full.push_back(buckets_[completed_++]);
  return full;
}

std::vector<std::span<const Range>> Buckets::rest() {
  std::vector<std::span<const Range>> others = complete({0, 0});
  completed_ = 0;
  return others;
}

}  // namespace odori
