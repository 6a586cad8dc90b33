// SPDX-License-Identifier: Apache-2.0
// Task 3: a ring all-reduce, of messages between neighbours.
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "checks/findings.h"
#include "checks/simulated.h"
#include "large_chunks.h"
#include "observe/refusal.h"
#include "simulate_ring.h"
#include "tried_numbers.h"

namespace odori::grader {
namespace {

RunPlan trying(std::vector<int> nodes, int length) {
  return {.nodes = std::move(nodes),
          .epochs = 0,
          .most_values = static_cast<std::size_t>(length),
          .shows = 1,
          .flags = {"--epoch", "0", "--length", std::to_string(length)}};
}

// Two ranks hide which way a chunk travels; a length that the number of ranks divides hides the remainder, and a small
// remainder how it is spread; where there are fewer numbers than ranks, chunks are empty. A chunk of networks that are
// trained has more numbers than 16 bits count. What is right for up to 6 ranks by a constant isn't for 7. On nodes of
// one rank each, ranks within the node tell nobody apart.
const RunPlan plainest = trying({0, 0, 0}, 7), two = trying({0, 1}, 140'001), four = trying({0, 1, 0, 1}, 1000),
              seven = trying({0, 0, 0, 0, 0, 0, 0}, 9), long_on_five = trying({0, 0, 0, 0, 0}, 1000),
              few_numbers = trying({0, 0, 0, 1}, 3), no_number = trying({0, 1, 1}, 0), alone = trying({0}, 7);
// Tried numbers are known, and come once. A training's gradients are neither, and come more than 50 times.
const RunPlan training{.nodes = {0, 1, 1}, .epochs = 12, .flags = {"--length", "7"}};

int next_of(int rank, int n) { return (rank + 1) % n; }
int previous_of(int rank, int n) { return (rank + n - 1) % n; }

/// What the mean of `n` ranks' numbers at position i has to be.
double tried_mean(int n, std::size_t i) {
  double sum = 0;
  for (int rank = 0; rank < n; ++rank) sum += tried_number(rank, i);
  return sum / n;
}

/// How often the number of each of `n` ranks, at most 8, is in a sum at position i, up to 3 times; empty if it is no
/// sum of these, or can't be told. The numbers are different powers of 4, so that the sum's digits tell.
std::vector<int> ranks_in_sum(double sum, int n, std::size_t i) {
  if (tried_alike(i)) return {};
  const auto units_of = [i](int rank) { return std::lround(tried_number(rank, i) / tried_unit(i)); };
  sum /= tried_unit(i);
  if (!(std::abs(sum - std::round(sum)) <= 0.01) || sum < 0 || sum >= 1 << 16) return {};
  auto rest = std::lround(sum);
  std::vector<int> counts;
  for (int rank = 0; rank < n; ++rank) counts.push_back(static_cast<int>(rest / units_of(rank) % 4));
  for (int rank = 0; rank < n; ++rank) rest -= counts[static_cast<std::size_t>(rank)] * units_of(rank);
  return rest == 0 ? counts : std::vector<int>();
}

// ---- What the all-reduce left

/// A number that isn't the mean.
struct WrongNumber {
  int n = 1, rank = 0;
  std::size_t i = 0, length = 0;
  double seen = 0, mean = 0;
  std::vector<int> counts;  // how often each rank's number is in the sum; empty if it is no sum of these

  bool has_only(int other) const {
    return !counts.empty() && std::count(counts.begin(), counts.end(), 0) == n - 1 &&
           counts[static_cast<std::size_t>(other)] == 1;
  }
  bool has_some_twice() const {
    return std::any_of(counts.begin(), counts.end(), [](int count) { return count > 1; });
  }
  Found as(const char* key) const { return found(key, {{"i", i}, {"rank", rank}, {"n", n}, {"counts", list(counts)}}); }
};

/// Of all ranks, the lowest first. Nothing if some rank didn't come to its end.
std::vector<WrongNumber> wrong_numbers(const Evidence& evidence) {
  std::vector<WrongNumber> wrong;
  const int n = static_cast<int>(evidence.ranks.size());
  for (int rank = 0; rank < n; ++rank) {
    const auto& values = evidence.ranks[static_cast<std::size_t>(rank)].values;
    if (values.empty()) return {};
    for (std::size_t i = 0; i < values.back().size(); ++i) {
      const double seen = values.back()[i], mean = tried_mean(n, i);
      if (!(std::abs(seen - mean) <= 1e-5 * std::abs(mean)))
        wrong.push_back({n, rank, i, values.back().size(), seen, mean, ranks_in_sum(seen * n, n, i)});
    }
  }
  return wrong;
}

/// Where many are averaged, are those alone wrong that are small and below 0?
Found find_in_small_numbers(const Situation& situation) {
  const auto is_small = [](const WrongNumber& number) { return tried_unit(number.i) != 1; };
  const auto wrong = wrong_numbers(situation.evidence());
  if (wrong.empty() || !is_small(wrong.front())) return {};
  const auto of_many = wrong_numbers(situation.runs.of(four));
  if (of_many.empty() || !std::ranges::all_of(of_many, is_small)) return {};
  const WrongNumber& first = wrong.front();
  return found("small_numbers_wrong", {{"i", first.i},
                                       {"rank", first.rank},
                                       {"seen", fmt::format("{:g}", first.seen)},
                                       {"expected", fmt::format("{:g}", first.mean)}});
}

Found find_wrong_number(const Situation& situation) {
  const auto wrong = wrong_numbers(situation.evidence());
  if (wrong.empty()) return {};
  if (Found small = find_in_small_numbers(situation)) return small;
  const WrongNumber& first = wrong.front();
  if (!first.counts.empty()) return first.as("ranks_miscounted");
  return found(
      "number_wrong",
      {{"i", first.i}, {"rank", first.rank}, {"seen", measured(first.seen, first.mean)}, {"expected", first.mean}});
}

/// A wrong number, told by `key` if it is a sum of some ranks' numbers.
Found find_miscounted(const Situation& situation, const char* key) {
  if (Found small = find_in_small_numbers(situation)) return small;
  const auto wrong = wrong_numbers(situation.evidence());
  if (wrong.empty() || wrong.front().counts.empty()) return find_wrong_number(situation);
  return wrong.front().as(key);
}

// ---- Anyone's

/// A rank's: n - 1 while adding, and n - 1 while gathering.
int messages_of_ring(const RunPlan& plan) { return 2 * (plan.ranks() - 1); }

int messages_sent(const RankSeen& rank) {
  const auto sends = [](const MessageSeen& message) { return message.call != "receive"; };
  return static_cast<int>(std::count_if(rank.messages.begin(), rank.messages.end(), sends));
}

/// Numbers travel by messages between neighbours alone. A barrier moves none.
Found find_inner_collective(const Situation& situation) {
  const auto& ranks = situation.evidence().ranks;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank)
    for (const std::string& call : ranks[rank].inner_collectives)
      if (call != "comm->barrier()") return found("collective_in_ring", {{"rank", rank}, {"call", call}});
  return {};
}

Found find_in_training(const Situation& situation) {
  if (situation.plan.epochs == 0) return {};
  if (Found early = find_early_end(situation)) return early;
  const Updates updates = updates_of_ranks(situation.evidence());
  const auto otherwise = [&](int update) {
    return found("trains_otherwise", {{"update", update}, {"parameters", situation.data().parameters}});
  };
  if (const auto apart = find_disagreement(updates)) return otherwise(apart->update);
  if (const auto wrong = find_wrong_weights(situation.data(), situation.plan, updates)) return otherwise(wrong->update);
  return {};
}

// ---- Blank 1: chunks

/// Where numbers of 16 or 32 bits don't suffice, and fractions are rounded.
Found find_in_large_chunk(const Evidence& evidence) {
  for (const RankSeen& rank : evidence.ranks) {
    const LargeChunk* large = std::begin(large_chunks);
    for (const facts::Event& event : rank.events) {
      if (event.what != "large_chunk" || event.about.size() != 2 || large == std::end(large_chunks)) continue;
      const auto [c, n, length] = *large++;
      const auto first = static_cast<std::size_t>(event.about[0]), last = static_cast<std::size_t>(event.about[1]);
      const bool is_even = last - first == length / n || last - first == length / n + 1;
      const bool is_end = c + 1 < n ? last <= length : last == length;
      if (is_even && is_end && first >= c * (length / n)) continue;
      return found("large_chunk_wrong",
                   {{"c", c}, {"n", n}, {"length", length}, {"first", event.about[0]}, {"last", event.about[1]}});
    }
  }
  return {};
}

Found find_in_chunks(const Situation& situation) {
  const Evidence& evidence = situation.evidence();
  if (Found outside = find_refused(evidence, refusal::chunk_outside)) return outside;
  if (const auto wrong = wrong_numbers(evidence); !wrong.empty()) {
    const WrongNumber& first = wrong.front();
    const auto nobody_elses = [](const WrongNumber& number) {
      return number.has_only(number.rank) || tried_alike(number.i);
    };
    const auto of_this_rank =
        std::count_if(wrong.begin(), wrong.end(), [&](const auto& w) { return w.rank == first.rank; });
    if (std::all_of(wrong.begin(), wrong.end(), nobody_elses))
      return found("numbers_left_out", {{"left", of_this_rank}, {"length", first.length}, {"n", first.n}});
    return find_wrong_number(situation);
  }
  if (situation.plan.epochs > 0) return {};  // numbers of several lengths were averaged
  int shortest = std::numeric_limits<int>::max(), longest = 0;
  for (const RankSeen& rank : evidence.ranks)
    for (const MessageSeen& message : rank.messages)
      if (message.to >= 0 && messages_sent(rank) == messages_of_ring(situation.plan)) {  // a chunk each
        shortest = std::min(shortest, message.sent);
        longest = std::max(longest, message.sent);
      }
  if (shortest < longest - 1) return found("chunks_uneven", {{"shortest", shortest}, {"longest", longest}});
  // Last, since small chunks tell better what is wrong.
  return situation.plan == no_number ? find_in_large_chunk(evidence) : Found();
}

// ---- Blank 2: the neighbours

Found find_in_previous(const Situation& situation) {
  const auto& ranks = situation.evidence().ranks;
  const int n = static_cast<int>(ranks.size());
  for (int rank = 0; rank < n; ++rank)
    for (const MessageSeen& message : ranks[static_cast<std::size_t>(rank)].messages) {
      const bool receives = message.call != "send";
      if (!receives || message.from == previous_of(rank, n)) continue;
      return found(message.from < 0 ? "previous_negative" : "wrong_previous",
                   {{"rank", rank}, {"seen", message.from}, {"expected", previous_of(rank, n)}, {"n", n}});
    }
  return {};
}

// ---- Blanks 3 and 6: which chunk

Found find_in_sent_chunk(const Situation& situation, const char* key) {
  if (Found none = find_refused(situation.evidence(), refusal::no_such_chunk)) return none;
  if (Found other = find_refused(situation.evidence(), refusal::other_length, "another_chunk_expected")) return other;
  return find_miscounted(situation, key);
}
Found find_in_added_chunk(const Situation& situation) { return find_in_sent_chunk(situation, "wrong_chunk_added"); }
Found find_in_passed_chunk(const Situation& situation) {
  return find_in_sent_chunk(situation, "wrong_chunk_passed_on");
}

// ---- Blanks 4 and 7: the exchange

/// All ranks wait in the same call, each for another that waits too.
Found find_deadlock(const Evidence& evidence) {
  const auto all_wait_in = [&](const char* call) {
    return std::all_of(evidence.ranks.begin(), evidence.ranks.end(), [&](const RankSeen& rank) {
      return !rank.messages.empty() && !rank.messages.back().done && rank.messages.back().call == call;
    });
  };
  if (evidence.ending != Ending::hung || evidence.ranks.empty()) return {};
  if (all_wait_in("send")) return found("all_send_first", {{"n", evidence.ranks.size()}});
  if (all_wait_in("receive")) return found("all_receive_first", {{"n", evidence.ranks.size()}});
  return {};
}

Found find_in_messages(const Situation& situation) {
  const Evidence& evidence = situation.evidence();
  const int n = static_cast<int>(evidence.ranks.size());
  if (Found deadlock = find_deadlock(evidence)) return deadlock;
  for (int rank = 0; rank < n; ++rank)
    for (const MessageSeen& message : evidence.ranks[static_cast<std::size_t>(rank)].messages) {
      if (message.call != "receive" && message.to != next_of(rank, n))
        return found("sent_elsewhere", {{"rank", rank}, {"to", message.to}, {"next", next_of(rank, n)}});
      if (message.call != "send" && message.from != previous_of(rank, n))
        return found("received_elsewhere",
                     {{"rank", rank}, {"from", message.from}, {"previous", previous_of(rank, n)}});
    }
  if (Found lengths = find_refused(evidence, refusal::other_length, "lengths_do_not_match")) return lengths;
  if (evidence.ending != Ending::finished || situation.plan.epochs > 0) return {};
  const int expected = messages_of_ring(situation.plan);
  std::size_t sent = 0;
  for (int rank = 0; rank < n; ++rank) {
    const RankSeen& seen = evidence.ranks[static_cast<std::size_t>(rank)];
    if (const int messages = messages_sent(seen); messages < expected)
      return found("too_few_messages", {{"rank", rank}, {"seen", messages}, {"expected", expected}, {"n", n}});
    for (const MessageSeen& message : seen.messages) sent += static_cast<std::size_t>(std::max(message.sent, 0));
  }
  // In how many pieces a chunk travels is free.
  const std::size_t length = evidence.ranks.front().values.empty() ? 0 : evidence.ranks.front().values.back().size();
  if (const std::size_t enough = static_cast<std::size_t>(expected) * length; sent > enough)
    return found("too_many_numbers", {{"seen", sent}, {"expected", enough}, {"n", n}, {"length", length}});
  return {};
}

Found find_in_exchange(const Situation& situation) {
  const Found wrong = find_in_messages(situation);
  return wrong ? wrong : find_miscounted(situation, "other_numbers_sent");
}

Found find_in_passing_on(const Situation& situation) {
  if (Found wrong = find_in_messages(situation)) return wrong;
  if (Found small = find_in_small_numbers(situation)) return small;
  const auto wrong = wrong_numbers(situation.evidence());
  if (wrong.empty() || wrong.front().counts.empty()) return find_wrong_number(situation);
  return wrong.front().as(wrong.front().has_some_twice() ? "sum_added" : "sum_not_stored");
}

// ---- Blank 5: adding

Found find_in_adding(const Situation& situation) {
  if (Found small = find_in_small_numbers(situation)) return small;
  const auto wrong = wrong_numbers(situation.evidence());
  if (wrong.empty() || wrong.front().counts.empty()) return find_wrong_number(situation);
  const WrongNumber& first = wrong.front();
  // Where nothing is kept of what was there, the first sender's numbers travel on alone: chunk c begins its way at rank
  // c.
  const std::size_t chunks = static_cast<std::size_t>(first.n);
  int chunk = 0;
  while ((static_cast<std::size_t>(chunk) + 1) * first.length / chunks <= first.i) ++chunk;
  if (first.has_only(chunk)) return first.as("chunk_overwritten");
  return first.as(first.has_some_twice() ? "added_twice" : "chunk_not_added");
}

// ---- Blank 8: the mean

Found find_in_division(const Situation& situation) {
  if (Found small = find_in_small_numbers(situation)) return small;
  const auto wrong = wrong_numbers(situation.evidence());
  if (wrong.empty()) return {};
  const int n = wrong.front().n;
  const auto all_are = [&](double factor) {
    return wrong.size() == static_cast<std::size_t>(n) * wrong.front().length &&
           std::all_of(wrong.begin(), wrong.end(), [&](const WrongNumber& number) {
             return std::abs(number.seen - factor * number.mean) <= 1e-5 * std::abs(factor * number.mean);
           });
  };
  if (n > 1 && all_are(n)) return found("not_divided", {{"n", n}});
  if (all_are(0)) return found("mean_is_zero", {{"n", n}});
  for (int power = 1; n > 1 && power <= 2 * n; ++power)
    if (all_are(std::pow(n, -power))) return found("divided_too_often", {{"n", n}, {"times", power + 1}});
  const WrongNumber& first = wrong.front();
  return found("divided_wrongly", {{"i", first.i},
                                   {"rank", first.rank},
                                   {"n", n},
                                   {"sum", fmt::format("{:g}", first.mean * n)},
                                   {"seen", fmt::format("{:g}", first.seen)},
                                   {"expected", fmt::format("{:g}", first.mean)}});
}

// ---- What a right answer shows

/// How many numbers the rank received that received the most, for each of those that it averaged.
double received_by_busiest(const Evidence& evidence) {
  int most = 0;
  for (const RankSeen& rank : evidence.ranks) {
    int received = 0;
    for (const MessageSeen& message : rank.messages) received += std::max(message.received, 0);
    most = std::max(most, received);
  }
  return most / static_cast<double>(evidence.ranks.front().values.back().size());
}

ShownFigure bytes_into_busiest_rank(Runs& runs) {
  const std::vector<RunPlan> tried{two, four, long_on_five};
  Curve gathered{.name = "busiest_gathers"}, ring{.name = "busiest_in_a_ring"},
      learners{.name = "busiest_in_yours", .measured = true};
  const std::vector<double> ranks{2, 4, 5, 8, 16, 32, 64};
  constexpr double bytes = 1000 * sizeof(float);
  for (const double n : ranks) {
    gathered.values.emplace_back((n - 1) * bytes);
    ring.values.emplace_back(2 * (n - 1) / n * bytes);
    const auto plan = std::find_if(tried.begin(), tried.end(), [&](const auto& p) { return p.ranks() == n; });
    learners.values.push_back(plan == tried.end() ? std::nullopt
                                                  : std::optional(received_by_busiest(runs.of(*plan)) * bytes));
  }
  return {{"busiest_rank", "busiest_rank_is", "busiest_ranks", "busiest_bytes", ranks, {gathered, ring, learners}}, {}};
}

/// The learner's all-reduce on simulated ranks, next to the kit's tree.
std::optional<ShownFigure> time_on_simulated_ranks(Runs& whole) {
  constexpr double bytes = 60e6;
  const auto simulated = simulate_whole(whole, alone, {.model = "vgg", .gradient_bytes = bytes});
  if (!simulated) return {};
  return ShownFigure{{"ring_simulated",
                      "ring_simulated_is",
                      "busiest_ranks",
                      "ring_simulated_ms",
                      simulated->ranks,
                      {{"ring_simulated_ring_formula", simulated->of(RingCurve::ring_formula)},
                       {"ring_simulated_yours", simulated->of(RingCurve::learners), true},
                       {"ring_simulated_tree", simulated->of(RingCurve::kits_tree), true}}},
                     {{"megabytes", fmt::format("{:.0f}", bytes / 1e6)}}};
}

}  // namespace

Exam exam_of_ring() {
  return {{plainest, two, four, seven, long_on_five, few_numbers, no_number, alone, training},
          {{0, "NumbersTravelByMessages", find_inner_collective},
           {8, "SumIsDividedOnce", find_in_division},
           {1, "ChunksHoldAllNumbers", find_in_chunks},
           {2, "PreviousRankSends", find_in_previous},
           {3, "EveryRankIsAddedOnce", find_in_added_chunk},
           {4, "EveryRankSendsAndReceives", find_in_exchange},
           {5, "WhatArrivesIsAdded", find_in_adding},
           {6, "SumsTravelOn", find_in_passed_chunk},
           {7, "SumsAreStored", find_in_passing_on},
           {0, "AllNumbersAreMeans", find_wrong_number},
           {0, "TrainsWithTheMean", find_in_training},
           {0, "ShowsItsNumbers", find_no_values},
           {0, "EvidenceIsOfTheProgram", find_forgery}},
          bytes_into_busiest_rank,
          time_on_simulated_ranks};
}

}  // namespace odori::grader
