// SPDX-License-Identifier: Apache-2.0
// The contract of all communicators but their algorithms (comm_algorithms_test). Runs under mpirun with 1, 2, 3 and 4
// ranks; every rank computes the truth itself.
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstring>
#include <future>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "comm/background.h"
#include "comm/chunks.h"
#include "comm/communicator.h"
#include "device_under_test.h"
#include "errors/error.h"
#include "files/file.h"
#include "files/json.h"
#include "trace/trace.h"

namespace odori {
namespace {

/// What rank r brings: of both signs, of several magnitudes, with digits that don't vanish.
float value(int rank, std::size_t i, int call) {
  return std::sin(static_cast<float>(i % 1009) + 0.37f * static_cast<float>(rank)) *
         static_cast<float>(1 + i % 3 * 10 + static_cast<std::size_t>(call));
}

/// The same bits on every rank? Rank 0's are sent around and compared.
bool equal_on_all_ranks(Communicator& comm, const std::vector<float>& values) {
  std::vector<float> of_root = values;
  comm.broadcast(std::as_writable_bytes(std::span(of_root)), 0);
  double different = std::memcmp(of_root.data(), values.data(), values.size() * sizeof(float)) == 0 ? 0 : 1;
  comm.sum({&different, 1});
  return different == 0;
}

class Contract : public testing::TestWithParam<std::string> {
 protected:
  /// What this rank brings, in its device's memory.
  Buffer values(std::size_t n, int call) {
    std::vector<float> host(n);
    for (std::size_t i = 0; i < n; ++i) host[i] = value(comm_->rank(), i, call);
    Buffer buffer = device_.allocate(n);
    device_.write(buffer, 0, host);
    return buffer;
  }
  std::vector<float> read(const Buffer& buffer) {
    std::vector<float> host(buffer.size());
    device_.read(buffer, 0, host);
    return host;
  }
  std::unique_ptr<Communicator> comm_ = create_communicator(GetParam());
  DevicePool pool_{device_under_test()};
  Device& device_ = pool_.use(comm_->intra_rank());
};
/// What is the same for all is tested on one.
INSTANTIATE_TEST_SUITE_P(All, Contract, testing::Values(on_gpus() ? "pure_nccl" : "flat"));

TEST_P(Contract, HasItsName) { EXPECT_EQ(comm_->name(), GetParam()); }

TEST_P(Contract, BroadcastFromEachRoot) {
  for (int root = 0; root < comm_->size(); ++root) {
    for (const std::size_t n : {0u, 1u, 7u, 1000u, 100003u}) {
      Buffer buffer = values(n, 0);
      comm_->broadcast(device_, buffer, root);
      const std::vector<float> seen = read(buffer);
      for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(seen[i], value(root, i, 0));

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

TEST_P(Contract, AllGatherTakesInTheOrderOfTheRanks) {
  struct Own {
    int rank;
    double half;
  };
  for (int call = 0; call < 2; ++call) {
    const std::vector<Own> all = comm_->all_gather(Own{comm_->rank() + call, comm_->rank() / 2.0});
    ASSERT_EQ(static_cast<int>(all.size()), comm_->size());
    for (int r = 0; r < comm_->size(); ++r) {
      EXPECT_EQ(all[static_cast<std::size_t>(r)].rank, r + call);
      EXPECT_EQ(all[static_cast<std::size_t>(r)].half, r / 2.0);
    }
  }
  EXPECT_TRUE(comm_->all_gather(std::span<const std::byte>()).empty());
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

// What was asked of the device comes before what the communicator does, and what is asked then comes after it.
TEST_P(Contract, StandsInTheDevicesOrder) {
  constexpr std::size_t n = 1'000'000;
  const Range all{0, n};
  Buffer x = values(n, 0), y = values(n, 1);
  for (int i = 0; i < 5; ++i) {
    device_.scale(2, x, all);
    comm_->all_reduce_mean(device_, x, {&all, 1});
    device_.axpy(1, x, y, all);
    comm_->broadcast(device_, y, 0);
    device_.scale(0.5f, y, all);
  }
  const std::vector<float> seen = read(y);
  for (std::size_t i = 0; i < n; i += 997) {
    double mean = 0, truth = value(0, i, 1), scale = 0;
    for (int r = 0; r < comm_->size(); ++r) mean += value(r, i, 0) / static_cast<double>(comm_->size());
    for (int k = 1; k <= 5; ++k) truth = (truth + mean * (1 << k)) / 2, scale += std::abs(value(0, i, 0)) * 40;
    ASSERT_NEAR(seen[i], truth, 1e-6 * (scale + std::abs(truth) + 40)) << i;
  }
  EXPECT_TRUE(equal_on_all_ranks(*comm_, seen));
}

TEST_P(Contract, APartOfTheMeanEachMakesTheWhole) {
  for (const std::size_t n : {0u, 2u, 1000u, 100003u}) {
    Buffer buffer = values(n, 0), others = device_.allocate(n);
    comm_->reduce_scatter_mean(device_, buffer);
    const Range own = comm_->shard(n);
    std::vector<float> part(own.size());
    device_.read(buffer, own.begin, part);
    device_.write(others, own.begin, part);
    comm_->all_gather_shards(device_, others);
    const std::vector<float> seen = read(others);
    for (std::size_t i = 0; i < n; ++i) {
      double mean = 0, size = 0;
      for (int r = 0; r < comm_->size(); ++r) mean += value(r, i, 0) / static_cast<double>(comm_->size());
      for (int r = 0; r < comm_->size(); ++r) size += std::abs(value(r, i, 0));
      ASSERT_NEAR(seen[i], mean, 1e-6 * size) << i << " of " << n;
    }
    EXPECT_TRUE(equal_on_all_ranks(*comm_, seen));
  }
}

TEST(InTheBackground, CallsComeBeforeAllThatIsAskedThen) {
  const auto comm = create_communicator("flat");
  const auto n = static_cast<std::size_t>(comm->size());
  Background background;
  std::vector<double> sums(60, comm->rank() + 1);
  for (std::size_t i = 0; i < sums.size(); ++i) {
    background.start([&, i] { comm->sum({&sums[i], 1}); });
    if (i % 3 == 0) {
      EXPECT_EQ(comm->all_gather(i), std::vector<std::size_t>(n, i));
      EXPECT_EQ(sums[i], static_cast<double>(n * (n + 1)) / 2) << "it has ended";
    }
  }
  background.wait();
  EXPECT_EQ(sums, std::vector<double>(sums.size(), static_cast<double>(n * (n + 1)) / 2));
}

TEST(InTheBackground, OneCallCanBeWaitedForWhileALaterOneGoesOn) {
  std::promise<void> end;
  Background background;
  bool has_run = false;
  const std::int64_t first = background.start([&] { has_run = true; });
  const std::int64_t second = background.start([&] { end.get_future().wait(); });
  background.wait(first);
  EXPECT_TRUE(has_run);
  end.set_value();
  background.wait(second);
}

TEST(InTheBackground, AFailureIsToldAndEndsWhatFollows) {
  Background background, another;
  bool goes_on = false;
  background.start([] { fail("The cause."); });
  another.start([&] { goes_on = true; });
  EXPECT_THROW(background.wait(), Error);
  EXPECT_THROW(another.wait(), Error) << "its call was not made, and that is told";
  EXPECT_FALSE(goes_on);
}

TEST(InTheBackground, AMeanKeepsItsTypeWhileOneOfAnotherTypeIsAskedFor) {
  const auto comm = create_communicator("flat");
  DevicePool pool({.request = DeviceRequest::cpu});
  Device& device = pool.use(comm->intra_rank());
  constexpr float no_fp16 = 1.0f + 1.0f / 4096;
  const std::vector<float> host(1000, no_fp16);
  Buffer in_fp32 = device.allocate(host.size()), in_fp16 = device.allocate(host.size());
  device.write(in_fp32, 0, host);
  device.write(in_fp16, 0, host);
  const Range all{0, host.size()};
  Background background;
  background.start([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));  // the other call comes meanwhile
    comm->all_reduce_mean(device, in_fp32, {&all, 1});
  });
  comm->all_reduce_mean_in(Dtype::fp16, device, in_fp16, {&all, 1});
  background.wait();
  EXPECT_NEAR(in_fp32.data()[7], no_fp16, 1e-6);
}

TEST(InTheBackground, WhatWasSentIsCountedToTheEnd) {
  const auto comm = create_communicator("flat");
  DevicePool pool({.request = DeviceRequest::cpu});
  Device& device = pool.use(comm->intra_rank());
  Buffer buffer = device.allocate(1000);
  const Range all{0, 1000};
  Background background;
  background.start([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    comm->all_reduce_mean(device, buffer, {&all, 1});
  });
  EXPECT_EQ(comm->traffic().sent_within_node.messages > 0, comm->size() > 1);
  background.wait();
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

/// Also where the calls of all ranks are compared first.
TEST(EventStream, SpanOfACollectiveHoldsTheWaitForTheLastRank) {
  const auto comm = create_communicator("flat");
  const TemporaryFolder folder(testing::TempDir() + "odori_wait_");
  comm->barrier();
  {
    const trace::File trace(folder.path(), comm->rank(), comm->size());
    if (comm->rank() == comm->size() - 1) std::this_thread::sleep_for(std::chrono::milliseconds(300));
    double one = 1;
    comm->sum({&one, 1});
  }
  const auto events = parse_json(read_file(fmt::format("{}/trace.{}.json", folder.path().string(), comm->rank())));
  double microseconds = 0;
  for (const auto& event : events)
    if (event["name"] == "allreduce") microseconds = event["dur"];
  if (comm->rank() < comm->size() - 1) {
    EXPECT_GT(microseconds, 200'000) << events;
  }
}

TEST(Names, UnknownOnesAreRefused) {
  for (const char* name : {"no such", "", "Flat"}) {
    try {
      create_communicator(name);
      ADD_FAILURE() << name;
    } catch (const UsageError& error) {
      for (const std::string& known : communicator_names())
        EXPECT_NE(std::string(error.what()).find(known), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace odori
