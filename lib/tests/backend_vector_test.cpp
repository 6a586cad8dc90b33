// SPDX-License-Identifier: Apache-2.0
// A device's memory and its arithmetic on ranges of flat vectors.
#include <algorithm>
#include <memory>
#include <mutex>
#include <thread>

#include "backend/reference/adam.h"
#include "backend/reference/momentum_sgd.h"
#include "backend_support.h"

namespace odori::test {
namespace {

constexpr std::size_t n = 100'003;
const Range ranges[] = {{0, n}, {0, 0}, {0, 1}, {16, 4096}, {48, 99'999}, {99'984, n}};

class VectorTest : public DeviceTest {
 protected:
  Buffer buffer(const std::vector<float>& values) {
    Buffer b = device.allocate(values.size());
    device.write(b, 0, values);
    return b;
  }
  std::vector<float> read(const Buffer& b) {
    std::vector<float> values(b.size());
    device.read(b, 0, values);
    return values;
  }
  /// `seen` is f(i) inside the range, to 1e-6 of the terms' size, and `before` outside, bit for bit.
  template <typename F>
  static void expect_on_range(const std::vector<float>& seen, const std::vector<float>& before, Range range, F f) {
    for (std::size_t i = 0; i < seen.size(); ++i) {
      if (range.begin <= i && i < range.end)
        ASSERT_NEAR(seen[i], f(i), 4e-6) << i;
      else
        ASSERT_EQ(seen[i], before[i]) << i;
    }
  }

  std::vector<float> x = normal(n, random), y = normal(n, random), z = normal(n, random);
};

TEST_P(VectorTest, NewMemoryIsZero) {
  for (const std::size_t size : {0u, 1u, 1000u, 1'000'000u}) {
    const Buffer b = device.allocate(size);
    EXPECT_EQ(b.size(), size);
    const auto values = read(b);
    EXPECT_EQ(std::count(values.begin(), values.end(), 0.0f), static_cast<std::ptrdiff_t>(size));
  }
}

TEST_P(VectorTest, WriteAndReadAtAnOffset) {
  Buffer b = buffer(x);
  device.write(b, 100, std::span(y).first(50));
  std::vector<float> part(60);
  device.read(b, 95, part);
  EXPECT_TRUE(std::equal(part.begin(), part.begin() + 5, x.begin() + 95));
  EXPECT_TRUE(std::equal(part.begin() + 5, part.begin() + 55, y.begin()));
  EXPECT_TRUE(std::equal(part.begin() + 55, part.end(), x.begin() + 150));
}

TEST_P(VectorTest, Axpy) {
  const Buffer bx = buffer(x);
  for (const Range range : ranges) {
    Buffer by = buffer(y);
    device.axpy(0.3f, bx, by, range);
    expect_on_range(read(by), y, range, [&](std::size_t i) { return y[i] + 0.3f * x[i]; });
  }
}

TEST_P(VectorTest, Scale) {
  for (const Range range : ranges) {
    Buffer by = buffer(y);
    device.scale(-1.7f, by, range);
    expect_on_range(read(by), y, range, [&](std::size_t i) { return -1.7f * y[i]; });
  }
}

TEST_P(VectorTest, Swap) {
  for (const Range range : ranges) {
    Buffer bx = buffer(x), by = buffer(y);
    device.swap(bx, by, range);
    std::vector<float> in_x = x, in_y = y;
    std::swap_ranges(in_x.begin() + static_cast<std::ptrdiff_t>(range.begin),
                     in_x.begin() + static_cast<std::ptrdiff_t>(range.end),
                     in_y.begin() + static_cast<std::ptrdiff_t>(range.begin));
    EXPECT_TRUE(read(bx) == in_x && read(by) == in_y);
  }
}

// An emulated GPU runs what is queued as late, or as early, as it may: without the events the values differ.
TEST_P(VectorTest, AStreamWaitsForAnEventOfAnother) {
  const std::unique_ptr<Device> own = device.create_stream();
  EXPECT_EQ(own == nullptr, device.kind() == DeviceKind::cpu);
  Device& stream = own ? *own : device;
  Buffer b = buffer(x);
  const Range all{0, n};
  std::vector<float> seen(n);
  for (int i = 0; i < 20; ++i) {
    device.scale(2, b, all);
    const DeviceEvent doubled = device.record_event();
    std::jthread([&] {
      stream.bind_thread();
      stream.wait_event(doubled);
      stream.read(b, 0, seen);
      stream.scale(0.5f, b, all);
    }).join();
    device.wait_event(stream.record_event());
    EXPECT_TRUE(read(b) == x) << i;
    EXPECT_EQ(seen[7], 2 * x[7]) << i;
  }
}

TEST_P(VectorTest, MomentumSgd) {
  const Buffer g = buffer(x);
  std::vector<double> p(y.begin(), y.end()), v(z.begin(), z.end());
  reference::momentum_sgd<double>(p, {x.begin(), x.end()}, v, 0.05, 0.9);
  for (const Range range : ranges) {
    Buffer bp = buffer(y), bv = buffer(z);
    device.momentum_sgd(bp, g, bv, polyak(0.05f, 0.9f), range);
    expect_on_range(read(bp), y, range, [&](std::size_t i) { return p[i]; });
    expect_on_range(read(bv), z, range, [&](std::size_t i) { return v[i]; });
  }
}

/// A group of the first 16 elements with weight decay, and one of all others with another rate.
TEST_P(VectorTest, NesterovOfTwoGroups) {
  const Buffer g = buffer(x);
  const std::vector<double> of_x(x.begin(), x.end());
  std::vector<double> p(y.begin(), y.end()), v(z.begin(), z.end()), p1 = p, v1 = v;
  reference::nesterov_sgd<double>(p, of_x, v, 0.05, 0.9, 0.3);
  reference::nesterov_sgd<double>(p1, of_x, v1, 0.5, 0.9, 0);
  const std::vector<MomentumGroups::Part> parts{{{0, 16}, 0}, {{16, n}, 1}};
  MomentumGroups groups(nesterov(0.05f, 0.9f, 0.3f));
  groups.factors[1] = nesterov(0.5f, 0.9f);
  groups.parts = parts;
  for (const Range range : ranges) {
    Buffer bp = buffer(y), bv = buffer(z);
    device.momentum_sgd(bp, g, bv, groups, range);
    expect_on_range(read(bp), y, range, [&](std::size_t i) { return (i < 16 ? p : p1)[i]; });
    expect_on_range(read(bv), z, range, [&](std::size_t i) { return (i < 16 ? v : v1)[i]; });
  }
}

TEST_P(VectorTest, LookAhead) {
  for (const float keep : {0.0f, 0.25f, 1.0f})
    for (const Range range : ranges) {
      Buffer slow = buffer(x), fast = buffer(y);
      device.look_ahead(slow, fast, keep, range);
      const auto average = [&](std::size_t i) { return keep * double{x[i]} + (1 - keep) * double{y[i]}; };
      expect_on_range(read(slow), x, range, average);
      expect_on_range(read(fast), y, range, average);
    }
}

TEST_P(VectorTest, AdamOfAShard) {
  constexpr float beta1 = 0.9f, beta2 = 0.999f;
  const AdamFactors factors{beta1, 1 - beta1, beta2, 1 - beta2, 0.05f / (1 - beta1), 1 / std::sqrt(1 - beta2), 1e-3f};
  const Buffer g = buffer(x);
  std::vector<double> p(y.begin(), y.end()), m(z.begin(), z.end()), v(n, 0.5);
  reference::adam<double>(p, {x.begin(), x.end()}, m, v, 1, 0.05, beta1, beta2, 1e-3);
  constexpr std::size_t shard = 16;  // the first element of the moments
  for (const Range range : ranges) {
    if (range.begin < shard) continue;
    const std::vector<float> first(z.begin() + shard, z.end()), second(n - shard, 0.5f);
    Buffer bp = buffer(y), bm = buffer(first), bv = buffer(second);
    device.adam(bp, g, bm, bv, factors, range, shard);
    const Range of_shard{range.begin - shard, range.end - shard};
    expect_on_range(read(bp), y, range, [&](std::size_t i) { return p[i]; });
    expect_on_range(read(bm), first, of_shard, [&](std::size_t i) { return m[i + shard]; });
    expect_on_range(read(bv), second, of_shard, [&](std::size_t i) { return v[i + shard]; });
  }
}

TEST_P(VectorTest, PiecesCoverTheRangeOnce) {
  for (const Range range : ranges) {
    std::vector<int> visits(n);
    std::mutex mutex;
    device.for_pieces(range, [&](Range piece) {
      const std::lock_guard lock(mutex);
      EXPECT_TRUE(piece.begin == range.begin || piece.begin % 16 == 0);
      for (std::size_t i = piece.begin; i < piece.end; ++i) ++visits[i];
    });
    for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(visits[i], range.begin <= i && i < range.end) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, VectorTest, testing::ValuesIn(devices_under_test()), name_of);

}  // namespace
}  // namespace odori::test
