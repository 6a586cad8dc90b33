// SPDX-License-Identifier: Apache-2.0
// The virtual clock: its times against closed forms, the values it exchanges, and how it ends.
#include "simulate/simulate.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <fstream>
#include <numeric>
#include <set>
#include <stdexcept>
#include <vector>

#include "comm/cost.h"
#include "errors/error.h"
#include "sentence_of.h"

namespace odori::simulate {
namespace {

using cost::Cluster;
using cost::Link;

constexpr Link slow{.latency = 1e-3, .bandwidth = 1e6}, quick{.latency = 1e-5, .bandwidth = 1e8};
constexpr Link free_link{.latency = 0, .bandwidth = 1e300};

Cluster nodes(int n) { return {.nodes = n, .within = quick, .between = slow}; }
Cluster one_node(int n) { return {.ranks_per_node = n, .within = quick, .between = slow}; }

/// Simulated times are sums of steps; closed forms are products.
void expect_equal_times(double simulated, double predicted) { EXPECT_NEAR(simulated, predicted, 1e-11 * predicted); }

/// As lib/comm/ring.cpp.
void ring_all_reduce(Rank& rank, std::span<float> values) {
  const int n = rank.size(), right = (rank.rank() + 1) % n, left = (rank.rank() + n - 1) % n;
  const std::size_t length = values.size() / static_cast<std::size_t>(n);
  const auto chunk = [&](int c) { return values.subspan(static_cast<std::size_t>((c + 2 * n) % n) * length, length); };
  std::vector<float> received(length);
  for (int s = 0; s < n - 1; ++s) {
    const auto sum = chunk(rank.rank() - s - 1);
    rank.exchange(chunk(rank.rank() - s), right, received, left);
    std::transform(sum.begin(), sum.end(), received.begin(), sum.begin(), std::plus<>());
  }
  for (int s = 0; s < n - 1; ++s) rank.exchange(chunk(rank.rank() + 1 - s), right, chunk(rank.rank() - s), left);
}

/// Runs the ring with `length` floats in each chunk, and checks its values, bytes, messages and time.
void expect_ring(const Cluster& cluster, std::size_t length) {
  SCOPED_TRACE(fmt::format("{} nodes of {} ranks", cluster.nodes, cluster.ranks_per_node));
  const auto n = static_cast<std::size_t>(cluster.ranks());
  std::vector<std::vector<float>> values(n, std::vector<float>(n * length));
  for (std::size_t r = 0; r < n; ++r) std::iota(values[r].begin(), values[r].end(), static_cast<float>(r));
  const Result result =
      run(cluster, [&](Rank& rank) { ring_all_reduce(rank, values[static_cast<std::size_t>(rank.rank())]); });

  std::vector<float> sums(n * length);  // integers: exact in any order
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] = static_cast<float>(n * i + n * (n - 1) / 2);
  for (const auto& of_rank : values) ASSERT_TRUE(of_rank == sums);
  expect_equal_times(result.seconds,
                     cost::all_reduce("ring", cluster, {.bytes = static_cast<double>(4 * n * length)}).value());
  for (const Totals& totals : result.ranks) {
    ASSERT_EQ(totals.messages_sent, 2 * (n - 1));
    ASSERT_EQ(totals.bytes_sent, 2 * (n - 1) * length * sizeof(float));
    ASSERT_NEAR(totals.busy + totals.communicating + totals.idle, result.seconds, 1e-9 * result.seconds);
  }
}

TEST(Simulate, RingAllReduceTakesWhatTheClosedFormSays) {
  for (int n = 2; n <= 8; ++n) {
    expect_ring(nodes(n), 100);
    expect_ring(one_node(n), 100);
  }
  expect_ring({.nodes = 3, .ranks_per_node = 4, .within = quick, .between = slow}, 100);
}

TEST(Simulate, RunsARingOf1024Ranks) {
  rusage before{}, after{};
  getrusage(RUSAGE_SELF, &before);
  const auto begin = std::chrono::steady_clock::now();
  expect_ring({.nodes = 128, .ranks_per_node = 8, .within = quick, .between = slow}, 2);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  getrusage(RUSAGE_SELF, &after);
  RecordProperty("seconds", std::to_string(seconds.count()));
  RecordProperty("KiB", std::to_string(after.ru_maxrss - before.ru_maxrss));
  EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 512 * 1024) << "KiB";
}

TEST(Simulate, RanksOfANodeShareItsCard) {
  const Cluster two_by_two{.nodes = 2, .ranks_per_node = 2, .within = quick, .between = slow};
  // Ranks 0 and 1 send 2000 bytes each to ranks 2 and 3: the card sends one after the other.
  const auto times = [](const Cluster& cluster, int from_0, int from_1, int to_2, int to_3) {
    std::vector<double> ends(4);
    run(cluster, [&](Rank& rank) {
      const int r = rank.rank();
      if (r < 2) rank.send(Bytes{2000}, r == 0 ? from_0 : from_1);
      if (r >= 2) rank.receive(Bytes{2000}, r == 2 ? to_2 : to_3);
      ends[static_cast<std::size_t>(r)] = rank.now();
    });
    return ends;
  };
  const auto shared = times(two_by_two, 2, 3, 0, 1);
  EXPECT_DOUBLE_EQ(shared[2], 3e-3);
  EXPECT_DOUBLE_EQ(shared[3], 5e-3) << "2 ms later, and the latency once";
  EXPECT_DOUBLE_EQ(shared[1], 5e-3) << "a send returns when its message has arrived";
  const auto apart = times(nodes(4), 2, 3, 0, 1);
  EXPECT_DOUBLE_EQ(apart[2], 3e-3);
  EXPECT_DOUBLE_EQ(apart[3], 3e-3) << "cards of different nodes";
}

TEST(Simulate, ACardSendsOneMessageAtATimeAndReceivesOne) {
  const Cluster cluster{.nodes = 3, .ranks_per_node = 2, .within = quick, .between = slow};
  // From one node to two others, and from two to one.
  for (const auto& pairs :
       {std::array{std::pair(0, 2), std::pair(1, 4)}, std::array{std::pair(2, 0), std::pair(4, 1)}}) {
    const Result result = run(cluster, [&](Rank& rank) {
      for (const auto& [from, to] : pairs) {
        if (rank.rank() == from) rank.send(Bytes{2000}, to);
        if (rank.rank() == to) rank.receive(Bytes{2000}, from);
      }
    });
    EXPECT_DOUBLE_EQ(result.seconds, 5e-3);
    const Totals& second = result.ranks[static_cast<std::size_t>(pairs[1].first)];
    EXPECT_DOUBLE_EQ(second.idle, 2e-3) << "until the card is free";
    EXPECT_DOUBLE_EQ(second.communicating, 3e-3);
  }
}

TEST(Simulate, TreeAllReduceTakesWhatTheClosedFormSays) {
  constexpr std::size_t bytes = 8000;
  for (const auto& [n_nodes, per_node] : {std::pair(4, 1), std::pair(2, 2), std::pair(2, 4), std::pair(1, 8)}) {
    const Cluster cluster{.nodes = n_nodes, .ranks_per_node = per_node, .within = quick, .between = slow};
    const Result result = run(cluster, [](Rank& rank) {
      std::size_t part = bytes / 2;
      std::vector<std::pair<int, std::size_t>> steps;
      for (int distance = 1; distance < rank.size(); distance *= 2, part /= 2)
        steps.emplace_back(rank.rank() ^ distance, part);
      for (const auto& [peer, length] : steps) rank.exchange(Bytes{length}, peer, Bytes{length}, peer);
      std::reverse(steps.begin(), steps.end());
      for (const auto& [peer, length] : steps) rank.exchange(Bytes{length}, peer, Bytes{length}, peer);
    });
    // The closed form lets all ranks wait for the last message of a step. Here a shared card begins the next step while
    // that message is on its way, which hides one latency between the two steps over the network.
    const double hidden = n_nodes > 1 && per_node > 1 ? slow.latency : 0;
    expect_equal_times(result.seconds, cost::all_reduce("tree", cluster, {.bytes = bytes}).value() - hidden);
  }
}

TEST(Simulate, AParameterServerServesTheFirstSender) {
  // Workers 1 to 4 on one node, 3 the slowest. Each sends its rank twice, and receives how many came before.
  std::vector<int> order;
  std::vector<std::vector<float>> received(5);
  run({.ranks_per_node = 5, .within = free_link},
      [&](Rank& rank) {
        float value = static_cast<float>(rank.rank());
        if (rank.rank() == 0) {
          for (float served = 0; served < 8; ++served) {
            const int from = rank.receive_any(std::span(&value, 1), 7);
            EXPECT_EQ(value, static_cast<float>(from));
            order.push_back(from);
            rank.send(std::span<const float>(&served, 1), from, 7);
          }
          return;
        }
        for (int i = 0; i < 2; ++i) {
          value = static_cast<float>(rank.rank());
          rank.compute(1, "backward");
          rank.send(std::span<const float>(&value, 1), 0, 7);
          rank.receive(std::span(&value, 1), 0, 7);
          received[static_cast<std::size_t>(rank.rank())].push_back(value);
        }
      },
      {.slowdown = {1, 1, 1.25, 3, 1}});
  EXPECT_EQ(order, (std::vector<int>{1, 4, 2, 1, 4, 2, 3, 3})) << "by time, and by rank at the same time";
  EXPECT_EQ(received[3], (std::vector<float>{6, 7}));
}

TEST(Simulate, ReceiveAnyTakesTheFirstSendAndThenTheLowestRank) {
  std::vector<int> order;
  run(one_node(5), [&](Rank& rank) {
    if (rank.rank() == 0) {
      rank.compute(1);
      for (int i = 1; i < 5; ++i) order.push_back(rank.receive_any(Bytes{4}));
    } else {
      rank.compute(rank.rank() == 1 ? 0.3 : rank.rank() == 4 ? 0.1 : 0.2);
      rank.send(Bytes{4}, 0);
    }
  });
  EXPECT_EQ(order, (std::vector<int>{4, 2, 3, 1}));
}

TEST(Simulate, APipelineOfBlockingSendsTakesTheTimeOfItsSlowestCycle) {
  // 4 stages, m micro-batches. A middle stage receives, computes and sends one after the other: f + 2 c a micro-batch.
  constexpr int stages = 4, m = 6;
  constexpr double f = 0.01;
  const double c = slow.message(3000);
  const Result result = run(nodes(stages), [](Rank& rank) {
    for (int i = 0; i < m; ++i) {
      if (rank.rank() > 0) rank.receive(Bytes{3000}, rank.rank() - 1);
      rank.compute(f, "forward");
      if (rank.rank() + 1 < rank.size()) rank.send(Bytes{3000}, rank.rank() + 1);
    }
  });
  expect_equal_times(result.seconds, stages * f + (stages - 1) * c + (m - 1) * (f + 2 * c));
  for (const Totals& totals : result.ranks) EXPECT_NEAR(totals.busy, m * f, 1e-12);
}

TEST(Simulate, AStragglerIsWaitedFor) {
  const Result result = run(one_node(3),
                            [](Rank& rank) {
                              rank.compute(0.1);
                              const int right = (rank.rank() + 1) % 3, left = (rank.rank() + 2) % 3;
                              rank.exchange(Bytes{0}, right, Bytes{0}, left);
                            },
                            {.slowdown = {1, 2.5, 1}, .events = true});
  EXPECT_DOUBLE_EQ(result.seconds, 0.25 + quick.latency);
  EXPECT_DOUBLE_EQ(result.ranks[1].busy, 0.25);
  EXPECT_DOUBLE_EQ(result.ranks[1].idle, 0);
  EXPECT_DOUBLE_EQ(result.ranks[0].busy, 0.1);
  EXPECT_NEAR(result.ranks[0].communicating, 2 * quick.latency, 1e-12) << "2 -> 0 at 0.1 s, 0 -> 1 at 0.25 s";
  const Event last = result.events.back();
  EXPECT_STREQ(last.name, "exchange");
  EXPECT_EQ(last.end, result.seconds);
  EXPECT_EQ(result.events.size(), 6u);
}

TEST(Simulate, MessagesAreMatchedByTag) {
  float first = 1, second = 2, a = 0, b = 0;
  const auto one = [](auto& value) { return std::span(&value, 1); };
  run(one_node(3), [&](Rank& rank) {
    if (rank.rank() == 0) rank.send(one(first), 2, 1);
    if (rank.rank() == 1) rank.compute(1), rank.send(one(second), 2, 2);
    if (rank.rank() == 2) rank.receive_any(one(b), 2), rank.receive_any(one(a), 1);
  });
  EXPECT_EQ(a, 1);
  EXPECT_EQ(b, 2);
}

TEST(Simulate, AnExchangeWithItselfCopies) {
  std::vector<float> from{1, 2}, to(2);
  const Result result = run(one_node(1), [&](Rank& rank) { rank.exchange(from, 0, to, 0); });
  EXPECT_EQ(to, from);
  EXPECT_EQ(result.seconds, 0);
}

TEST(Simulate, TwoRunsGiveTheSameTimesAndOrder) {
  const auto once = [] {
    return run({.nodes = 2, .ranks_per_node = 4, .within = quick, .between = slow},
               [](Rank& rank) {
                 for (int i = 0; i < 20; ++i) {
                   rank.compute(1e-3 * ((rank.rank() * 7 + i * 3) % 5));
                   if (rank.rank() == 0)
                     for (int worker = 1; worker < rank.size(); ++worker) rank.receive_any(Bytes{500});
                   else
                     rank.send(Bytes{500}, 0);
                 }
               },
               {.events = true});
  };
  const Result one = once(), other = once();
  EXPECT_EQ(one.seconds, other.seconds);
  EXPECT_EQ(one.events, other.events);
  EXPECT_EQ(one.events.size(), 8 * 20 + 2 * 7 * 20u);
}

TEST(Simulate, ADeadlockNamesWhoWaitsForWhom) {
  EXPECT_SENTENCE(run(one_node(2), [](Rank& rank) { rank.receive(Bytes{4}, 1 - rank.rank(), 3); }),
                  "Rank 0 waits in receive from 1 (tag 3), rank 1 in receive from 0 (tag 3).");
  const auto send_first = [](Rank& rank) {
    rank.send(Bytes{4}, (rank.rank() + 1) % rank.size());
    rank.receive(Bytes{4}, (rank.rank() + rank.size() - 1) % rank.size());
  };
  EXPECT_SENTENCE(run(one_node(3), send_first),
                  "Rank 0 waits in send to 1 (tag 0), rank 1 in send to 2 (tag 0), rank 2");
  EXPECT_SENTENCE(run(one_node(1024), send_first), "Ranks 0-1023 wait in send to rank + 1 (tag 0).");
  EXPECT_SENTENCE(
      run(one_node(8),
          [](Rank& rank) {
            if (rank.rank() == 2 || rank.rank() == 3) return;
            if (rank.rank() == 0) rank.receive_any(Bytes{4}, 1);
            rank.send(Bytes{4}, 0, 2);
          }),
      "Rank 0 waits in receive from any rank (tag 1), rank 1 in send to 0 (tag 2), ranks 4-7 in send to 0 (tag "
      "2). Ended: ranks 2-3. A send waits");
  EXPECT_SENTENCE(run(one_node(4),
                      [](Rank& rank) {
                        if (rank.rank() == 0) rank.exchange(Bytes{4}, 1, Bytes{4}, 3);
                        if (rank.rank() == 1) rank.receive(Bytes{4}, 0);
                      }),
                  "Rank 0 waits in exchange: receive from 3 (tag 0). Ended: ranks 1-3.");
}

TEST(Simulate, AnExceptionNamesItsRankAndUnwindsTheOthers) {
  int alive = 0;
  struct Counted {
    int& alive;
    explicit Counted(int& count) : alive(count) { ++alive; }
    ~Counted() { --alive; }
  };
  const auto failing = [&](auto&& error) {
    return [&alive, error](Rank& rank) {
      const Counted counted(alive);
      if (rank.rank() == 2) {
        rank.compute(1);
        throw error;
      }
      rank.receive_any(Bytes{4});
      ADD_FAILURE() << "nothing was sent";
    };
  };
  EXPECT_SENTENCE(run(one_node(5), failing(std::runtime_error("no memory"))), "Rank 2: no memory");
  EXPECT_SENTENCE(run(one_node(5), failing(7)), "Rank 2: It threw");
  EXPECT_EQ(alive, 0);
  try {
    run(one_node(5), failing(Error("blank 1", exit_code::unfilled)));
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), exit_code::unfilled);
  }
}

TEST(Simulate, ARankMayWaitWhileItHandlesAnException) {
  std::vector<std::string> caught(2);
  run(one_node(2), [&](Rank& rank) {
    const std::string own = rank.rank() == 0 ? "zero" : "one";
    try {
      throw std::runtime_error(own);
    } catch (const std::exception&) {
      rank.compute(rank.rank() == 0 ? 1 : 2);  // the first to handle one is the first to go on
      try {
        throw;
      } catch (const std::exception& error) {
        caught[static_cast<std::size_t>(rank.rank())] = error.what();
      }
    }
  });
  EXPECT_EQ(caught, (std::vector<std::string>{"zero", "one"}));
}

TEST(Simulate, AShortenedVectorIsChargedAsTheWholeOne) {
  constexpr std::size_t n = 64, shortened = 64, all = 64 * 1000;  // at full size: 16 MB in all
  const Cluster cluster{.nodes = 16, .ranks_per_node = 4, .within = quick, .between = slow};
  const auto ring = [&](std::size_t length, double scale) {
    return run(cluster,
               [&](Rank& rank) {
                 std::vector<float> values(length, static_cast<float>(rank.rank()));
                 ring_all_reduce(rank, values);
                 EXPECT_EQ(values.back(), n * (n - 1) / 2);
               },
               {.scale = scale, .events = true, .recorded = {5}});
  };
  const Result whole = ring(all, 1), few = ring(shortened, double{all} / shortened);
  expect_equal_times(few.seconds, whole.seconds);
  EXPECT_EQ(few.events.size(), 2 * (n - 1));
  EXPECT_EQ(few.events.front().rank, 5);
  EXPECT_EQ(few.events.front().bytes, whole.events.front().bytes);
  EXPECT_EQ(few.ranks[5].bytes_sent, 2 * (n - 1) * sizeof(float));
  for (std::size_t rank = 0; rank < n; ++rank)
    EXPECT_NEAR(few.ranks[rank].idle, whole.ranks[rank].idle, 1e-9 * whole.seconds);
}

TEST(Simulate, WrongCallsAreErrors) {
  EXPECT_SENTENCE(run(one_node(2),
                      [](Rank& rank) {
                        if (rank.rank() == 0) rank.send(Bytes{8}, 1);
                        if (rank.rank() == 1) rank.receive(Bytes{4}, 0);
                      }),
                  "receive: rank 0 sends 8 bytes to rank 1, which receives 4.");
  EXPECT_SENTENCE(run(one_node(2), [](Rank& rank) { rank.send(Bytes{4}, 2); }), "Rank 0: send: there is no rank 2.");
  EXPECT_SENTENCE(run(one_node(2), [](Rank& rank) { rank.receive(Bytes{4}, rank.rank()); }),
                  "can't receive from itself");
  EXPECT_SENTENCE(run(one_node(2), [](Rank& rank) { rank.compute(-1); }), "at least 0 seconds, but got -1");
  std::vector<float> values(4);
  EXPECT_SENTENCE(run(one_node(2),
                      [&](Rank& rank) {
                        const int other = 1 - rank.rank();
                        rank.exchange(std::span(values).first(3), other, std::span(values).last(3), other);
                      }),
                  "overlap in memory");
  EXPECT_SENTENCE(run(one_node(2), [](Rank&) {}, {.slowdown = {1}}), "has 1 factors, but the simulation has 2 ranks");
  EXPECT_SENTENCE(run(one_node(1), [](Rank&) {}, {.slowdown = {-1}}), "at least 0, but has -1");
  EXPECT_SENTENCE(run(one_node(1), [](Rank&) {}, {.scale = 0}), "a factor above 0, but is 0");
  EXPECT_SENTENCE(run(one_node(2), [](Rank&) {}, {.recorded = {2}}), "names rank 2, but the ranks are 0 to 1");
  EXPECT_SENTENCE(run({.nodes = 0}, [](Rank&) {}), "at least one rank");
  EXPECT_SENTENCE(run({.between = {.latency = 0, .bandwidth = 0}}, [](Rank&) {}), "bandwidth above 0");
}

}  // namespace
}  // namespace odori::simulate
