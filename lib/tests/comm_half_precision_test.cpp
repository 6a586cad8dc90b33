// SPDX-License-Identifier: Apache-2.0
// Gradients that travel in 16 bits: the numbers themselves, and means over ranks.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "backend/device_pool.h"
#include "comm/communicator.h"
#include "comm/half_precision.h"
#include "device_under_test.h"
#include "files/file.h"
#include "numbers/random.h"
#include "trace/trace.h"

namespace odori {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

float rounded(Dtype dtype, float number) {
  float packed = 0, back = 0;
  pack(dtype, 1, {&number, 1}, {&packed, 1});
  unpack(dtype, {&packed, 1}, {&back, 1});
  return back;
}

/// The next larger of the positive numbers that there are.
float next(Dtype dtype, float number) {
  if (dtype == Dtype::bf16) return std::bit_cast<float>(std::bit_cast<std::uint32_t>(number) + 0x10000u);
  const int exponent = number == 0 ? -14 : std::max(-14, std::ilogb(number));
  const float larger = number + std::ldexp(1.0f, exponent - 10);
  return larger > 65504 ? infinity : larger;
}

TEST(HalfPrecision, KeepsWhatItCanHoldAndRoundsTheRestToTheNearestEven) {
  for (const Dtype dtype : {Dtype::fp16, Dtype::bf16}) {
    float low = 0;
    bool is_even = true;
    std::size_t n = 0;
    for (; low < infinity; ++n, is_even = !is_even) {
      const float high = next(dtype, low);
      ASSERT_EQ(rounded(dtype, low), low);
      ASSERT_EQ(rounded(dtype, -low), -low);
      const double end = high < infinity ? double{high} : dtype == Dtype::fp16 ? 65536.0 : std::ldexp(1.0, 128);
      const auto middle = static_cast<float>((double{low} + end) / 2);
      ASSERT_EQ(rounded(dtype, middle), is_even ? low : high) << middle;
      ASSERT_EQ(rounded(dtype, std::nextafter(middle, 0.0f)), low) << middle;
      ASSERT_EQ(rounded(dtype, std::nextafter(middle, infinity)), high) << middle;
      low = high;
    }
    EXPECT_EQ(n, dtype == Dtype::fp16 ? 0x7c00u : 0x7f80u) << "all that there are";
    EXPECT_EQ(rounded(dtype, infinity), infinity);
    EXPECT_TRUE(std::isnan(rounded(dtype, std::nanf(""))));
    EXPECT_TRUE(std::isnan(rounded(dtype, std::bit_cast<float>(0x7f800001u))));
    EXPECT_TRUE(std::signbit(rounded(dtype, -0.0f)));
  }
  EXPECT_EQ(rounded(Dtype::fp16, 1e30f), infinity);
}

/// What each rank brings.
float value(int rank, std::size_t i) {
  static std::vector<std::vector<float>> of_rank(8);
  auto& numbers = of_rank[static_cast<std::size_t>(rank)];
  if (numbers.empty()) {
    RandomSequence random(static_cast<std::uint64_t>(rank), RandomUse::synthetic_data);
    numbers.resize(300011);
    random.fill_normal(numbers, 1.0f);
  }
  return numbers[i] * std::ldexp(1.0f, static_cast<int>(i % 20) - 14);
}

class InHalves : public testing::TestWithParam<std::string> {
 protected:
  std::vector<float> mean(Dtype dtype, std::vector<float> numbers, std::int64_t n_not_finite = 0) {
    Buffer buffer = device.allocate(numbers.size());
    device.write(buffer, 0, numbers);
    const Range all{0, numbers.size()};
    EXPECT_EQ(comm->all_reduce_mean_in(dtype, device, buffer, {&all, 1}), n_not_finite);
    device.read(buffer, 0, numbers);
    return numbers;
  }
  std::unique_ptr<Communicator> comm = create_communicator(GetParam());
  DevicePool pool{device_under_test()};
  Device& device = pool.use(comm->intra_rank());
};
INSTANTIATE_TEST_SUITE_P(Communicators, InHalves,
                         testing::ValuesIn(communicators_under_test({"naive", "flat", "ring", "tree", "pure_nccl"})),
                         [](const auto& info) { return info.param; });

TEST_P(InHalves, AMeanIsWithinTheFormatsBoundAndTheSameOnAllRanks) {
  const int n_ranks = comm->size();
  for (const Dtype dtype : {Dtype::fp16, Dtype::bf16}) {
    const double unit = std::ldexp(1.0, dtype == Dtype::fp16 ? -11 : -8);  // half the distance of numbers near 1
    const double least = dtype == Dtype::fp16 ? std::ldexp(1.0, -25) : 0;  // half the distance of the subnormal ones
    for (const std::size_t n : {1u, 8u, 999u, 300011u}) {
      std::vector<float> own(n);
      for (std::size_t i = 0; i < n; ++i) own[i] = value(comm->rank(), i);
      const std::vector<float> seen = mean(dtype, own);
      for (std::size_t i = 0; i < n; ++i) {
        double exact = 0, sizes = 0;
        for (int r = 0; r < n_ranks; ++r) {
          exact += double{value(r, i)} / n_ranks;
          sizes += std::abs(double{value(r, i)}) / n_ranks;
        }
        // Each rank's part is rounded, then each of the sums on the way: n roundings of what is no larger than `sizes`.
        const double bound = 1.01 * (n_ranks * unit * sizes + 2 * n_ranks * least);
        ASSERT_NEAR(seen[i], exact, bound) << to_string(dtype) << " number " << i << " of " << n;
      }
      std::size_t bits = 0;
      for (const float number : seen) bits = bits * 31 + std::bit_cast<std::uint32_t>(number);
      for (const std::size_t of_rank : comm->all_gather(bits)) EXPECT_EQ(of_rank, bits);
    }
  }
}

TEST_P(InHalves, TakesHalfTheBytes) {
  const auto sent = [&] { return comm->traffic().sent_within_node.bytes + comm->traffic().sent_to_other_nodes.bytes; };
  const std::vector<float> numbers(static_cast<std::size_t>(1000 * comm->size()), 0.25f);
  mean(Dtype::fp32, numbers);
  const std::int64_t in_fp32 = sent();
  mean(Dtype::bf16, numbers);
  EXPECT_EQ(2 * (sent() - in_fp32), in_fp32) << "of those that count messages";
}

/// What says no messages says in the event stream what travels.
TEST_P(InHalves, IsTracedWithHalfTheBytes) {
  TemporaryFolder folder(testing::TempDir() + "odori_halves_");
  const std::vector<float> numbers(1000, 0.25f);
  {
    const trace::File trace(folder.path(), comm->rank(), comm->size());
    mean(Dtype::fp32, numbers);
    mean(Dtype::fp16, numbers);
  }
  const std::string events = read_file(fmt::format("{}/trace.{}.json", folder.path().string(), comm->rank()));
  const auto says = [&](int bytes) {
    return events.find(fmt::format("\"args\":{{\"bytes\":{}}}", bytes)) != std::string::npos;
  };
  const bool by_messages = GetParam() == "ring" || GetParam() == "tree";
  EXPECT_TRUE(by_messages || (says(4000) && says(2000))) << events;
}

TEST_P(InHalves, DividesBeforeItAddsAndCountsWhatIsTooLarge) {
  // 60000 of each rank: their sum is beyond 65504, their mean isn't.
  EXPECT_EQ(mean(Dtype::fp16, std::vector<float>(64, 60000.0f)), std::vector<float>(64, 60000.0f));
  std::vector<float> numbers(64, 1.0f);
  numbers[5] = numbers[40] = -70000.0f * static_cast<float>(comm->size());
  const std::vector<float> seen = mean(Dtype::fp16, numbers, 2);
  EXPECT_EQ(seen[5], -infinity);
  EXPECT_EQ(mean(Dtype::bf16, numbers)[6], 1.0f);
}

}  // namespace
}  // namespace odori
