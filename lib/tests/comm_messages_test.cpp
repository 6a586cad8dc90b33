// SPDX-License-Identifier: Apache-2.0
// Messages between two ranks, what is counted of them, and algorithms that stand on them. Part of comm_test.
#include <gtest/gtest.h>

#include <string>

#include "comm/communicator.h"
#include "device_under_test.h"
#include "errors/error.h"
#include "on_nodes.h"

namespace odori {
namespace {

constexpr std::size_t lengths[] = {0, 1, 7, 1000, 100003};

/// The element at position i of a rank's vector: a small whole number, so that sums are exact.
float element(int rank, std::size_t i) {
  return static_cast<float>((i * 7 + static_cast<std::size_t>(rank) * 31) % 1009);
}

std::vector<float> numbers(int rank, std::size_t n) {
  std::vector<float> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = element(rank, i);
  return values;
}

class Messages : public testing::Test {
 protected:
  std::string said(const std::function<void()>& call) {
    try {
      call();
    } catch (const Error& error) {
      return error.what();
    }
    return "accepted";
  }
  static std::vector<float> mean_by(Communicator& comm, std::size_t n) {
    DevicePool pool(device_under_test());
    Device& device = pool.use(comm.intra_rank());
    Buffer buffer = device.allocate(n);
    std::vector<float> values = numbers(comm.rank(), n);
    device.write(buffer, 0, values);
    const Range all{0, n};
    comm.all_reduce_mean(device, buffer, {&all, 1});
    device.read(buffer, 0, values);
    return values;
  }
  static std::vector<float> true_mean(int size, std::size_t n) {
    std::vector<float> values(n);
    for (int r = 0; r < size; ++r)
      for (std::size_t i = 0; i < n; ++i) values[i] += element(r, i);
    for (float& value : values) value *= 1.0f / static_cast<float>(size);
    return values;
  }

  std::unique_ptr<Communicator> comm_ = create_communicator("flat");
  const int size_ = comm_->size(), rank_ = comm_->rank();
  const int right_ = (rank_ + 1) % size_, left_ = (rank_ + size_ - 1) % size_;
};

TEST_F(Messages, GoFromRankToRank) {
  for (const std::size_t n : lengths) {
    for (int r = 0; r + 1 < size_; ++r) {
      std::vector<float> seen(n, -1);
      if (rank_ == r) comm_->send(numbers(r, n), r + 1);
      if (rank_ == r + 1) {
        comm_->receive(seen, r);
        EXPECT_EQ(seen, numbers(r, n));
      }
    }
  }
}

TEST_F(Messages, ComeInTheOrderInWhichTheyWereSent) {
  if (rank_ == 0)
    for (int to = 1; to < size_; ++to)
      for (const std::size_t n : lengths) comm_->send(numbers(to, n), to);
  if (rank_ == 0) return;
  for (const std::size_t n : lengths) {
    std::vector<float> seen(n);
    comm_->receive(seen, 0);
    EXPECT_EQ(seen, numbers(rank_, n));
  }
}

TEST_F(Messages, ComeFromAnyRank) {
  if (size_ == 1) {
    std::vector<float> none;
    EXPECT_EQ(said([&] { comm_->receive_any(none); }),
              "receive_any: this job has one rank, so that no other one can send.");
    return;
  }
  const auto linked = create_on(nodes_of("0123", size_), "flat", "1gbit,50us");
  for (Communicator* const comm : {comm_.get(), linked.get()}) {
    constexpr int rounds = 3;
    const std::int64_t received_before = comm->traffic().received_within_node.bytes;
    if (rank_ != 0) {
      for (int round = 0; round < rounds; ++round) comm->send(numbers(rank_ + 10 * round, 1000), 0);
    } else {
      std::vector<int> messages_from(static_cast<std::size_t>(size_));
      for (int i = 0; i < rounds * (size_ - 1); ++i) {
        std::vector<float> seen(1000);
        const int from = comm->receive_any(seen);
        ASSERT_TRUE(0 < from && from < size_) << from;
        EXPECT_EQ(seen, numbers(from + 10 * messages_from[static_cast<std::size_t>(from)]++, 1000));
      }
      for (int r = 1; r < size_; ++r) EXPECT_EQ(messages_from[static_cast<std::size_t>(r)], rounds);
      const TrafficOfRank traffic = comm->traffic();
      EXPECT_EQ(traffic.received_within_node.bytes - received_before + traffic.received_from_other_nodes.bytes,
                rounds * (size_ - 1) * 4000);
    }
    comm->barrier();  // else rank 0 takes a fast rank's message of the next round
  }
}

TEST_F(Messages, AreExchangedByAllAtOnce) {
  for (const std::size_t n : lengths) {
    for (int call = 0; call < 2; ++call) {
      const auto of = [&](int rank) { return n + static_cast<std::size_t>(rank); };  // each sends a length of its own
      std::vector<float> seen(of(left_), -1);
      comm_->exchange(numbers(rank_, of(rank_)), right_, seen, left_);
      EXPECT_EQ(seen, numbers(left_, of(left_)));
    }
  }
}

TEST_F(Messages, AreSentAndExchangedByTurns) {
  if (size_ < 2) return;
  std::vector<float> seen(1000);
  if (rank_ == 0) comm_->exchange(numbers(0, 7), 1, seen, 1);
  if (rank_ == 1) comm_->send(numbers(1, 1000), 0), comm_->receive(std::span(seen).first(7), 0);
  if (rank_ == 0) {
    EXPECT_EQ(seen, numbers(1, 1000));
  }
}

TEST_F(Messages, ToOneselfAreCopied) {
  std::vector<float> seen(7);
  comm_->exchange(numbers(rank_, 7), rank_, seen, rank_);
  EXPECT_EQ(seen, numbers(rank_, 7));
  comm_->exchange({}, rank_, {}, rank_);
  EXPECT_EQ(said([&] { comm_->exchange(numbers(0, 1), rank_, seen, rank_); }),
            fmt::format("exchange: rank {0} sent 1 element, and rank {0} expected 7 elements.", rank_));
  EXPECT_EQ(comm_->traffic().sent_within_node.messages, 0);
}

TEST_F(Messages, RefuseRanksThatThereAreNot) {
  std::vector<float> values(4), others(4);
  const auto named = [&](const char* call, const char* verb, int peer) {
    return fmt::format("{}: rank {} was to {} rank {}, but the ranks of this job are 0 to {}.", call, rank_, verb, peer,
                       size_ - 1);
  };
  for (const int peer : {-1, size_, 1 << 20}) {
    EXPECT_EQ(said([&] { comm_->send(values, peer); }), named("send", "send to", peer));
    EXPECT_EQ(said([&] { comm_->receive(values, peer); }), named("receive", "receive from", peer));
    EXPECT_EQ(said([&] { comm_->exchange(values, peer, others, rank_); }), named("exchange", "send to", peer));
    EXPECT_EQ(said([&] { comm_->exchange(values, rank_, others, peer); }), named("exchange", "receive from", peer));
  }
  EXPECT_EQ(said([&] { comm_->send(values, rank_); }),
            fmt::format("send: rank {} can't send to itself: it would wait for ever.", rank_));
  EXPECT_EQ(said([&] { comm_->receive(values, rank_); }),
            fmt::format("receive: rank {} can't receive from itself: it would wait for ever.", rank_));
}

TEST_F(Messages, RefuseAnExchangeThatCantBe) {
  std::vector<float> values(8);
  const std::span<float> all(values);
  for (const auto& [sent, received] : {std::pair{all, all}, {all.first(5), all.last(5)}, {all.last(5), all.first(5)}})
    EXPECT_NE(said([&] { comm_->exchange(sent, right_, received, left_); }).find("lie in the same memory"),
              std::string::npos);
  EXPECT_EQ(said([&] { comm_->exchange(all.first(4), rank_, all.last(4), rank_); }), "accepted");
  if (size_ < 2) return;
  EXPECT_NE(said([&] { comm_->exchange(all.first(4), rank_, all.last(4), left_); }).find("does both with itself"),
            std::string::npos);
}

TEST_F(Messages, AreCountedByNode) {
  if (size_ < 2) return;
  const auto comm = create_on(nodes_of("0001", size_), "flat");
  std::vector<float> seen(10);
  comm->exchange(numbers(0, 10), right_, seen, left_);
  comm->exchange(numbers(0, 10), right_, seen, left_);
  const bool alone = rank_ == 3, to_alone = right_ == 3, from_alone = left_ == 3;
  const TrafficOfRank& traffic = comm->traffic();
  EXPECT_EQ(traffic.sent_to_other_nodes.messages, alone || to_alone ? 2 : 0);
  EXPECT_EQ(traffic.sent_to_other_nodes.bytes, alone || to_alone ? 80 : 0);
  EXPECT_EQ(traffic.sent_within_node.bytes, alone || to_alone ? 0 : 80);
  EXPECT_EQ(traffic.received_from_other_nodes.bytes, alone || from_alone ? 80 : 0);
  EXPECT_EQ(traffic.received_within_node.messages, alone || from_alone ? 0 : 2);
}

/// Not a good one: each rank gets the numbers of all others, one after another.
void all_to_all(std::span<float> values, Communicator& comm) {
  const std::vector<float> mine(values.begin(), values.end());
  std::vector<float> theirs(values.size());
  for (int step = 1; step < comm.size(); ++step) {
    const int to = (comm.rank() + step) % comm.size(), from = (comm.rank() + comm.size() - step) % comm.size();
    comm.exchange(mine, to, theirs, from);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] += theirs[i];
  }
  for (float& value : values) value *= 1.0f / static_cast<float>(comm.size());
}

TEST_F(Messages, AreEnoughForAnAllReduceOfOnesOwn) {
  const auto comm = create_communicator(all_to_all, "mine");
  EXPECT_EQ(comm->name(), "mine");
  for (const std::size_t n : lengths)
    for (int call = 0; call < 2; ++call) EXPECT_EQ(mean_by(*comm, n), true_mean(size_, n));
}

TEST_F(Messages, AnAllReduceOfOnesOwnIsNotCalledByItself) {
  const auto comm =
      create_communicator([](std::span<float> values, Communicator& own) { mean_by(own, values.size()); }, "mine");
  for (int call = 0; call < 2; ++call)
    EXPECT_EQ(said([&] { mean_by(*comm, 7); }),
              "The all-reduce of mine called comm.all_reduce_mean(), which calls that all-reduce.");
  EXPECT_EQ(said([] { create_communicator(AllReduce(), "mine"); }),
            "The communicator mine was given an all-reduce that is null.");
}

}  // namespace
}  // namespace odori
