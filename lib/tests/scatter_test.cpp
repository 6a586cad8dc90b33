// SPDX-License-Identifier: Apache-2.0
// scatter_dataset. Runs under mpirun with 1, 2, 3 and 4 ranks.
#include "distributed/scatter.h"

#include <gtest/gtest.h>

#include <fstream>
#include <numeric>
#include <string>

#include "data/sub_dataset.h"
#include "data_numbers.h"
#include "errors/error.h"

namespace odori {
namespace {

using Ids = std::vector<std::int64_t>;
using Pairs = std::vector<std::pair<std::size_t, std::size_t>>;

// ---- Ranges, with the original's numbers

Pairs shards(std::size_t n, int size, bool equal) {
  Pairs pairs;
  for (int r = 0; r < size; ++r) {
    const Range range = shard_range(n, r, size, equal);
    pairs.emplace_back(range.begin, range.end);
  }
  return pairs;
}

TEST(Ranges, EqualLengthsOverlap) {
  EXPECT_EQ(shards(10, 4, true), (Pairs{{0, 3}, {2, 5}, {5, 8}, {7, 10}}));
  EXPECT_EQ(shards(50000, 3, true), (Pairs{{0, 16667}, {16666, 33333}, {33333, 50000}}));
  EXPECT_EQ(shards(10000, 3, true), (Pairs{{0, 3334}, {3333, 6667}, {6666, 10000}}));
  EXPECT_EQ(shards(2, 4, true), (Pairs{{0, 1}, {0, 1}, {1, 2}, {1, 2}}));
  EXPECT_EQ(shards(0, 3, true), (Pairs{{0, 0}, {0, 0}, {0, 0}}));
  EXPECT_EQ(shards(8, 4, true), (Pairs{{0, 2}, {2, 4}, {4, 6}, {6, 8}}));
}

TEST(Ranges, UnequalLengthsDoNot) {
  EXPECT_EQ(shards(10, 3, false), (Pairs{{0, 4}, {4, 7}, {7, 10}}));
  EXPECT_EQ(shards(2, 4, false), (Pairs{{0, 1}, {1, 2}, {2, 2}, {2, 2}}));
}

TEST(Ranges, OwnedPartsCoverEverythingOnceAndLieInTheShards) {
  for (const bool equal : {true, false}) {
    for (std::size_t n = 0; n < 100; ++n) {
      for (int size = 1; size < 20; ++size) {
        std::size_t next = 0;
        for (int r = 0; r < size; ++r) {
          const Range owned = owned_range(n, r, size, equal), shard = shard_range(n, r, size, equal);
          ASSERT_EQ(owned.begin, next) << n << " over " << size;
          ASSERT_LE(owned.begin, owned.end);
          ASSERT_TRUE(owned.size() == 0 || (owned.begin >= shard.begin && owned.end <= shard.end));
          ASSERT_LE(shard.end, n);
          next = owned.end;
        }
        ASSERT_EQ(next, n);
      }
    }
  }
}

// ---- The real thing

class Scatter : public testing::Test {
 protected:
  DatasetPtr scatter(std::size_t n, const ScatterOptions& options = {}) {
    return scatter_dataset(comm_->rank() == options.root ? numbers(n) : nullptr, *comm_, options);
  }
  std::unique_ptr<Communicator> comm_ = create_communicator("flat");
};

TEST_F(Scatter, EachRankHasItsRange) {
  for (const bool equal : {true, false}) {
    for (const std::size_t n : {0u, 1u, 2u, 10u, 101u}) {
      for (int root = 0; root < comm_->size(); ++root) {
        const auto shard = scatter(n, {.force_equal_length = equal, .root = root});
        const Range range = shard_range(n, comm_->rank(), comm_->size(), equal);
        const Range owned = owned_range(n, comm_->rank(), comm_->size(), equal);
        ASSERT_EQ(shard->size(), range.size());
        for (std::size_t i = 0; i < shard->size(); ++i) {
          const Example example = (*shard)[i];
          const std::size_t id = range.begin + i;
          ASSERT_EQ(example.id, static_cast<std::int64_t>(id));
          ASSERT_EQ(example.label, static_cast<int>(id % 10));
          ASSERT_EQ(example.counted, id >= owned.begin && id < owned.end);
          for (const std::size_t p : {0u, 1u, 1024u, 3071u}) ASSERT_EQ(example.pixels[p], Numbers::pixel(id, p));
        }
      }
    }
  }
}

TEST_F(Scatter, ShardsKeepTheTransformAndTheClasses) {
  const auto shard = scatter(5);
  EXPECT_EQ(shard->n_classes(), 10);
  EXPECT_EQ(shard->transform().image_size, 64);
  EXPECT_FLOAT_EQ(shard->transform().mean[2], 0.3f);
  EXPECT_TRUE(shard->transform().flip);
  EXPECT_EQ(shard->transform().crop_padding, 0);
}

TEST_F(Scatter, EveryExampleIsCountedOnce) {
  for (const bool shuffle : {true, false}) {
    const auto shard = scatter(103, {.shuffle = shuffle, .seed = 4});
    std::vector<double> held(103), counted(103);
    for (std::size_t i = 0; i < shard->size(); ++i) {
      const Example example = (*shard)[i];
      held[static_cast<std::size_t>(example.id)] += 1;
      if (example.counted) counted[static_cast<std::size_t>(example.id)] += 1;
    }
    comm_->sum(held);
    comm_->sum(counted);
    EXPECT_EQ(counted, std::vector<double>(103, 1));
    const std::size_t longest = (103 + static_cast<std::size_t>(comm_->size()) - 1) / comm_->size();
    EXPECT_EQ(std::accumulate(held.begin(), held.end(), 0.0), static_cast<double>(longest * comm_->size()));
  }
}

TEST_F(Scatter, ShufflesBySeedAndOnlyOnce) {
  const auto order = whole_set_order(50, 9);
  const auto shard = scatter(50, {.shuffle = true, .seed = 9});
  const Range range = shard_range(50, comm_->rank(), comm_->size(), true);
  EXPECT_EQ(ids(*shard), Ids(order.begin() + range.begin, order.begin() + range.end));
  EXPECT_EQ(ids(*scatter(50, {.shuffle = true, .seed = 9})), ids(*shard));
  EXPECT_NE(ids(*scatter(50, {.shuffle = true, .seed = 10})), ids(*shard));
}

TEST_F(Scatter, TheShardOutlivesTheWholeSet) {
  DatasetPtr whole = comm_->rank() == 0 ? numbers(20) : nullptr;
  const auto shard = scatter_dataset(whole, *comm_);
  whole.reset();
  EXPECT_EQ((*shard)[0].pixels[7], Numbers::pixel(static_cast<std::size_t>((*shard)[0].id), 7));
}

TEST_F(Scatter, AShardOfAShardIsCountedOnceToo) {
  ScatterOptions options;
  const auto first = scatter(11, options);
  const auto second = scatter_dataset(comm_->rank() == 0 ? first : nullptr, *comm_, options);
  double counted = 0;
  for (std::size_t i = 0; i < second->size(); ++i) counted += (*second)[i].counted ? 1 : 0;
  comm_->sum({&counted, 1});
  EXPECT_EQ(counted, static_cast<double>(owned_range(11, 0, comm_->size(), true).size()));
}

/// The most memory that this process has had at once, in bytes.
std::size_t peak_memory() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.rfind("VmHWM:", 0) == 0) return std::stoul(line.substr(6)) * 1024;
  return 0;
}

TEST_F(Scatter, ARankNeedsMemoryForItsShardAlone) {
  const std::size_t n = 40000, whole = n * Example::bytes, before = peak_memory();
  const auto shard = scatter(n);
  const std::size_t grown = peak_memory() - before, own = shard->size() * Example::bytes;
  ASSERT_GT(before, 0u);
  if (comm_->rank() > 0) {
    EXPECT_LT(grown, own + whole / 10);  // a tenth is room for MPI
  }
}

// ---- Wrong calls: the same Error on every rank, and the ranks stay in step

std::string error_of(const DatasetPtr& dataset, Communicator& comm, const ScatterOptions& options = {}) {
  try {
    scatter_dataset(dataset, comm, options);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}
bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST_F(Scatter, TheRootNeedsADataset) {
  EXPECT_PRED2(contains, error_of(nullptr, *comm_), "rank 0 is the root and gave no data set");
  const int last = comm_->size() - 1;
  EXPECT_PRED2(contains, error_of(comm_->rank() < last ? numbers(4) : nullptr, *comm_, {.root = last}),
               "is the root and gave no data set");
  EXPECT_EQ(scatter(8)->size(), shard_range(8, comm_->rank(), comm_->size(), true).size());
}

TEST_F(Scatter, OnlyTheRootHasADataset) {
  const std::string error = error_of(numbers(4), *comm_);
  if (comm_->size() == 1) {
    EXPECT_EQ(error, "");
  } else {
    EXPECT_PRED2(contains, error, "only the root, rank 0");
    EXPECT_PRED2(contains, error, "rank 1");
  }
}

TEST_F(Scatter, RanksMustAgreeOnTheRoot) {
  const std::string error = error_of(numbers(4), *comm_, {.root = comm_->rank()});
  if (comm_->size() > 1) {
    EXPECT_PRED2(contains, error, "same root");
  }
  EXPECT_PRED2(contains, error_of(numbers(4), *comm_, {.root = comm_->size()}), "there is no root");
  EXPECT_PRED2(contains, error_of(numbers(4), *comm_, {.root = -1}), "there is no root");
}

}  // namespace
}  // namespace odori
