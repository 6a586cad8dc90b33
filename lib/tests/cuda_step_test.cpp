// SPDX-License-Identifier: Apache-2.0
// The CUDA kernels that read the step: dropout, the loss, and loading images, against the reference.
#include "backend/cuda/kernels/dropout.h"
#include "backend/cuda/kernels/load.h"
#include "backend/cuda/kernels/softmax_cross_entropy.h"
#include "cuda_kernels_support.h"

namespace odori::test {
namespace {

namespace kernels = cuda::kernels;
using cuda::Step;
using reference::Array;

class StepTest : public KernelTest {
 protected:
  /// A step in the GPU's memory, with the examples behind it.
  class OnGpu {
   public:
    OnGpu(cudaStream_t stream, int batch, const RandomKey& key, const Transform& transform, const Batch& examples)
        : memory_(stream, Storage::fp32, (cuda::step_bytes(batch) + 3) / 4),
          pixels_(stream, Storage::fp32, examples.examples.size() * Example::bytes / 4 + 1) {
      std::vector<std::byte> raw(cuda::step_bytes(batch), std::byte{0xff});
      const Step step{key, transform, static_cast<std::int32_t>(examples.examples.size())};
      std::memcpy(raw.data(), &step, sizeof step);
      for (std::size_t i = 0; i < examples.examples.size(); ++i) {
        const Example& example = examples.examples[i];
        auto* pixels = pixels_.data<std::uint8_t>() + i * Example::bytes;
        if (example.pixels)
          cuda::check(cudaMemcpyAsync(pixels, example.pixels, Example::bytes, cudaMemcpyHostToDevice, stream), "");
        const cuda::StepExample on_gpu{pixels, example.label, example.counted};
        std::memcpy(&raw[sizeof step + i * sizeof on_gpu], &on_gpu, sizeof on_gpu);
      }
      cuda::check(cudaMemcpyAsync(memory_.data<void>(), raw.data(), raw.size(), cudaMemcpyHostToDevice, stream), "");
      cuda::check(cudaStreamSynchronize(stream), "");
    }
    const Step* get() const { return memory_.data<Step>(); }

   private:
    Memory memory_, pixels_;
  };
  /// Sums in the GPU's memory, zero at first.
  class Sums {
   public:
    explicit Sums(cudaStream_t stream)
        : memory_(stream, Storage::fp32, std::vector<float>(sizeof(kernels::MetricsMemory) / 4)) {}
    kernels::MetricsMemory* data() const { return memory_.data<kernels::MetricsMemory>(); }
    Metrics read() const {
      Metrics metrics;
      std::memcpy(static_cast<void*>(&metrics), memory_.read().data(), sizeof metrics);
      return metrics;
    }

   private:
    Memory memory_;
  };
  RandomKey key{test_seed(), 3, 11};
};

// ---- Dropout

TEST_P(StepTest, DropoutKeepsWhatTheReferenceKeeps) {
  const OnGpu step(stream, 1, key, {}, {});
  std::uint32_t layer = 0;
  for (const Shape& shape : {Shape{4, 16, 8, 8},
                             {3, 5, 7, 3},
                             {64, 512, 1, 1},
                             {2, 20, 4, 4},
                             {5, 24, 2, 2},
                             {1, 1, 1, 1},
                             {3, 64, 3, 3},
                             {2, 8, 5, 8},
                             {9, 40, 1, 1}})
    for (const float ratio : {0.0f, 0.3f, 0.5f})
      for (const std::size_t shift : {0, 1}) {
        SCOPED_TRACE(testing::Message() << shape.n << "x" << shape.c << "x" << shape.h << "x" << shape.w << ", ratio "
                                        << ratio << ", shifted by " << shift);
        const Array<double> x = normal_array(shape);
        const Memory on_x = on_gpu(x, shift), on_y = poisoned(shape, shift);
        ++layer;
        const Array<double> y = reference::dropout(x, ratio, reference::dropout_mask(shape, ratio, key, layer));
        kernels::dropout(stream, storage, on_x.data<void>(), on_y.data<void>(), shape, ratio, layer, step.get());
        EXPECT_LE(error(on_y.read(), y), tolerance);
        kernels::dropout(stream, storage, on_x.data<void>(), on_x.data<void>(), shape, ratio, layer, step.get());
        EXPECT_EQ(on_x.read(), on_y.read()) << "in place";
      }
}

// ---- The loss

TEST_P(StepTest, SoftmaxCrossEntropy) {
  for (const auto& [batch, classes] : {std::pair{1, 1}, {1, 10}, {5, 33}, {300, 10}, {17, 100}, {8, 32}}) {
    SCOPED_TRACE(testing::Message() << batch << "x" << classes);
    Array<double> x = normal_array({batch, classes, 1, 1});
    x.values.front() = rounded(storage, 1000.0f);              // whose exponential overflows
    if (classes > 2) x(0, classes - 1, 0, 0) = x(0, 0, 0, 0);  // the first of several largest counts
    std::vector<int> labels;
    Batch examples;
    for (int i = 0; i < batch; ++i) {
      labels.push_back(static_cast<int>(random.below(static_cast<std::uint64_t>(classes))));
      examples.examples.push_back({nullptr, labels.back(), i, i % 5 != 1});
    }
    const auto expected = reference::softmax_cross_entropy<double>(x, labels);
    Metrics sums;
    for (int i = 0; i < batch; ++i)
      if (i % 5 != 1)
        sums += {expected.losses[static_cast<std::size_t>(i)], expected.correct[static_cast<std::size_t>(i)], 1};

    const OnGpu step(stream, batch, key, {}, examples);
    const Memory on_x = on_gpu(x), on_gx = poisoned(x.shape);
    double loss_of_one_block = 0;
    for (const bool several : {false, true}) {
      const Sums metrics(stream), again(stream);
      for (int time = 1; time <= 2; ++time) {
        for (const Sums* each : {&metrics, &again})
          kernels::softmax_cross_entropy(stream, storage, on_x.data<void>(), batch, classes, step.get(), each->data(),
                                         several);
        const Metrics seen = metrics.read();
        EXPECT_NEAR(seen.loss_sum, time * sums.loss_sum, 1e-6 * time * std::max(1.0, sums.loss_sum));
        EXPECT_EQ(seen.correct, time * sums.correct);
        EXPECT_EQ(seen.samples, time * sums.samples);
        EXPECT_EQ(again.read().loss_sum, seen.loss_sum) << "the same bits each time";
      }
      if (!several) loss_of_one_block = metrics.read().loss_sum;
      EXPECT_NEAR(metrics.read().loss_sum, loss_of_one_block, 1e-13 * loss_of_one_block) << "another order of addition";
    }
    kernels::softmax_cross_entropy_backward(stream, storage, on_x.data<void>(), on_gx.data<void>(), batch, classes,
                                            step.get());
    EXPECT_LE(error(on_gx.read(), expected.gradient), tolerance);
  }
}

TEST_P(StepTest, MissingExamplesCountNowhere) {
  const Array<double> x = normal_array({9, 10, 1, 1});
  const OnGpu step(stream, 9, key, {}, {{{nullptr, 3, 0}, {nullptr, 4, 1}}, {}});
  const Memory on_x = on_gpu(x), on_gx = poisoned(x.shape);
  const Sums metrics(stream);
  kernels::softmax_cross_entropy(stream, storage, on_x.data<void>(), 9, 10, step.get(), metrics.data(), true);
  EXPECT_EQ(metrics.read().samples, 2);
  kernels::softmax_cross_entropy_backward(stream, storage, on_x.data<void>(), on_gx.data<void>(), 9, 10, step.get());
  const auto gx = on_gx.read();
  EXPECT_EQ(std::count(gx.begin() + 20, gx.end(), 0.0f), 70);
  EXPECT_EQ(std::count(gx.begin(), gx.begin() + 20, 0.0f), 0);
}

// ---- Images

TEST_P(StepTest, Load) {
  constexpr int images = 5, batch = 7;  // two are missing
  std::vector<std::uint8_t> bytes(images * Example::bytes);
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random.below(256));
  for (const int size : {32, 64, 50, 224})
    for (const int padding : {0, 4}) {
      SCOPED_TRACE(testing::Message() << size << "x" << size << ", padding " << padding);
      Batch examples;
      examples.transform = {size, {0.4f, 0.5f, 0.6f}, {0.2f, 0.25f, 0.3f}, padding, padding > 0};
      Array<double> expected({batch, 3, size, size});
      for (int i = 0; i < images; ++i) {
        examples.examples.push_back({&bytes[static_cast<std::size_t>(i) * Example::bytes], 0, i});
        const auto image =
            reference::load<double>(examples.examples.back(), examples.transform,
                                    augmentation(key, examples.transform, static_cast<std::uint32_t>(i)));
        std::copy(image.values.begin(), image.values.end(),
                  expected.values.begin() + i * static_cast<std::ptrdiff_t>(image.values.size()));
      }
      const OnGpu step(stream, batch, key, examples.transform, examples);
      const Memory input = poisoned(expected.shape);
      kernels::load(stream, storage, input.data<void>(), batch, size, step.get());
      EXPECT_LE(error(input.read(), expected), tolerance);
    }
}

INSTANTIATE_TEST_SUITE_P(Storages, StepTest, testing::Values(Storage::fp32, Storage::bf16), name_of_storage);

}  // namespace
}  // namespace odori::test
