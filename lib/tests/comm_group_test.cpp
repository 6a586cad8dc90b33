// SPDX-License-Identifier: Apache-2.0
// The contract of ProcessGroup: collectives on spans, groups of some of the ranks, what they send, and what is refused.
// Runs under mpirun with 1 to 5 ranks.
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>

#include "comm/algorithm.h"
#include "comm/communicator.h"
#include "comm/cost.h"
#include "errors/error.h"
#include "on_nodes.h"
#include "sentence_of.h"

namespace odori {
namespace {

constexpr std::size_t lengths[] = {0, 1, 2, 7, 1000, 100003};

/// The element at position i of rank r's values: a small whole number, so that sums are exact.
float element(int r, std::size_t i) { return static_cast<float>((i * 7 + static_cast<std::size_t>(r) * 31) % 1009); }

std::vector<float> values_of(int r, std::size_t n) {
  std::vector<float> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = element(r, i);
  return values;
}

/// Of these ranks of the job.
std::vector<float> sum_of(const std::vector<int>& ranks, std::size_t n) {
  std::vector<float> sum(n);
  for (const int r : ranks)
    for (std::size_t i = 0; i < n; ++i) sum[i] += element(r, i);
  return sum;
}

std::vector<float> mean_of(const std::vector<int>& ranks, std::size_t n) {
  std::vector<float> mean = sum_of(ranks, n);
  for (float& value : mean) value *= 1.0f / static_cast<float>(ranks.size());
  return mean;
}

class SpansTest : public testing::Test {
 protected:
  /// Every call on every length, twice, with the right values on each of the group's ranks.
  void expect_right(const ProcessGroup& group) {
    const std::vector<int>& ranks = group.ranks_of_job();
    ASSERT_EQ(ranks.at(static_cast<std::size_t>(group.rank())), rank_);
    ASSERT_EQ(static_cast<int>(ranks.size()), group.size());
    for (const std::size_t n : lengths)
      for (int call = 0; call < 2; ++call) {
        SCOPED_TRACE(testing::Message() << n << " elements");
        const std::vector<float> own = values_of(rank_, n), mean = mean_of(ranks, n);
        std::vector<float> values = own;
        group.all_reduce(values);
        EXPECT_EQ(values, sum_of(ranks, n));

        const Range range = group.shard(n);
        std::vector<float> shard(range.size(), -1), all(n, -1), later(n, -1);
        group.reduce_scatter_mean(own, shard);
        EXPECT_TRUE(std::equal(shard.begin(), shard.end(), mean.begin() + static_cast<std::ptrdiff_t>(range.begin)));
        Work work = group.all_gather_async(shard, later);
        group.all_gather(shard, all);
        EXPECT_EQ(all, mean);
        work.wait();
        EXPECT_EQ(later, mean);

        values = own;  // in place
        const std::span<float> place = std::span(values).subspan(range.begin, range.size());
        group.reduce_scatter_mean(values, place);
        group.all_gather(place, values);
        EXPECT_EQ(values, mean);

        for (int root = 0; root < group.size(); ++root) {
          values = own;
          group.broadcast(values, root);
          EXPECT_EQ(values, values_of(ranks[static_cast<std::size_t>(root)], n));
        }
      }
  }
  std::unique_ptr<Communicator> comm_ = create_communicator("flat");
  const int rank_ = comm_->rank(), size_ = comm_->size();
};

TEST_F(SpansTest, OfAllRanks) {
  const ProcessGroup all = comm_->group();
  EXPECT_EQ(all.rank(), rank_);
  expect_right(all);
}

TEST_F(SpansTest, ShardsAreEverythingOnceAndOfEqualLengths) {
  const ProcessGroup all = comm_->group();
  for (const std::size_t n : lengths) {
    std::size_t next = 0;
    for (int r = 0; r < size_; ++r) {
      const Range shard = all.shard(n, r);
      EXPECT_EQ(shard.begin, next);
      EXPECT_LE(shard.size() - n / static_cast<std::size_t>(size_), 1u);
      next = shard.end;
    }
    EXPECT_EQ(next, n);
  }
}

TEST_F(SpansTest, OfSomeRanksWhileOthersCallOthers) {
  const ProcessGroup all = comm_->group();
  const ProcessGroup parity = all.split(rank_ % 2);
  std::vector<int> same_parity;
  for (int r = rank_ % 2; r < size_; r += 2) same_parity.push_back(r);
  EXPECT_EQ(parity.ranks_of_job(), same_parity);
  expect_right(parity);
  if (rank_ % 2 == 0) expect_right(parity);  // the others need not call
  const ProcessGroup alone = parity.split(rank_);
  EXPECT_EQ(alone.ranks_of_job(), std::vector<int>{rank_});
  expect_right(alone);
  expect_right(all);
}

TEST_F(SpansTest, OfANodeAndAcrossNodes) {
  const auto comm = create_on(nodes_of("00112", size_), "flat");
  const ProcessGroup node = comm->group().split(comm->inter_rank()), across = comm->group().split(comm->intra_rank());
  EXPECT_EQ(node.size(), comm->intra_size());
  EXPECT_EQ(node.rank(), comm->intra_rank());
  for (const ProcessGroup* group : {&node, &across}) expect_right(*group);
  if (comm->intra_rank() == 0) EXPECT_EQ(across.size(), comm->inter_size());

  // Tensor parallel within the node, then data parallel between nodes: what a rank sends goes there alone.
  const auto again = create_on(nodes_of("00112", size_), "flat");
  const ProcessGroup in = again->group().split(again->inter_rank()), out = again->group().split(again->intra_rank());
  std::vector<float> values = values_of(rank_, 1000);
  in.all_reduce(values);
  EXPECT_EQ(again->traffic().sent_within_node.messages > 0, in.size() > 1);
  EXPECT_EQ(again->traffic().sent_to_other_nodes.messages, 0);
  out.all_reduce(values);
  EXPECT_EQ(again->traffic().sent_to_other_nodes.messages > 0, out.size() > 1);
}

TEST_F(SpansTest, OverALink) {
  const auto comm = create_on(nodes_of("01234", size_), "flat", "1gbit,1ms");
  std::vector<float> values = values_of(rank_, 1000);
  const auto begin = std::chrono::steady_clock::now();
  comm->group().all_reduce(values);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  std::vector<int> ranks(static_cast<std::size_t>(size_));
  std::iota(ranks.begin(), ranks.end(), 0);
  EXPECT_EQ(values, sum_of(ranks, 1000));
  if (size_ > 1) EXPECT_GT(took.count(), 2e-3) << "at least two messages one after the other";
}

// A link that takes a second a byte has the seconds of cost.h be bytes, and one that takes a second a message,
// messages.
TEST_F(SpansTest, SendWhatTheirCostSays) {
  const cost::Cluster of_bytes{.ranks_per_node = size_, .within = {.latency = 0, .bandwidth = 1}};
  const cost::Cluster of_messages{.ranks_per_node = size_,
                                  .within = {.latency = 1, .bandwidth = std::numeric_limits<double>::infinity()}};
  const ProcessGroup all = comm_->group();
  TrafficOfRank before = comm_->traffic();
  const auto expect_sent = [&](double bytes, double messages) {
    const TrafficOfRank now = comm_->traffic();
    EXPECT_EQ(now.sent_within_node.bytes - before.sent_within_node.bytes, std::llround(bytes));
    EXPECT_EQ(now.sent_within_node.messages - before.sent_within_node.messages, std::llround(messages));
    EXPECT_EQ(now.received_within_node.bytes - before.received_within_node.bytes, std::llround(bytes));
    EXPECT_EQ(now.sent_to_other_nodes.bytes, 0);
    before = now;
  };
  for (const std::size_t n : lengths) {
    const auto bytes = static_cast<double>(n * sizeof(float));
    std::vector<float> values(n), shard(all.shard(n).size());
    all.all_reduce(values);
    expect_sent(cost::ring(of_bytes, bytes), cost::ring(of_messages, bytes));
    all.reduce_scatter_mean(values, shard);
    expect_sent(cost::halves(of_bytes, bytes), cost::halves(of_messages, bytes));
    all.all_gather(shard, values);
    expect_sent(cost::halves(of_bytes, bytes), cost::halves(of_messages, bytes));
    all.all_gather_async(shard, values).wait();
    expect_sent(cost::halves(of_bytes, bytes), cost::halves(of_messages, bytes));
    all.broadcast(values);
    const TrafficOfRank now = comm_->traffic();
    const bool sends = rank_ + 1 < size_;  // from rank to rank
    EXPECT_EQ(now.sent_within_node.bytes - before.sent_within_node.bytes, sends ? static_cast<std::int64_t>(bytes) : 0);
    before = now;
  }
}

TEST_F(SpansTest, AnErrorNamesTheRanksThatDiffer) {
  if (size_ == 1) return;
  const ProcessGroup all = comm_->group();
  const bool last = rank_ == size_ - 1;
  std::vector<float> values(last ? 8 : 7), shard(all.shard(values.size()).size());
  const std::string lengths_differ = fmt::format(
      "rank 0 gave 7 elements, and rank {} gave 8. Give the same number on every rank (comm_group_test.cpp:",
      size_ - 1);
  EXPECT_SENTENCE(all.all_reduce(values), "all_reduce: " + lengths_differ);
  EXPECT_SENTENCE(all.reduce_scatter_mean(values, shard), "reduce_scatter_mean: " + lengths_differ);
  EXPECT_SENTENCE(all.all_gather(shard, values), "all_gather: " + lengths_differ);
  EXPECT_SENTENCE(all.broadcast(values), "broadcast: " + lengths_differ);
  EXPECT_SENTENCE(all.broadcast(values, last ? 1 : 0), "gave 8");
  values.resize(7);
  EXPECT_SENTENCE(all.broadcast(values, last ? 1 : 0),
                  fmt::format("broadcast: rank 0 names the root 0, and rank {} names 1.", size_ - 1));
  EXPECT_SENTENCE(last ? all.broadcast(values) : all.all_reduce(values),
                  fmt::format(", rank {} in broadcast() (comm_group_test.cpp:", size_ - 1));
  all.all_reduce(values);  // the ranks are still in step
}

TEST_F(SpansTest, RefuseWhatCannotBe) {
  const ProcessGroup all = comm_->group();
  std::vector<float> values(10), shard(all.shard(10).size() + 1);
  const std::string words = fmt::format("rank {} gave a shard of {} elements, but its shard of 10 has {}.", rank_,
                                        shard.size(), shard.size() - 1);
  EXPECT_SENTENCE(all.reduce_scatter_mean(values, shard), "reduce_scatter_mean: " + words);
  EXPECT_SENTENCE(all.all_gather(shard, values), "all_gather: " + words);
  EXPECT_SENTENCE((void)all.all_gather_async(shard, values), "all_gather_async: " + words);
  EXPECT_SENTENCE(all.broadcast(values, size_), fmt::format("the ranks of this group are 0 to {}.", size_ - 1));
  EXPECT_SENTENCE(all.split(-1), "colors are 0 or greater");
}

TEST_F(SpansTest, AsynchronousGathersEndInTheOrderOfStarting) {
  constexpr std::size_t n = 100003;
  std::vector<std::vector<float>> shards, all(4, std::vector<float>(n));
  std::vector<Work> works;
  {
    const ProcessGroup group = comm_->group();  // may go while they run
    const Range range = group.shard(n);
    for (std::size_t k = 0; k < all.size(); ++k)
      shards.emplace_back(range.size(), static_cast<float>(k * 100) + static_cast<float>(rank_));
    for (std::size_t k = 0; k < all.size(); ++k) works.push_back(group.all_gather_async(shards[k], all[k]));
  }
  const ProcessGroup group = comm_->group();
  for (std::size_t k = 0; k < all.size(); ++k) {
    works[k].wait();
    for (int r = 0; r < size_; ++r)
      for (std::size_t i = group.shard(n, r).begin; i < group.shard(n, r).end; i += 1009)
        ASSERT_EQ(all[k][i], static_cast<float>(k * 100) + static_cast<float>(r));
  }
}

TEST_F(SpansTest, AnAsynchronousGatherThrowsWhenItIsWaitedFor) {
  if (size_ == 1) return;
  const ProcessGroup group = comm_->group();
  std::vector<float> values(rank_ == 0 ? 7 : 8), shard(group.shard(values.size()).size());
  Work work = group.all_gather_async(shard, values);
  EXPECT_SENTENCE(work.wait(), "all_gather: rank 0 gave 7 elements, and rank 1 gave 8.");
}

}  // namespace
}  // namespace odori
