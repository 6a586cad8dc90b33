// SPDX-License-Identifier: Apache-2.0
// Blanks 1 to 3 of task 5: what is sent in which order, and who waits for it.
#include <algorithm>

#include "ways_seen.h"

namespace odori::grader::overlap {

// ---- Blank 1: the buckets

Found find_in_order(const Situation& situation) {
  if (Found refused = find_refused(situation)) return refused;
  return first_of_ranks(situation, overlapped, [](const Tried& tried, const WaySeen& seen, int rank) -> Found {
    if (seen.iterations.empty()) return {};
    const std::vector<Range> started = started_in(seen.iterations.front().during);
    int left_out = 0, twice = 0;
    for (const Range& parameter : tried.parameters) {
      const auto times = std::ranges::count_if(
          started, [&](const Range& range) { return range.begin <= parameter.begin && parameter.end <= range.end; });
      left_out += times == 0 ? 1 : 0, twice += times > 1 ? 1 : 0;
    }
    const std::size_t n = tried.parameters.size();
    if (left_out + twice > 0) return found("not_each_once", {{"left", left_out}, {"twice", twice}, {"n", n}});
    if (std::ranges::equal(started, tried.buckets, same)) return {};
    const auto by_begin = [](const Range& a, const Range& b) { return a.begin < b.begin; };
    const bool forwards = std::ranges::is_sorted(started, by_begin);
    return found(forwards ? "forwards" : "another_order",
                 {{"seen", started.front().begin}, {"size", tried.size()}, {"rank", rank}});
  });
}

// ---- Blank 2: when buckets start

namespace {

/// Of one iteration.
Found find_in_starts(const Tried& tried, const Iteration& iteration, int k) {
  std::vector<std::size_t> starts(tried.buckets.size());  // how often each was started
  std::size_t final_from = tried.size(), late = 0;
  bool all_at_the_end = true;
  const auto is_final = [&](const Range& bucket) { return bucket.begin >= final_from; };
  const auto tell = [&](const char* key, const Range& of) {
    return found(key, {{"begin", of.begin}, {"end", of.end}, {"from", final_from}, {"k", k}});
  };
  const auto count_late = [&] {
    for (std::size_t b = 0; b < starts.size(); ++b) late += is_final(tried.buckets[b]) && starts[b] == 0 ? 1 : 0;
  };
  for (const facts::Event& event : iteration.during) {
    if (event.what == "wait") return found("waits_in_backward", {{"k", k}});
    if (event.what == "final" || event.what == "finish") count_late();
    if (event.what == "final") final_from = range_of(event).begin;
    if (event.what != "start") continue;
    const Range range = range_of(event);
    const auto bucket = std::ranges::find_if(tried.buckets, [&](const Range& each) { return same(each, range); });
    if (!is_final(range)) return tell("starts_too_early", range);
    if (bucket == tried.buckets.end()) return tell("starts_no_bucket", range);
    if (++starts[static_cast<std::size_t>(bucket - tried.buckets.begin())] > 1) return tell("starts_twice", range);
    all_at_the_end &= final_from == 0;
  }
  const auto never = std::ranges::find(starts, 0u);
  if (never != starts.end())
    return tell("never_starts", tried.buckets[static_cast<std::size_t>(never - starts.begin())]);
  if (late == 0) return {};
  return found(all_at_the_end ? "starts_after_backward" : "starts_late", {{"k", k}, {"n", starts.size()}});
}

}  // namespace

Found find_in_starting(const Situation& situation) {
  if (Found refused = find_refused(situation)) return refused;
  return first_of_ranks(situation, overlapped, [](const Tried& tried, const WaySeen& seen, int) -> Found {
    for (std::size_t k = 0; k < seen.iterations.size(); ++k)
      if (Found wrong = find_in_starts(tried, seen.iterations[k], static_cast<int>(k))) return wrong;
    return {};
  });
}

// ---- Blank 3: behind backward

Found find_in_finishing(const Situation& situation) {
  return first_of_ranks(situation, overlapped, [](const Tried& tried, const WaySeen& seen, int) -> Found {
    for (std::size_t k = 0; k < seen.iterations.size(); ++k) {
      const Iteration& iteration = seen.iterations[k];
      const std::size_t started = started_in(iteration.during).size();
      if (!started_in(iteration.after).empty()) return found("starts_again", {{"k", k}});
      if (started < tried.buckets.size())
        return found("next_iteration_lacks_buckets", {{"k", k}, {"seen", started}, {"expected", tried.buckets.size()}});
      // Alone, a rank has nobody to wait for.
      if (tried.n > 1 && !has(iteration.after, "wait")) return found("update_without_wait", {{"k", k}});
    }
    return {};
  });
}

}  // namespace odori::grader::overlap
