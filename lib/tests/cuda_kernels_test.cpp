// SPDX-License-Identifier: Apache-2.0
// The CUDA kernels, each against the reference in double: odd shapes, poisoned outputs, in place where they may be.
#include "backend/cuda/kernels/activation.h"
#include "backend/cuda/kernels/bias.h"
#include "backend/cuda/kernels/half_precision.h"
#include "backend/cuda/kernels/layout.h"
#include "backend/cuda/kernels/max_pooling.h"
#include "backend/cuda/kernels/momentum_sgd.h"
#include "backend/cuda/kernels/vector.h"
#include "backend/reference/adam.h"
#include "backend/reference/momentum_sgd.h"
#include "comm/half_precision.h"
#include "cuda_kernels_support.h"

namespace odori::test {
namespace {

namespace kernels = cuda::kernels;
using reference::Array;

// ---- Flat vectors: no number at all, tails, addresses that don't lie well

class KernelVectorTest : public KernelTest {
 protected:
  static constexpr std::size_t sizes[] = {0, 1, 3, 4, 5, 1023, 1024, 1025, 10'007};

  template <typename Check>
  void for_each_case(const Check& check) {
    for (const std::size_t n : sizes)
      for (const std::size_t shift : {0, 1, 4}) {
        SCOPED_TRACE(testing::Message() << n << " numbers, shifted by " << shift);
        check(n, shift);
      }
  }
  std::vector<float> some(std::size_t n) {
    std::vector<float> values = normal(n, random);
    for (float& x : values) x = rounded(storage, x);
    return values;
  }
};

TEST_P(KernelVectorTest, Arithmetic) {
  for_each_case([&](std::size_t n, std::size_t shift) {
    const auto x = normal(n, random), y = normal(n, random);
    const Memory gx(stream, Storage::fp32, x, shift), gy(stream, Storage::fp32, y, shift);
    const double terms = std::sqrt(static_cast<double>(n));  // numbers of about 1
    std::vector<double> expected(y.begin(), y.end());
    kernels::axpy(stream, 0.3f, gx.data(), gy.data(), n);
    for (std::size_t i = 0; i < n; ++i) expected[i] += 0.3f * x[i];
    EXPECT_LE(error_of_sums(gy, expected, terms), 1e-6);
    kernels::scale(stream, -1.7f, gy.data(), n);
    for (double& e : expected) e *= -1.7f;
    EXPECT_LE(error_of_sums(gy, expected, terms), 1e-6);
  });
}

/// Gradients of bf16 where their bit says so, factors by value, in memory and in memory by a table of groups, with and
/// without weight decay.
TEST_P(KernelVectorTest, MomentumSgd) {
  for_each_case([&](std::size_t n, std::size_t shift) {
    const auto p = normal(n, random), v = normal(n, random), g = normal(n, random), of_bf16 = normal(n, random);
    std::vector<std::uint32_t> bits(n / 512 + 1);
    for (std::uint32_t& word : bits) word = static_cast<std::uint32_t>(random.next());
    const Memory gradients(stream, Storage::fp32, g, shift), in_bf16(stream, Storage::bf16, of_bf16, shift);
    Memory table(stream, Storage::fp32, bits.size());
    cuda::check(cudaMemcpyAsync(table.data<void>(), bits.data(), bits.size() * 4, cudaMemcpyHostToDevice, stream), "");
    const double terms = std::sqrt(static_cast<double>(n));  // values of about 1
    for (const float decay : {0.0f, 0.25f}) {
      const bool with_bf16 = storage == Storage::bf16;
      std::vector<double> true_p(p.begin(), p.end()), true_v(v.begin(), v.end()), true_g(g.begin(), g.end());
      for (std::size_t i = 0; i < n; ++i) {
        if (with_bf16 && bits[i / 512] >> i / 16 % 32 & 1) true_g[i] = rounded(Storage::bf16, of_bf16[i]);
        true_g[i] += decay * p[i];
      }
      reference::momentum_sgd<double>(true_p, true_g, true_v, 0.05, 0.9);
      const MomentumFactors factors = polyak(0.05f, 0.9f, decay);
      // Group 0 would leave elements as they are; the table has group 1 for all.
      Memory changing(stream, Storage::fp32, 2 * sizeof factors / 4), groups(stream, Storage::fp32, n / 64 + 1);
      const MomentumFactors both[]{{.momentum = 1}, factors};
      const std::vector<std::uint8_t> ones(4 * (n / 64 + 1), 1);
      cuda::check(cudaMemcpyAsync(changing.data<void>(), both, sizeof both, cudaMemcpyHostToDevice, stream), "");
      cuda::check(cudaMemcpyAsync(groups.data<void>(), ones.data(), ones.size(), cudaMemcpyHostToDevice, stream), "");
      for (const int how : {0, 1, 2}) {
        const Memory on_p(stream, Storage::fp32, p, shift), on_v(stream, Storage::fp32, v, shift),
            copy(stream, Storage::bf16, n, shift);
        kernels::UpdateVectors vectors{on_p.data(), on_v.data(), gradients.data()};
        if (with_bf16)
          vectors.g_bf16 = in_bf16.data<void>(), vectors.in_bf16 = table.data<std::uint32_t>(),
          vectors.copy = copy.data<void>();
        if (how == 2) vectors.groups = groups.data<std::uint8_t>();
        const auto* in_memory = changing.data<MomentumFactors>();
        if (how > 0 || with_bf16)
          kernels::momentum_sgd(stream, vectors, how == 2 ? in_memory : in_memory + 1, n);
        else
          kernels::momentum_sgd(stream, vectors, factors, {0, n});
        EXPECT_LE(error_of_sums(on_p, true_p, terms), 1e-6);
        EXPECT_LE(error_of_sums(on_v, true_v, terms), 1e-6);
        std::vector<float> copied = on_p.read();
        for (float& x : copied) x = rounded(Storage::bf16, x);
        if (with_bf16) {
          EXPECT_EQ(copy.read(), copied);
        }
      }
    }
  });
}

TEST_P(KernelVectorTest, Adam) {
  constexpr float beta1 = 0.9f, beta2 = 0.999f;
  const AdamFactors factors{beta1, 1 - beta1, beta2, 1 - beta2, 0.05f / (1 - beta1), 1 / std::sqrt(1 - beta2), 1e-3f};
  for_each_case([&](std::size_t n, std::size_t shift) {
    const auto g = normal(n, random), p = normal(n, random), m = normal(n, random);
    const std::vector<float> v(n, 0.5f);
    const Memory of_g(stream, Storage::fp32, g, shift);
    Memory of_p(stream, Storage::fp32, p, shift), of_m(stream, Storage::fp32, m, shift);
    Memory of_v(stream, Storage::fp32, v, shift);
    std::vector<double> true_p(p.begin(), p.end()), true_m(m.begin(), m.end()), true_v(v.begin(), v.end());
    reference::adam<double>(true_p, {g.begin(), g.end()}, true_m, true_v, 1, 0.05, beta1, beta2, 1e-3);
    kernels::adam(stream, of_p.data(), of_g.data(), of_m.data(), of_v.data(), factors, n);
    const double terms = std::sqrt(static_cast<double>(n));  // values of about 1
    EXPECT_LE(error_of_sums(of_p, true_p, terms), 1e-6);
    EXPECT_LE(error_of_sums(of_m, true_m, terms), 1e-6);
    EXPECT_LE(error_of_sums(of_v, true_v, terms), 1e-6);
  });
}

TEST_P(KernelVectorTest, NoiseIsUniformAndAnotherOneWithAnotherSeed) {
  for_each_case([&](std::size_t n, std::size_t shift) {
    Memory one(stream, storage, n, shift), other(stream, storage, n, shift);
    kernels::fill_with_noise(stream, storage, one.data<void>(), n, 1);
    kernels::fill_with_noise(stream, storage, other.data<void>(), n, 2);
    const std::vector<float> a = one.read(), b = other.read();
    double sum = 0, squares = 0, product = 0;
    for (std::size_t i = 0; i < n; ++i) {
      EXPECT_LE(std::abs(a[i]), 1);  // -1 .. 1: so it is rounded in bf16
      sum += a[i], squares += a[i] * a[i], product += a[i] * b[i];
    }
    const double five_deviations = 5 * std::sqrt(static_cast<double>(n));
    EXPECT_LE(std::abs(sum), five_deviations * std::sqrt(1.0 / 3));
    EXPECT_LE(std::abs(squares - static_cast<double>(n) / 3), five_deviations * std::sqrt(4.0 / 45));
    EXPECT_LE(std::abs(product), five_deviations / 3);
  });
}

TEST_P(KernelVectorTest, AddAndScale) {
  for (const std::size_t n_others : {0, 1, 2, 7, 8, 9, 17}) {
    constexpr std::size_t n = 1003;
    std::vector<Memory> others;
    std::vector<const float*> pointers;
    std::vector<float> y = normal(n, random);
    std::vector<double> expected(y.begin(), y.end());
    for (std::size_t other = 0; other < n_others; ++other) {
      const auto x = normal(n, random);
      for (std::size_t i = 0; i < n; ++i) expected[i] += x[i];
      others.emplace_back(stream, Storage::fp32, x, other == 5 ? 1 : 0);
      pointers.push_back(others.back().data());
    }
    for (double& e : expected) e *= 0.25;
    Memory sum(stream, Storage::fp32, y);
    kernels::add_and_scale(stream, 0.25f, pointers.data(), static_cast<int>(n_others), sum.data(), n);
    EXPECT_LE(error(sum, expected), 1e-6) << n_others << " others";
  }
}

TEST_P(KernelVectorTest, Cast) {
  for_each_case([&](std::size_t n, std::size_t shift) {
    std::vector<float> x = normal(n, random);
    // Half way between two bf16, to the even one: down, then up.
    if (n > 5) x[3] = std::bit_cast<float>(0x3f808000u), x[5] = std::bit_cast<float>(0x3f818000u);
    const Memory from(stream, Storage::fp32, x, shift), to(stream, storage, n, shift), back(stream, Storage::fp32, n);
    kernels::cast(stream, Storage::fp32, from.data<void>(), storage, to.data<void>(), n);
    kernels::cast(stream, storage, to.data<void>(), Storage::fp32, back.data<void>(), n);
    for (float& e : x) e = rounded(storage, e);
    EXPECT_EQ(back.read(), x);
  });
}

/// Ranks agree on a mean, whichever of them packs on a GPU.
TEST_P(KernelVectorTest, PacksAsTheHostDoesAndCountsWhatIsNotFinite) {
  const Dtype dtype = storage == Storage::bf16 ? Dtype::bf16 : Dtype::fp16;
  for_each_case([&](std::size_t n, std::size_t shift) {
    std::vector<float> x(n);
    for (float& e : x) e = std::bit_cast<float>(static_cast<std::uint32_t>(random.next()));  // of all sizes, some NaN
    const std::vector<float> near_1 = normal(n, random);
    for (std::size_t i = 0; i < n; i += 2) x[i] = std::ldexp(near_1[i], static_cast<int>(i % 40) - 24);
    if (n > 5) x[1] = INFINITY, x[3] = -INFINITY, x[4] = 65520 * 3, x[5] = 0;
    std::vector<float> packed(packed_size(n)), expected(n);
    pack(dtype, 1.0f / 3, x, packed);
    const std::int64_t n_not_finite = unpack(dtype, packed, expected);

    const Memory from(stream, Storage::fp32, x, shift), halves(stream, Storage::bf16, n, shift),
        back(stream, Storage::fp32, n, shift),
        counter(stream, Storage::fp32, std::vector<float>{std::bit_cast<float>(100u)});
    kernels::pack(stream, dtype, 1.0f / 3, from.data(), halves.data<void>(), n);
    kernels::unpack(stream, dtype, halves.data<void>(), back.data(), n, counter.data<std::uint32_t>());
    const std::vector<float> seen = back.read();
    for (std::size_t i = 0; i < n; ++i)
      ASSERT_TRUE(seen[i] == expected[i] || (std::isnan(seen[i]) && std::isnan(expected[i])))
          << seen[i] << " of " << x[i] << ", and the host has " << expected[i];
    EXPECT_EQ(std::bit_cast<std::uint32_t>(counter.read()[0]), 100 + n_not_finite);
  });
}

TEST_P(KernelVectorTest, Relu) {
  for_each_case([&](std::size_t n, std::size_t shift) {
    const auto x = some(n), gy = some(n);
    const Memory on_x(stream, storage, x, shift), on_y(stream, storage, n, shift), on_gy(stream, storage, gy, shift);
    kernels::relu(stream, storage, on_x.data<void>(), on_y.data<void>(), n);
    kernels::relu_backward(stream, storage, on_y.data<void>(), on_gy.data<void>(), on_gy.data<void>(), n);
    kernels::relu(stream, storage, on_x.data<void>(), on_x.data<void>(), n);
    const auto y = on_y.read(), gx = on_gy.read();
    EXPECT_EQ(on_x.read(), y) << "in place";
    for (std::size_t i = 0; i < n; ++i) {
      ASSERT_EQ(y[i], std::max(x[i], 0.0f)) << i;
      ASSERT_EQ(gx[i], x[i] > 0 ? gy[i] : 0.0f) << i;
    }
  });
}

/// What has gone wrong shall be seen, and not be trained on as zeros.
TEST_P(KernelVectorTest, ReluPassesNotANumber) {
  const Memory x(stream, storage, std::vector<float>(9, NAN));
  kernels::relu(stream, storage, x.data<void>(), x.data<void>(), 9);
  for (const float y : x.read()) EXPECT_TRUE(std::isnan(y));
}

// ---- Layouts and biases

TEST_P(KernelTest, LayoutsThereAndBack) {
  for (const Shape& shape : {Shape{1, 1, 1, 1}, {2, 3, 5, 7}, {3, 8, 4, 4}, {5, 20, 1, 1}, {1, 17, 1, 9}}) {
    const Array<double> array = normal_array(shape);
    const Memory plain = floats(array.values), to = poisoned(shape), back = floats(shape.size());
    kernels::to_channels_last(stream, plain.data(), storage, to.data<void>(), shape);
    EXPECT_EQ(to.read(), channels_last(array));
    kernels::to_plain(stream, storage, to.data<void>(), back.data(), shape);
    EXPECT_EQ(back.read(), plain.read());
  }
}

TEST_P(KernelTest, Bias) {
  for (const auto& [rows, columns] : {std::pair{1, 1}, {5, 10}, {128, 100}, {300, 7}, {2, 513}, {4000, 24}}) {
    const Array<double> y = normal_array({rows, columns, 1, 1}), bias = normal_array({1, columns, 1, 1});
    Array<double> sum = y;
    std::vector<double> gradient(static_cast<std::size_t>(columns));
    for (int r = 0; r < rows; ++r)
      for (int c = 0; c < columns; ++c) {
        sum(r, c, 0, 0) += bias.values[static_cast<std::size_t>(c)];
        gradient[static_cast<std::size_t>(c)] += y(r, c, 0, 0);
      }
    const Memory on_y = on_gpu(y), on_bias = floats(bias.values), on_gradient = floats(bias.values.size());
    const Memory workspace = floats(std::vector<double>(kernels::bias_workspace_bytes(rows, columns) / 4));
    std::vector<std::vector<float>> seen;
    for (void* const shared : {static_cast<void*>(nullptr), workspace.data<void>(), workspace.data<void>()}) {
      kernels::bias_gradient(stream, storage, on_y.data<void>(), on_gradient.data(), rows, columns, shared);
      EXPECT_LE(error(on_gradient, gradient), 1e-6) << rows << "x" << columns;
      seen.push_back(on_gradient.read());
    }
    EXPECT_EQ(seen[1], seen[2]) << "the same bits each time";
    kernels::add_bias(stream, storage, on_y.data<void>(), on_bias.data(), rows, columns);
    EXPECT_LE(error(on_y.read(), sum), tolerance) << rows << "x" << columns;
  }
}

// ---- Max pooling

TEST_P(KernelTest, MaxPooling) {
  for (const PoolingSpec& spec : {PoolingSpec{2, 2}, {4, 4}, {3, 2}, {2, 3}, {3, 1}, {1, 1}})
    for (const Shape& shape : {Shape{2, 16, 8, 8}, {3, 5, 4, 12}, {1, 24, 9, 7}, {1, 1, 5, 5}, {17, 64, 4, 4}})
      for (const std::size_t shift : {0, 1}) {
        SCOPED_TRACE(testing::Message() << spec.kernel << " by " << spec.stride << ", " << shape.n << "x" << shape.c
                                        << "x" << shape.h << "x" << shape.w << ", shifted by " << shift);
        Array<double> x = normal_array(shape);
        for (double& value : x.values) value = std::round(2 * value);  // several are equal: the first one counts
        const Array<double> y = reference::max_pooling(x, spec), gy = normal_array(y.shape);
        const Memory on_x = on_gpu(x, shift), on_y = poisoned(y.shape), on_gy = on_gpu(gy), on_gx = poisoned(shape);
        const Memory where(stream, Storage::fp32, y.shape.size() / 4 + 1);
        kernels::max_pooling(stream, storage, on_x.data<void>(), shape, on_y.data<void>(), y.shape, spec,
                             where.data<std::uint8_t>());
        EXPECT_EQ(on_y.read(), channels_last(y));
        kernels::max_pooling_backward(stream, storage, on_gy.data<void>(), y.shape, where.data<std::uint8_t>(),
                                      on_gx.data<void>(), shape, spec);
        EXPECT_LE(error(on_gx.read(), reference::max_pooling_backward(x, spec, gy)), tolerance);
        const Memory again = poisoned(y.shape);
        kernels::max_pooling(stream, storage, on_x.data<void>(), shape, again.data<void>(), y.shape, spec, nullptr);
        EXPECT_EQ(again.read(), on_y.read()) << "without a backward pass";
      }
}

const auto storages = testing::Values(Storage::fp32, Storage::bf16);
INSTANTIATE_TEST_SUITE_P(Storages, KernelTest, storages, name_of_storage);
INSTANTIATE_TEST_SUITE_P(Storages, KernelVectorTest, storages, name_of_storage);

}  // namespace
}  // namespace odori::test
