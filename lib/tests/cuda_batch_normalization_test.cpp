// SPDX-License-Identifier: Apache-2.0
// Batch normalisation's CUDA kernels against the reference in double.
#include <cmath>
#include <numeric>

#include "backend/cuda/kernels/activation.h"
#include "backend/cuda/kernels/batch_normalization.h"
#include "backend/cuda/kernels/dropout.h"
#include "cuda_kernels_support.h"

namespace odori::test {
namespace {

namespace kernels = cuda::kernels;
using reference::Array;

/// One layer with its numbers, in the reference and on the GPU.
class BatchNormalizationTest : public KernelTest {
 protected:
  struct Layer {
    BatchNormalizationSpec spec;
    Array<double> x, gy, gamma, beta;
    reference::Statistics<double> running;
    Array<double> y() const {
      return reference::batch_normalization(x, spec, gamma, beta, reference::batch_statistics(x));
    }
  };

  /// Such that float and double agree about the ReLU.
  Layer random_layer(const Shape& shape, bool relu) {
    for (;;) {
      const Shape channels{1, shape.c, 1, 1};
      Layer layer{{.decay = 0.9f, .epsilon = 2e-5f},
                  normal_array(shape),
                  normal_array(shape),
                  normal_array(channels),
                  normal_array(channels),
                  {}};
      layer.running = {normal_array(channels).values, std::vector<double>(layer.gamma.values.size(), 1.5)};
      if (!relu) return layer;
      const auto y = layer.y().values;
      layer.spec.relu = true;
      if (std::none_of(y.begin(), y.end(), [](double v) { return std::abs(v) < 1e-5; })) return layer;
    }
  }

  struct OnGpu {
    Memory x, gy, gamma, beta, mean, inverse, running_mean, running_variance, scratch, counters;
    kernels::BatchNormalization b;
  };
  OnGpu on_gpu_(const Layer& layer, std::size_t shift = 0) {
    const Shape& s = layer.x.shape;
    const std::size_t rows = s.size() / layer.gamma.values.size(), channels = layer.gamma.values.size();
    OnGpu g{on_gpu(layer.x, shift),
            on_gpu(layer.gy),
            floats(layer.gamma.values),
            floats(layer.beta.values),
            floats(channels),
            floats(channels),
            floats(layer.running.mean),
            floats(layer.running.variance),
            floats(kernels::batch_normalization_scratch_bytes(rows, s.c) / 4),
            floats(std::vector<double>(kernels::batch_normalization_counters(rows, s.c), 0)),
            {}};
    g.b = {storage,        rows,          s.c,           layer.spec,      g.x.data<void>(),
           g.gamma.data(), g.beta.data(), g.mean.data(), g.inverse.data()};
    if (last_block) g.b.counters = g.counters.data<unsigned int>();
    return g;
  }
  void train(OnGpu& g, const Memory& y) {
    kernels::batch_normalization_train(stream, g.b, y.data<void>(), g.running_mean.data(), g.running_variance.data(),
                                       g.scratch.data<void>());
  }
  /// With a second kernel for the partial results, and with the last block.
  void check(const Shape& shape, bool relu, std::size_t shift = 0);
  void check_bits();

  bool last_block = false;
};

void BatchNormalizationTest::check(const Shape& shape, bool relu, std::size_t shift) {
  const double sums = 2e-5;  // of fp32 sums, whatever the storage
  const Layer layer = random_layer(shape, relu);
  const auto batch = reference::batch_statistics(layer.x);
  const auto expected_evaluated =
      reference::batch_normalization(layer.x, layer.spec, layer.gamma, layer.beta, layer.running);
  const Array<double> expected = layer.y();
  auto running = layer.running;
  reference::update_running(running, batch, layer.spec, layer.x.values.size() / layer.gamma.values.size());
  const auto& gy = layer.gy.values;
  const double terms = std::sqrt(std::inner_product(gy.begin(), gy.end(), gy.begin(), 0.0));
  const auto gradients =
      reference::batch_normalization_backward(layer.x, layer.spec, layer.gamma, batch, expected, layer.gy);
  for (const bool last : {false, true}) {
    SCOPED_TRACE(testing::Message() << shape.n << "x" << shape.c << "x" << shape.h << "x" << shape.w
                                    << (relu ? ", relu" : "") << (last ? ", last block" : ""));
    last_block = last;
    OnGpu g = on_gpu_(layer, shift);
    const Memory y = poisoned(shape), evaluated = poisoned(shape), gx = poisoned(shape);
    const Memory ggamma = floats(layer.gamma.values.size()), gbeta = floats(layer.gamma.values.size());
    kernels::batch_normalization_evaluate(stream, g.b, evaluated.data<void>(), g.running_mean.data(),
                                          g.running_variance.data());
    EXPECT_LE(error(evaluated.read(), expected_evaluated), tolerance);
    train(g, y);
    EXPECT_LE(error(y.read(), expected), 2 * tolerance);
    EXPECT_LE(error(g.running_mean, running.mean), sums);
    EXPECT_LE(error(g.running_variance, running.variance), sums);
    for (const void* to : {static_cast<const void*>(nullptr), static_cast<const void*>(gx.data<void>()),
                           static_cast<const void*>(g.gy.data<void>())}) {
      g.scratch.write(std::vector<float>(kernels::batch_normalization_scratch_bytes(g.b.rows, shape.c) / 4, NAN));
      kernels::batch_normalization_backward(stream, g.b, g.gy.data<void>(), const_cast<void*>(to), ggamma.data(),
                                            gbeta.data(), g.scratch.data<void>());
      EXPECT_LE(error_of_sums(ggamma, gradients.gamma.values, terms), sums);
      EXPECT_LE(error_of_sums(gbeta, gradients.beta.values, terms), sums);
    }
    for (const float counter : g.counters.read()) ASSERT_EQ(counter, 0) << "as the next call needs it";
    if (g.b.rows <= 2) continue;  // its gradient is 0 but for epsilon, and what float makes of it is noise
    const std::vector<float> apart = gx.read();
    EXPECT_LE(error(apart, gradients.x), 4 * tolerance);
    EXPECT_EQ(g.gy.read(), apart) << "in place";
  }
}

TEST_P(BatchNormalizationTest, ForwardAndBackward) {
  for (const bool relu : {false, true}) {
    for (const Shape& shape : {Shape{1, 3, 6, 6},
                               {3, 10, 5, 7},
                               {4, 16, 8, 8},
                               {16, 20, 1, 1},
                               {32, 512, 1, 1},
                               {2, 64, 16, 16},
                               {7, 24, 3, 3},
                               {64, 8, 9, 9},
                               {5, 264, 2, 2},
                               {2, 33, 1, 1}})
      check(shape, relu);
    check({3, 16, 4, 4}, relu, 1);
  }
}

TEST_P(BatchNormalizationTest, OneRow) { check({1, 12, 1, 1}, false); }

/// More chunks than a block of the second kernel has threads.
TEST_P(BatchNormalizationTest, ManyRows) { check({16, 8, 68, 68}, false); }

/// Where float4's cut has more chunks than the others': the scratch memory has to be enough for all.
TEST_P(BatchNormalizationTest, MostChunks) { check({11, 68, 25, 40}, false); }

TEST_P(BatchNormalizationTest, LargeMeansLoseNothing) {
  if (storage == Storage::bf16) return;  // which can't hold such numbers
  Layer layer = random_layer({64, 4, 8, 8}, false);
  for (double& x : layer.x.values) x = static_cast<float>(x + 1000);
  std::vector<double> inverse;
  for (const double v : reference::batch_statistics(layer.x).variance)
    inverse.push_back(1 / std::sqrt(v + layer.spec.epsilon));
  for (const bool last : {false, true}) {
    last_block = last;
    OnGpu g = on_gpu_(layer);
    train(g, poisoned(layer.x.shape));
    EXPECT_LE(error(g.inverse, inverse), 1e-5);  // sums of x * x would be off by 1e-1
  }
}

TEST_P(BatchNormalizationTest, FusedDropoutGivesTheBitsOfBoth) {
  const Memory step = floats((sizeof(cuda::Step) + 3) / 4);
  std::vector<float> raw(sizeof(cuda::Step) / 4);
  const cuda::Step key{{.seed = 5, .stream = 1, .step = 7}, {}, 0};
  std::memcpy(raw.data(), &key, sizeof key);
  cuda::check(cudaMemcpyAsync(step.data(), raw.data(), sizeof key, cudaMemcpyHostToDevice, stream), "writing the step");
  for (const bool relu : {false, true})
    for (const Shape& shape : {Shape{4, 16, 8, 8}, {3, 5, 7, 3}, {2, 20, 4, 4}, {5, 24, 2, 2}, {9, 40, 1, 1}}) {
      SCOPED_TRACE(testing::Message() << shape.n << "x" << shape.c << "x" << shape.h << "x" << shape.w << ", " << relu);
      const Layer layer = random_layer(shape, relu);
      const std::size_t channels = layer.gamma.values.size();
      std::vector<std::vector<float>> seen;
      for (const bool fused : {false, true}) {
        OnGpu g = on_gpu_(layer);
        const kernels::FusedDropout d{shape, 0.4f, 3, step.data<const cuda::Step>()};
        const Memory kept = floats(kernels::kept_bytes(storage, g.b.rows, shape.c) / 4 + 1);
        const Memory y = poisoned(shape), ggamma = floats(channels), gbeta = floats(channels);
        const auto drop = [&](const Memory& x) {
          kernels::dropout(stream, storage, x.data<void>(), x.data<void>(), shape, d.ratio, d.layer, d.step);
        };
        if (fused) g.b.dropout = d, g.b.dropout.kept = kept.data<std::uint8_t>();
        train(g, y);
        if (!fused) drop(y), drop(g.gy);
        kernels::batch_normalization_backward(stream, g.b, g.gy.data<void>(), g.gy.data<void>(), ggamma.data(),
                                              gbeta.data(), g.scratch.data<void>());
        seen.emplace_back();
        for (const Memory* result : std::initializer_list<const Memory*>{&y, &ggamma, &gbeta, &g.gy})
          for (const float value : result->read()) seen.back().push_back(value);
      }
      EXPECT_EQ(seen[1], seen[0]);
      const auto dropped = std::count(seen[1].begin(), seen[1].end(), 0.0f);
      EXPECT_GT(dropped, 0);
    }
}

TEST_P(BatchNormalizationTest, AFusedGeluGivesTheBitsOfBoth) {
  for (const Shape& shape : {Shape{4, 16, 8, 8}, {3, 5, 7, 3}, {5, 24, 2, 2}, {9, 40, 1, 1}}) {
    SCOPED_TRACE(testing::Message() << shape.n << "x" << shape.c << "x" << shape.h << "x" << shape.w);
    const Layer layer = random_layer(shape, false);
    const std::size_t channels = layer.gamma.values.size(), n = shape.size();
    std::vector<std::vector<float>> seen;
    for (const bool fused : {false, true}) {
      OnGpu g = on_gpu_(layer);
      const Memory normalised = poisoned(shape), y = poisoned(shape), ggamma = floats(channels),
                   gbeta = floats(channels);
      void *x = normalised.data<void>(), *gy = g.gy.data<void>();
      g.b.gelu = fused;
      train(g, fused ? y : normalised);
      if (!fused) {
        kernels::gelu(stream, storage, x, y.data<void>(), n);
        kernels::gelu_backward(stream, storage, x, gy, gy, n);
      }
      kernels::batch_normalization_backward(stream, g.b, gy, gy, ggamma.data(), gbeta.data(), g.scratch.data<void>());
      seen.push_back(y.read());
      for (const Memory* result : std::initializer_list<const Memory*>{&ggamma, &gbeta, &g.gy})
        for (const float value : result->read()) seen.back().push_back(value);
    }
    EXPECT_EQ(seen[1], seen[0]);
    EXPECT_EQ(std::count_if(seen[1].begin(), seen[1].end(), [](float x) { return std::isnan(x); }), 0);
  }
}

/// The blocks of an emulated GPU run in either order, so that the last one is another one each time.
TEST_P(BatchNormalizationTest, LastBlockGivesTheSameBitsEachTime) {
  last_block = true;
  check_bits();
}
TEST_P(BatchNormalizationTest, SameBitsEachTime) { check_bits(); }

void BatchNormalizationTest::check_bits() {
  Layer layer = random_layer({33, 24, 12, 12}, true);
  std::vector<std::vector<float>> seen;
  for (int run = 0; run < 5; ++run) {
    OnGpu g = on_gpu_(layer);
    const Memory y = poisoned(layer.x.shape), ggamma = floats(24), gbeta = floats(24);
    train(g, y);
    kernels::batch_normalization_backward(stream, g.b, g.gy.data<void>(), g.gy.data<void>(), ggamma.data(),
                                          gbeta.data(), g.scratch.data<void>());
    seen.push_back(y.read());
    for (const Memory* more : std::initializer_list<const Memory*>{&g.running_variance, &ggamma, &gbeta, &g.gy})
      for (const float value : more->read()) seen.back().push_back(value);
    EXPECT_EQ(seen.back(), seen.front());
  }
}

INSTANTIATE_TEST_SUITE_P(Storages, BatchNormalizationTest, testing::Values(Storage::fp32, Storage::bf16),
                         name_of_storage);

}  // namespace
}  // namespace odori::test
