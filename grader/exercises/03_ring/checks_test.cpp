// SPDX-License-Identifier: Apache-2.0
// The checks of task 3, on evidence put together here: what each misconception makes of a right all-reduce.
#include <algorithm>
#include <cmath>
#include <set>

#include "fabricated.h"
#include "large_chunks.h"
#include "observe/refusal.h"
#include "tried_numbers.h"

namespace odori::grader::test::of_ring {
namespace {

/// Of all ranks' numbers.
double all(int n, std::size_t i) {
  double sum = 0;
  for (int rank = 0; rank < n; ++rank) sum += tried_number(rank, i);
  return sum;
}

std::size_t chunk_begin(int c, int n, std::size_t length) {
  return static_cast<std::size_t>(c) * length / static_cast<std::size_t>(n);
}

/// All right: what each rank sent, and the means.
Evidence ring_on(const RunPlan& plan) {
  const int n = plan.ranks();
  const std::size_t length = std::stoul(plan.flags.back());
  const auto size_of = [&](int c) {
    return static_cast<int>(chunk_begin(c % n + 1, n, length) - chunk_begin(c % n, n, length));
  };
  Evidence evidence = right_run(plan);
  for (int rank = 0; rank < n; ++rank) {
    RankSeen& seen = evidence.ranks[static_cast<std::size_t>(rank)];
    seen.evaluations.resize(static_cast<std::size_t>(plan.epochs));
    for (int step = 0; step < 2 * (n - 1); ++step) {
      const int sent = rank + 2 * n - step + (step < n - 1 ? 0 : n);
      seen.messages.push_back({.call = "exchange",
                               .to = (rank + 1) % n,
                               .sent = size_of(sent),
                               .from = (rank + n - 1) % n,
                               .received = size_of(sent - 1),
                               .done = true});
    }
    std::vector<float>& mean = seen.values.emplace_back();
    for (std::size_t i = 0; i < length; ++i) mean.push_back(static_cast<float>(all(n, i) / n));
  }
  return evidence;
}

std::string ring(int blank, const std::function<void(Evidence&, int n)>& change) {
  return verdict_on(
      "ring", blank, [&](Evidence& evidence, const RunPlan& plan) { change(evidence, plan.ranks()); }, ring_on);
}
/// What to make of each number.
std::string numbers(int blank, const std::function<double(int rank, std::size_t i, std::size_t length, int n)>& sum) {
  return ring(blank, [&](Evidence& evidence, int n) {
    for (int rank = 0; rank < n; ++rank) {
      std::vector<float>& mean = evidence.ranks[static_cast<std::size_t>(rank)].values.back();
      for (std::size_t i = 0; i < mean.size(); ++i) mean[i] = static_cast<float>(sum(rank, i, mean.size(), n) / n);
    }
  });
}
std::string messages(int blank, const std::function<void(MessageSeen&, int rank, int n)>& change) {
  return ring(blank, [&](Evidence& evidence, int n) {
    for (int rank = 0; rank < n; ++rank)
      for (MessageSeen& message : evidence.ranks[static_cast<std::size_t>(rank)].messages) change(message, rank, n);
  });
}
/// The library stopped the run on rank 0.
std::string refused(int blank, const char* name) {
  return ring(blank, [&](Evidence& evidence, int n) {
    if (n == 1) return;
    evidence.ending = Ending::failed;
    for (RankSeen& seen : evidence.ranks) seen.values.clear();
    evidence.ranks.front().error = "A sentence of the library's, whatever it says.";
    evidence.ranks.front().events.push_back({name, {}});
  });
}

TEST(Ring, FindsNothingInARightAllReduce) {
  for (int blank = 1; blank <= 8; ++blank) EXPECT_EQ(ring(blank, [](Evidence&, int) {}), "right") << blank;
}

TEST(Ring, LetsAnyOrderOfAddingRoundAsItDoes) {
  const auto rounded = [](int, std::size_t i, std::size_t, int n) { return all(n, i) * (1 + 3e-7); };
  for (int blank = 1; blank <= 8; ++blank) EXPECT_EQ(numbers(blank, rounded), "right") << blank;
}

/// Gradients are small, and have signs.
TEST(Ring, TakesNumbersAsTheyAre) {
  const auto changed = [](int blank, double (*change)(double)) {
    return numbers(blank, [=](int, std::size_t i, std::size_t, int n) { return n * change(all(n, i) / n); });
  };
  for (const int blank : {4, 5, 7, 8}) {
    EXPECT_EQ(changed(blank, [](double x) { return std::round(1024 * x) / 1024; }), "small_numbers_wrong");
    EXPECT_EQ(changed(blank, [](double x) { return std::abs(x); }), "small_numbers_wrong");
  }
  EXPECT_EQ(changed(4, [](double) { return std::nan(""); }), "number_wrong");
}

/// What counts in 16 bits, and what keeps to the first calls.
/// Ranks within a node tell nobody apart there.
TEST(Ring, IsTriedOnNodesOfOneRankEach) {
  const auto is_one_each = [](const RunPlan& plan) {
    return plan.ranks() > 1 && std::set(plan.nodes.begin(), plan.nodes.end()).size() == plan.nodes.size();
  };
  EXPECT_GE(std::ranges::count_if(exam_of(task_named("ring")).situations, is_one_each), 1);
}

TEST(Ring, IsTriedOnManyNumbersAndOften) {
  std::size_t longest = 0;
  int epochs = 0;
  for (const RunPlan& plan : exam_of(task_named("ring")).situations) {
    if (plan.ranks() > 1) longest = std::max(longest, std::stoul(plan.flags.back()) / plan.nodes.size());
    epochs = std::max(epochs, plan.epochs);
  }
  EXPECT_GE(longest, 1u << 16);
  EXPECT_GE(epochs, 12);
}

TEST(Ring, NamesMistakesOfChunks) {
  const auto lost = [](int rank, std::size_t i, std::size_t length, int n) {
    const auto chunks = static_cast<std::size_t>(n);
    return i < length / chunks * chunks ? all(n, i) : static_cast<double>(tried_number(rank, i));
  };
  EXPECT_EQ(numbers(1, lost), "numbers_left_out");
  EXPECT_EQ(messages(1, [](MessageSeen& message, int rank, int) { message.sent += rank == 0 ? 2 : 0; }),
            "chunks_uneven");
  EXPECT_EQ(refused(1, refusal::chunk_outside), "chunk_outside");
  EXPECT_EQ(numbers(1, [](int, std::size_t, std::size_t, int) { return -1; }), "number_wrong");
}

TEST(Ring, LooksAtLargeChunks) {
  const auto at = [](std::int64_t first, std::int64_t last, std::int64_t end = 50'000'017) {
    return ring(1, [=](Evidence& evidence, int) {
      evidence.ranks.front().events = {{"large_chunk", {first, last}}, {"large_chunk", {end - 16'667, end}}};
    });
  };
  constexpr std::int64_t begin = 1942 * 12'289;
  for (const std::int64_t first : {begin, begin + 301}) EXPECT_EQ(at(first, first + 12'289), "right");
  EXPECT_EQ(at(begin, begin + 12'290), "right");
  EXPECT_EQ(at(begin, begin), "large_chunk_wrong");
  EXPECT_EQ(at(begin, begin + 12'289, 50'000'016), "large_chunk_wrong") << "the last number is in no chunk";
  const auto by = [&](auto begin_of_chunk) {
    const auto [c, n, length] = large_chunks[0];
    return at(static_cast<std::int64_t>(begin_of_chunk(c, n, length)),
              static_cast<std::int64_t>(begin_of_chunk(c + 1, n, length)));
  };
  EXPECT_EQ(by([](std::size_t c, std::size_t n, std::size_t length) { return c * length / n; }), "right");
  EXPECT_EQ(by([](auto c, auto n, auto length) { return double(c) * double(length) / double(n); }), "right");
  EXPECT_EQ(by([](auto c, auto n, auto length) { return double(c) / double(n) * double(length); }),
            "large_chunk_wrong");
  EXPECT_EQ(by([](auto c, auto n, auto length) { return float(c) / float(n) * float(length); }), "large_chunk_wrong");
  EXPECT_EQ(by([](auto c, auto n, auto length) { return std::uint32_t(c) * std::uint32_t(length) / std::uint32_t(n); }),
            "large_chunk_wrong");
  EXPECT_EQ(by([](auto c, auto n, auto length) { return std::int32_t(c * length) / std::int32_t(n); }),
            "large_chunk_wrong");
}

TEST(Ring, RefusesCollectivesButABarrierWithinTheRing) {
  const auto calls = [](const char* call) {
    return [call](Evidence& evidence, int) { evidence.ranks.back().inner_collectives = {"comm->barrier()", call}; };
  };
  for (const char* call : {"comm->sum()", "comm->all_gather()", "comm->all_reduce_mean()"})
    EXPECT_EQ(ring(4, calls(call)), "collective_in_ring") << call;
  EXPECT_EQ(ring(4, calls("comm->barrier()")), "right");
}

TEST(Ring, LooksAtATrainingToo) {
  const auto one_more = [](int from_update) {
    return [from_update](Evidence& evidence, int) {
      for (std::size_t rank = 0; rank < evidence.ranks.size(); ++rank)
        for (std::size_t i = 0; i < evidence.ranks[rank].steps.size(); ++i)
          if (static_cast<int>(i) + 1 >= from_update)
            for (float& weight : evidence.ranks[rank].steps[i][0].parameters) weight += 1e-3f * (i + 1);
    };
  };
  for (const int blank : {5, 8}) EXPECT_EQ(ring(blank, one_more(1)), "trains_otherwise");
  EXPECT_EQ(ring(8, one_more(2)), "trains_otherwise");
  const auto on_one_rank = [](Evidence& evidence, int) {
    if (!evidence.ranks.back().steps.empty()) evidence.ranks.back().steps[1][0].parameters[7] += 1e-3f;
  };
  EXPECT_EQ(ring(8, on_one_rank), "trains_otherwise");
  EXPECT_EQ(ring(8,
                 [](Evidence& evidence, int) {
                   for (RankSeen& seen : evidence.ranks) seen.evaluations.clear(), seen.observations.clear();
                 }),
            "ended_early");
}

TEST(Ring, NamesMistakesOfNeighbours) {
  EXPECT_EQ(messages(2, [](MessageSeen& message, int rank, int) { message.from = rank - 1; }), "previous_negative");
  EXPECT_EQ(messages(2, [](MessageSeen& message, int rank, int n) { message.from = (rank + 1) % n; }),
            "wrong_previous");
}

TEST(Ring, NamesMistakesOfWhichChunk) {
  const auto twice = [](int, std::size_t i, std::size_t, int n) { return all(n, i) + tried_number(0, i); };
  for (const int blank : {3, 6}) EXPECT_EQ(refused(blank, refusal::no_such_chunk), "no_such_chunk");
  for (const int blank : {3, 6}) EXPECT_EQ(refused(blank, refusal::other_length), "another_chunk_expected");
  EXPECT_EQ(numbers(3, twice), "wrong_chunk_added");
  EXPECT_EQ(numbers(6, twice), "wrong_chunk_passed_on");
}

TEST(Ring, NamesMistakesOfTheExchange) {
  const auto waiting = [](const char* call) {
    return [call](Evidence& evidence, int) {
      evidence.ending = Ending::hung;
      evidence.detail = "5";
      for (RankSeen& seen : evidence.ranks) seen.messages = {{.call = call, .to = 1, .sent = 2}};
    };
  };
  for (const int blank : {4, 7}) {
    EXPECT_EQ(ring(blank, waiting("send")), "all_send_first");
    EXPECT_EQ(ring(blank, waiting("receive")), "all_receive_first");
    EXPECT_EQ(messages(blank, [](MessageSeen& message, int rank, int n) { message.to = (rank + n - 1) % n; }),
              "sent_elsewhere");
    EXPECT_EQ(messages(blank, [](MessageSeen& message, int rank, int n) { message.from = (rank + 1) % n; }),
              "received_elsewhere");
    EXPECT_EQ(refused(blank, refusal::other_length), "lengths_do_not_match");
    EXPECT_EQ(ring(blank,
                   [](Evidence& evidence, int n) {
                     if (n > 1) evidence.ranks[1].messages.pop_back();
                   }),
              "too_few_messages");
    EXPECT_EQ(ring(blank,
                   [](Evidence& evidence, int n) {
                     if (n > 1) evidence.ranks[1].messages.push_back(evidence.ranks[1].messages.back());
                   }),
              "too_many_numbers");
  }
  const auto in_pieces_of_other_lengths = [](Evidence& evidence, int) {
    for (RankSeen& seen : evidence.ranks) {
      std::vector<MessageSeen> pieces;
      for (MessageSeen message : seen.messages) {
        const int first = message.sent / 10;
        message.sent -= first;
        pieces.push_back(message);
        message.sent = first;
        pieces.push_back(message);
      }
      seen.messages = pieces;
    }
  };
  for (const int blank : {1, 4, 7}) EXPECT_EQ(ring(blank, in_pieces_of_other_lengths), "right");
  const auto missing = [](int, std::size_t i, std::size_t, int n) { return all(n, i) - tried_number(0, i); };
  const auto twice = [](int, std::size_t i, std::size_t, int n) { return all(n, i) + tried_number(0, i); };
  EXPECT_EQ(numbers(4, missing), "other_numbers_sent");
  EXPECT_EQ(numbers(7, missing), "sum_not_stored");
  EXPECT_EQ(numbers(7, twice), "sum_added");
}

TEST(Ring, NamesMistakesOfAdding) {
  const auto first_senders = [](int, std::size_t i, std::size_t length, int n) {
    int chunk = 0;
    while (chunk_begin(chunk + 1, n, length) <= i) ++chunk;
    return static_cast<double>(tried_number(chunk, i));
  };
  const auto last_ones = [](int, std::size_t i, std::size_t length, int n) {
    int chunk = 0;
    while (chunk_begin(chunk + 1, n, length) <= i) ++chunk;
    return static_cast<double>(tried_number((chunk + n - 1) % n, i));
  };
  EXPECT_EQ(numbers(5, first_senders), "chunk_overwritten");
  EXPECT_EQ(numbers(5, last_ones), "chunk_not_added");
  EXPECT_EQ(numbers(5, [](int, std::size_t i, std::size_t, int n) { return all(n, i) + tried_number(0, i); }),
            "added_twice");
}

TEST(Ring, NamesMistakesOfTheMean) {
  EXPECT_EQ(numbers(8, [](int, std::size_t i, std::size_t, int n) { return all(n, i) * n; }), "not_divided");
  EXPECT_EQ(numbers(8, [](int, std::size_t i, std::size_t, int n) { return all(n, i) / n; }), "divided_too_often");
  EXPECT_EQ(numbers(8, [](int, std::size_t i, std::size_t, int n) { return all(n, i) * n / (n + 1); }),
            "divided_wrongly");
  const auto on_rank_0 = [](int rank, std::size_t i, std::size_t, int n) { return all(n, i) * (rank == 0 ? 1 : n); };
  EXPECT_EQ(numbers(8, on_rank_0), "divided_wrongly");
}

TEST(Ring, ShowsTheBytesThatTheBusiestRankReceived) {
  Fabricated runs(
      [](Evidence& evidence, const RunPlan& plan) {
        // One rank of five receives a chunk once more.
        if (plan.ranks() == 5) evidence.ranks[2].messages.push_back({.call = "receive", .from = 1, .received = 200});
      },
      ring_on);
  const ShownFigure shown = exam_of(task_named("ring")).shows(runs);
  using Values = std::vector<std::optional<double>>;
  ASSERT_EQ(shown.figure.curves.size(), 3u);
  EXPECT_EQ(shown.figure.x, (std::vector<double>{2, 4, 5, 8, 16, 32, 64}));
  EXPECT_EQ(shown.figure.curves[0].values, (Values{4000, 12000, 16000, 28000, 60000, 124000, 252000}));
  EXPECT_EQ(shown.figure.curves[1].values, (Values{4000, 6000, 6400, 7000, 7500, 7750, 7875}));
  EXPECT_EQ(shown.figure.curves[2].values, (Values{4000, 6000, 7200, {}, {}, {}, {}}));
  EXPECT_TRUE(shown.figure.curves[2].measured);
  for (const char* language : {"en", "ja"}) {
    const Messages messages(ODORI_FOLDER, language);
    const Figure& figure = shown.figure;
    for (const std::string& key : {figure.title, figure.text, figure.x_name, figure.y_name, figure.curves[0].name,
                                   figure.curves[1].name, figure.curves[2].name})
      EXPECT_NE(messages.text(key, shown.values), key);
  }
}

TEST(Ring, ShowsTheTimeOnSimulatedRanks) { expect_curve_of_simulation("ring", {3, 0, 2}); }

}  // namespace
}  // namespace odori::grader::test::of_ring
