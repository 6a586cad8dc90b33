#include "checks/hang.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

namespace odori::grader {
namespace {

/// Ranks, in words: "0, 2, 3".
template <typename Holds>
std::string ranks_where(const std::vector<RankSeen>& ranks, Holds holds) {
  std::vector<std::size_t> found;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank)
    if (holds(ranks[rank])) found.push_back(rank);
  return fmt::format("{}", fmt::join(found, ", "));
}

/// Where each rank waits: "0 → 1 (send)", "1 ← 0, 1 → 2 (exchange)", "2: scatter_dataset()"; empty if none waits in a
/// message.
std::string waits_in_messages(const std::vector<RankSeen>& ranks) {
  std::vector<std::string> waits;
  bool in_message = false;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const RankSeen& seen = ranks[rank];
    if (!seen.messages.empty() && !seen.messages.back().done) {
      const MessageSeen& message = seen.messages.back();
      std::vector<std::string> ways;
      if (message.to >= 0) ways.push_back(fmt::format("{} → {}", rank, message.to));
      if (message.from >= 0) ways.push_back(fmt::format("{} ← {}", rank, message.from));
      waits.push_back(fmt::format("{} ({})", fmt::join(ways, ", "), message.call));
      in_message = true;
    } else if (seen.inside_collective) {
      waits.push_back(fmt::format("{}: {}", rank, seen.collectives.back()));
    }
  }
  return in_message ? fmt::format("{}", fmt::join(waits, "; ")) : "";
}

}  // namespace

Finding find_hang(const Evidence& evidence) {
  const std::vector<RankSeen>& ranks = evidence.ranks;
  const Finding alone{"hang", {{"seconds", evidence.detail}}};
  if (const std::string waits = waits_in_messages(ranks); !waits.empty())
    return {"hang_messages", {{"seconds", evidence.detail}, {"waits", waits}}};
  const RankSeen* ahead = nullptr;
  for (const RankSeen& rank : ranks)
    if (rank.inside_collective && (!ahead || rank.collectives.size() > ahead->collectives.size())) ahead = &rank;
  if (!ahead || ranks.size() < 2) return alone;

  const std::string& call = ahead->collectives.back();
  const std::size_t n_calls = ahead->collectives.size();
  const auto is_there = [&](const RankSeen& rank) {
    return rank.inside_collective && rank.collectives.size() == n_calls && rank.collectives.back() == call;
  };
  const auto behind = std::find_if_not(ranks.begin(), ranks.end(), is_there);
  if (behind == ranks.end()) return alone;
  Finding finding{"hang_collective",
                  {{"seconds", evidence.detail},
                   {"call", call},
                   {"waiting", ranks_where(ranks, is_there)},
                   {"missing", ranks_where(ranks, [&](const RankSeen& rank) { return !is_there(rank); })}}};
  if (behind->inside_collective) {
    finding.key = "hang_two_collectives";
    finding.values["other_call"] = behind->collectives.back();
  }
  return finding;
}

std::optional<Finding> find_calls_apart(const Evidence& evidence) {
  const std::vector<RankSeen>& ranks = evidence.ranks;
  for (std::size_t position = 0;; ++position) {
    const auto calls = [&](const RankSeen& rank) { return rank.collectives.size() > position; };
    const auto one = std::find_if(ranks.begin(), ranks.end(), calls);
    if (one == ranks.end()) return {};
    const std::string& call = one->collectives[position];
    const auto calls_another = [&](const RankSeen& rank) { return calls(rank) && rank.collectives[position] != call; };
    const auto other = std::find_if(one, ranks.end(), calls_another);
    if (other == ranks.end()) continue;
    const std::string& other_call = other->collectives[position];
    const auto who_calls = [&](const std::string& name) {
      return ranks_where(ranks,
                         [&](const RankSeen& rank) { return calls(rank) && rank.collectives[position] == name; });
    };
    return Finding{
        "ranks_called_apart",
        {{"ranks", who_calls(call)}, {"call", call}, {"others", who_calls(other_call)}, {"other_call", other_call}}};
  }
}

}  // namespace odori::grader
