#include "distributed/buckets.h"

namespace odori {

Buckets::Buckets(std::span<const Range> pieces, int mib) {
  const auto floats_of = [](int mebibytes) { return (static_cast<std::size_t>(mebibytes) << 20) / sizeof(float); };
  for (std::size_t end = pieces.size(); end > 0;) {
    const std::size_t full = floats_of(buckets_.empty() ? 1 : mib);
    std::size_t begin = end, size = 0;
    while (begin > 0 && size < full) size += pieces[--begin].size();
    buckets_.push_back(pieces.subspan(begin, end - begin));
    end = begin;
  }
}

std::vector<std::span<const Range>> Buckets::take(Range range) {
  std::vector<std::span<const Range>> full;
  while (taken_ < buckets_.size() && buckets_[taken_].front().begin >= range.begin) full.push_back(buckets_[taken_++]);
  return full;
}

std::vector<std::span<const Range>> Buckets::rest() {
  std::vector<std::span<const Range>> others = take({0, 0});
  taken_ = 0;
  return others;
}

}  // namespace odori
