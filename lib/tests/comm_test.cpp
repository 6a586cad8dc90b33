// The contract of all communicators. Runs under mpirun with 1, 2, 3 and 4 ranks; every rank computes the truth itself.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <string>

#include "comm/chunks.h"
#include "comm/communicator.h"
#include "core/error.h"

namespace odori {
namespace {

Buffer host_buffer(std::size_t n) {
  return Buffer(new float[n](), n, [](float* data) noexcept { delete[] data; });
}

/// What rank r brings: of both signs, of several magnitudes, with digits that don't vanish.
float value(int rank, std::size_t i, int call) {
  return std::sin(static_cast<float>(i % 1009) + 0.37f * static_cast<float>(rank)) *
         static_cast<float>(1 + i % 3 * 10 + static_cast<std::size_t>(call));
}

/// Parameters of uneven sizes: 1, 2, 4, 8, ... floats until n are used up.
std::vector<Range> pieces_of(std::size_t n) {
  std::vector<Range> pieces;
  for (std::size_t begin = 0, size = 1; begin < n; begin = pieces.back().end, size *= 2)
    pieces.push_back({begin, std::min(begin + size, n)});
  return pieces;
}

/// The same bits on every rank? Rank 0's are sent around and compared.
bool equal_on_all_ranks(Communicator& comm, const Buffer& buffer) {
  std::vector<std::byte> bytes(buffer.bytes());
  if (!bytes.empty()) std::memcpy(bytes.data(), buffer.data(), bytes.size());
  const auto mine = bytes;
  comm.broadcast(bytes, 0);
  double different = mine == bytes ? 0 : 1;
  comm.sum({&different, 1});
  return different == 0;
}

class Contract : public testing::TestWithParam<const char*> {
 protected:
  std::unique_ptr<Communicator> comm_ = create_communicator(GetParam());
};
INSTANTIATE_TEST_SUITE_P(All, Contract, testing::Values("naive", "flat"));

TEST_P(Contract, HasItsName) { EXPECT_EQ(comm_->name(), GetParam()); }

TEST_P(Contract, MeanOfAllRanks) {
  for (const std::size_t n : {0u, 1u, 7u, 1000u, 100003u, 1200007u}) {  // the last takes several MPI calls
    for (int call = 0; call < 2; ++call) {  // the second must not find leavings of the first
      Buffer buffer = host_buffer(n);
      for (std::size_t i = 0; i < n; ++i) buffer.data()[i] = value(comm_->rank(), i, call);
      comm_->mean(buffer, pieces_of(n));
      for (std::size_t i = 0; i < n; ++i) {
        double truth = 0, magnitude = 0;
        for (int r = 0; r < comm_->size(); ++r) {
          truth += value(r, i, call);
          magnitude += std::abs(value(r, i, call));
        }
        ASSERT_NEAR(buffer.data()[i], truth / comm_->size(), 3e-7 * magnitude) << i << " of " << n;
      }
      EXPECT_TRUE(equal_on_all_ranks(*comm_, buffer)) << n;
    }
  }
}

TEST_P(Contract, MeanIsTheSameEachTime) {
  Buffer first = host_buffer(5000), second = host_buffer(5000);
  for (Buffer* buffer : {&first, &second}) {
    for (std::size_t i = 0; i < 5000; ++i) buffer->data()[i] = value(comm_->rank(), i, 0);
    comm_->mean(*buffer, pieces_of(5000));
  }
  EXPECT_EQ(std::memcmp(first.data(), second.data(), first.bytes()), 0);
}

TEST_P(Contract, BroadcastFromEachRoot) {
  for (int root = 0; root < comm_->size(); ++root) {
    for (const std::size_t n : {0u, 1u, 7u, 1000u, 100003u}) {
      Buffer buffer = host_buffer(n);
      for (std::size_t i = 0; i < n; ++i) buffer.data()[i] = value(comm_->rank(), i, 0);
      comm_->broadcast(buffer, root);
      for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(buffer.data()[i], value(root, i, 0));

      std::vector<std::byte> bytes(n, static_cast<std::byte>(comm_->rank()));
      comm_->broadcast(bytes, root);
      for (const std::byte byte : bytes) ASSERT_EQ(byte, static_cast<std::byte>(root));
    }
  }
}

TEST_P(Contract, SumIsExactForCounts) {
  for (int call = 0; call < 2; ++call) {
    std::vector<double> values = {1.0, static_cast<double>(comm_->rank()), 1e15};
    comm_->sum(values);
    const double p = comm_->size();
    EXPECT_EQ(values[0], p);
    EXPECT_EQ(values[1], p * (p - 1) / 2);
    EXPECT_EQ(values[2], 1e15 * p);
  }
  comm_->sum({});
}

TEST_P(Contract, ScatterFromEachRoot) {
  for (int root = 0; root < comm_->size(); ++root) {
    for (const std::size_t unit : {0u, 1u, 1000u, 100003u}) {
      std::vector<std::size_t> counts;  // 0, unit, 2 unit, ...: the first part is empty
      std::vector<std::byte> all;
      for (int r = 0; r < comm_->size(); ++r) {
        counts.push_back(static_cast<std::size_t>(r) * unit);
        if (comm_->rank() == root) all.insert(all.end(), counts.back(), static_cast<std::byte>(10 * root + r));
      }
      const auto part = comm_->scatter(all, counts, root);
      EXPECT_EQ(part, std::vector<std::byte>(counts[static_cast<std::size_t>(comm_->rank())],
                                             static_cast<std::byte>(10 * root + comm_->rank())));
    }
  }
}

TEST_P(Contract, ScatterChecksItsCounts) {
  const std::vector<std::size_t> counts(static_cast<std::size_t>(comm_->size()) + 1, 1);
  EXPECT_THROW(comm_->scatter({}, counts, 0), Error);
}

TEST_P(Contract, BarrierLetsAllPass) { comm_->barrier(); }

TEST(Naive, RefusesAPieceOutsideTheBuffer) {
  const auto comm = create_communicator("naive");
  Buffer buffer = host_buffer(4);
  const Range piece{2, 5};
  EXPECT_THROW(comm->mean(buffer, {&piece, 1}), Error);
}

TEST(Chunks, CoverEverythingOnce) {
  for (const std::size_t n : {0u, 1u, 4u, 5u, 8u, 11u}) {
    std::size_t next = 0;
    for_each_chunk(
        n,
        [&](std::size_t offset, int count) {
          EXPECT_EQ(offset, next);
          EXPECT_TRUE(count >= 1 && count <= 4);
          next += static_cast<std::size_t>(count);
        },
        4);
    EXPECT_EQ(next, n);
  }
}

TEST(Names, UnknownOnesAreRefused) {
  for (const char* name : {"hierarchical", "", "Flat"}) {
    try {
      create_communicator(name);
      ADD_FAILURE() << name;
    } catch (const UsageError& error) {
      EXPECT_NE(std::string(error.what()).find("naive, flat"), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace odori
