// SPDX-License-Identifier: Apache-2.0
// The reference operations against central finite differences, in double: every operation, every input, every
// parameter.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "backend/reference/batch_normalization.h"
#include "backend/reference/convolution.h"
#include "backend/reference/elementwise.h"
#include "backend/reference/linear.h"
#include "backend/reference/load.h"
#include "backend/reference/max_pooling.h"
#include "backend/reference/momentum_sgd.h"
#include "backend/reference/softmax_cross_entropy.h"
#include "numbers/random.h"

namespace odori::reference {
namespace {

using Doubles = Array<double>;

/// Numbers of [-1, 1) that lie at least 0.001 apart and as far from 0: no step of a difference crosses a kink of ReLU
/// or max pooling.
Doubles random_array(const Shape& shape, std::uint64_t seed) {
  RandomSequence random(seed, RandomUse::synthetic_data);
  Doubles array(shape);
  const auto order = random_permutation(array.values.size(), random);
  const double n = static_cast<double>(order.size()), gap = std::max(0.001, 2 / n);
  for (std::size_t i = 0; i < order.size(); ++i)
    array.values[i] = (static_cast<double>(order[i]) - std::floor(n / 2) + 0.5) * gap;
  return array;
}

double dot(const Doubles& a, const Doubles& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.values.size(); ++i) sum += a.values[i] * b.values[i];
  return sum;
}

/// `gradient` must be that of loss() with respect to x, which loss() reads.
void expect_gradient(Doubles& x, const Doubles& gradient, const std::function<double()>& loss) {
  constexpr double step = 1e-5;
  ASSERT_EQ(x.values.size(), gradient.values.size());
  double error = 0, size = 0;
  for (std::size_t i = 0; i < x.values.size(); ++i) {
    const double original = x.values[i];
    x.values[i] = original + step;
    const double above = loss();
    x.values[i] = original - step;
    const double below = loss();
    x.values[i] = original;
    const double numeric = (above - below) / (2 * step);
    error += (numeric - gradient.values[i]) * (numeric - gradient.values[i]);
    size += numeric * numeric;
  }
  EXPECT_LE(std::sqrt(error), 1e-7 * std::sqrt(size) + 1e-9);
}

const Shape shapes[] = {{1, 1, 1, 1}, {1, 2, 5, 3}, {2, 3, 4, 4}, {3, 2, 7, 6}, {3, 5, 1, 1}};

TEST(Reference, Convolution) {
  const ConvolutionSpec specs[] = {{3, 3, 1, 1}, {2, 1, 1, 0}, {4, 3, 2, 1}, {1, 3, 1, 2}, {2, 5, 3, 2}};
  for (const Shape& shape : shapes)
    for (const ConvolutionSpec& spec : specs) {
      Doubles x = random_array(shape, 1);
      Doubles weight = random_array({spec.out_channels, shape.c, spec.kernel, spec.kernel}, 2);
      const Doubles gy = random_array(spec.output(shape), 3);
      const auto g = convolution_backward(x, spec, weight, gy);
      const auto loss = [&] { return dot(convolution(x, spec, weight), gy); };
      expect_gradient(x, g.x, loss);
      expect_gradient(weight, g.weight, loss);
    }
}

TEST(Reference, ConvolutionByHand) {
  Doubles x({1, 1, 2, 2}), weight({1, 1, 3, 3});
  x.values = {1, 2, 3, 4};
  weight.values = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  const std::vector<double> expected{1 * 5 + 2 * 6 + 3 * 8 + 4 * 9, 1 * 4 + 2 * 5 + 3 * 7 + 4 * 8,
                                     1 * 2 + 2 * 3 + 3 * 5 + 4 * 6, 1 * 1 + 2 * 2 + 3 * 4 + 4 * 5};
  EXPECT_EQ(convolution(x, {1, 3, 1, 1}, weight).values, expected);
}

TEST(Reference, BatchNormalization) {
  for (const Shape& shape : shapes)
    for (const bool relu : {false, true}) {
      const BatchNormalizationSpec spec{.relu = relu};
      Doubles x = random_array(shape, 1);
      Doubles gamma = random_array({1, shape.c, 1, 1}, 2), beta = random_array({1, shape.c, 1, 1}, 3);
      const Doubles gy = random_array(shape, 4);
      const auto forward = [&] { return batch_normalization(x, spec, gamma, beta, batch_statistics(x)); };
      const auto g = batch_normalization_backward(x, spec, gamma, batch_statistics(x), forward(), gy);
      const auto loss = [&] { return dot(forward(), gy); };
      expect_gradient(x, g.x, loss);
      expect_gradient(gamma, g.gamma, loss);
      expect_gradient(beta, g.beta, loss);
    }
}

TEST(Reference, BatchNormalizationMakesMeanZeroAndVarianceOne) {
  const Doubles x = random_array({3, 2, 4, 4}, 1);
  Doubles gamma({1, 2, 1, 1}), beta({1, 2, 1, 1});
  gamma.values = {1, 2}, beta.values = {0, 5};
  const auto y = batch_statistics(batch_normalization(x, {.epsilon = 0}, gamma, beta, batch_statistics(x)));
  EXPECT_NEAR(y.mean[0], 0, 1e-12);
  EXPECT_NEAR(y.variance[0], 1, 1e-12);
  EXPECT_NEAR(y.mean[1], 5, 1e-12);
  EXPECT_NEAR(y.variance[1], 4, 1e-12);
}

TEST(Reference, RunningStatistics) {
  Statistics<double> running{{1}, {2}};
  update_running(running, {{11}, {6}}, {.decay = 0.75f}, 4);
  EXPECT_DOUBLE_EQ(running.mean[0], 0.75 * 1 + 0.25 * 11);
  EXPECT_DOUBLE_EQ(running.variance[0], 0.75 * 2 + 0.25 * 6 * 4 / 3);
  update_running(running, {{0}, {0}}, {.decay = 0.5f}, 1);  // one number has no unbiased variance
  EXPECT_DOUBLE_EQ(running.mean[0], (0.75 * 1 + 0.25 * 11) / 2);
}

TEST(Reference, Relu) {
  for (const Shape& shape : shapes) {
    Doubles x = random_array(shape, 1);
    const Doubles gy = random_array(shape, 2);
    expect_gradient(x, relu_backward(relu(x), gy), [&] { return dot(relu(x), gy); });
  }
}

TEST(Reference, MaxPooling) {
  const PoolingSpec specs[] = {{2, 2}, {1, 1}, {3, 2}, {2, 1}};
  for (const Shape& shape : shapes)
    for (const PoolingSpec& spec : specs) {
      if (shape.h < spec.kernel || shape.w < spec.kernel) continue;
      Doubles x = random_array(shape, 1);
      const Doubles gy = random_array(spec.output(shape), 2);
      expect_gradient(x, max_pooling_backward(x, spec, gy), [&] { return dot(max_pooling(x, spec), gy); });
    }
}

TEST(Reference, Dropout) {
  for (const Shape& shape : shapes) {
    Doubles x = random_array(shape, 1);
    const Doubles gy = random_array(shape, 2);
    const auto kept = dropout_mask(shape, 0.4f, {.seed = 7}, 0);
    ASSERT_EQ(kept.size(), shape.size());
    expect_gradient(x, dropout(gy, 0.4f, kept), [&] { return dot(dropout(x, 0.4f, kept), gy); });
  }
}

TEST(Reference, Linear) {
  for (const Shape& shape : shapes)
    for (const int outputs : {1, 4}) {
      Doubles x = random_array(shape, 1), weight = random_array({outputs, shape.features(), 1, 1}, 2);
      Doubles bias = random_array({1, outputs, 1, 1}, 3);
      const Doubles gy = random_array({shape.n, outputs, 1, 1}, 4);
      const auto g = linear_backward(x, weight, gy);
      const auto loss = [&] { return dot(linear(x, weight, &bias), gy); };
      expect_gradient(x, g.x, loss);
      expect_gradient(weight, g.weight, loss);
      expect_gradient(bias, g.bias, loss);
    }
}

TEST(Reference, SoftmaxCrossEntropy) {
  for (const int samples : {1, 2, 3})
    for (const int classes : {1, 2, 10}) {
      Doubles x = random_array({samples, classes, 1, 1}, 1);
      std::vector<int> labels;
      for (int n = 0; n < samples; ++n) labels.push_back((7 * n + 3) % classes);
      const auto mean_loss = [&] {
        double sum = 0;
        for (const double loss : softmax_cross_entropy<double>(x, labels).losses) sum += loss;
        return sum / samples;
      };
      expect_gradient(x, softmax_cross_entropy<double>(x, labels).gradient, mean_loss);
    }
}

TEST(Reference, Gelu) {
  for (const Shape& shape : shapes) {
    Doubles x = random_array(shape, 1);
    for (double& value : x.values) value *= 3;
    const Doubles gy = random_array(shape, 2);
    expect_gradient(x, gelu_backward(x, gy), [&] { return dot(gelu(x), gy); });
  }
  Doubles x({1, 3, 1, 1});
  x.values = {0, 1, -40};
  EXPECT_EQ(gelu(x).values[0], 0);
  EXPECT_NEAR(gelu(x).values[1], 0.841344746, 1e-9);
  EXPECT_NEAR(gelu(x).values[2], 0, 1e-12);
}

TEST(Reference, Bias) {
  for (const Shape& shape : shapes) {
    const Doubles x = random_array(shape, 1), gy = random_array(shape, 3);
    Doubles bias = random_array({1, shape.c, 1, 1}, 2);
    expect_gradient(bias, bias_gradient(gy), [&] { return dot(add_bias(x, bias), gy); });
  }
}

/// The loss is written out here as its definition has it.
TEST(Reference, LogitsHaveTheGradientOfSmoothedLabels) {
  for (const int samples : {1, 3})
    for (const int classes : {2, 10})
      for (const float smoothing : {0.0f, 0.2f}) {
        const LogitsSpec spec{.scale = 0.3f, .smoothing = smoothing};
        Doubles x = random_array({samples, classes, 1, 1}, 1);
        std::vector<int> labels;
        for (int n = 0; n < samples; ++n) labels.push_back((7 * n + 3) % classes);
        const auto mean_loss = [&] {
          double sum = 0;
          for (int n = 0; n < samples; ++n)
            for (int target = 0; target < classes; ++target) {
              const double s = static_cast<double>(smoothing);
              const double weight = s / classes + (target == labels[n] ? 1 - s : 0.0);
              const std::vector<int> targets(samples, target);
              sum += weight * softmax_cross_entropy<double>(logits(x, spec), targets).losses[n];
            }
          return sum / samples;
        };
        const Doubles g = softmax_cross_entropy<double>(logits(x, spec), labels).gradient;
        expect_gradient(x, logits_backward<double>(g, spec, labels), mean_loss);
      }
}

TEST(Reference, SoftmaxCrossEntropyByHand) {
  Doubles x({2, 2, 1, 1});
  x.values = {std::log(3.0), 0, 1000, 0};  // the second: no overflow
  const int labels[] = {0, 1};
  const auto result = softmax_cross_entropy<double>(x, labels);
  EXPECT_NEAR(result.losses[0], -std::log(0.75), 1e-12);
  EXPECT_NEAR(result.losses[1], 1000, 1e-9);
  EXPECT_EQ(result.correct, (std::vector<bool>{true, false}));
}

TEST(Reference, MomentumSgd) {
  std::vector<double> p{1, 2}, v{10, 20};
  momentum_sgd(p, {3, 4}, v, 0.5, 0.9);
  EXPECT_EQ(v, (std::vector<double>{9 - 1.5, 18 - 2}));
  EXPECT_EQ(p, (std::vector<double>{1 + 7.5, 2 + 16}));
}

/// An image whose pixel (c, y, x) is 5 * y + x + c: every place can be told from its neighbours.
std::vector<std::uint8_t> ramp() {
  std::vector<std::uint8_t> bytes;
  for (int c = 0; c < 3; ++c)
    for (int y = 0; y < 32; ++y)
      for (int x = 0; x < 32; ++x) bytes.push_back(static_cast<std::uint8_t>(5 * y + x + c));
  return bytes;
}

TEST(Reference, LoadNormalises) {
  const auto bytes = ramp();
  const Transform transform{.mean = {0.25f, 0.5f, 0.75f}, .deviation = {0.5f, 2.0f, 4.0f}};
  const Doubles image = load<double>({bytes.data()}, transform, {});
  EXPECT_NEAR(image(0, 0, 3, 4), (19 / 255.0 - 0.25) / 0.5, 1e-12);
  EXPECT_NEAR(image(0, 2, 31, 31), (188 / 255.0 - 0.75) / 4, 1e-12);
}

TEST(Reference, LoadMovesAndTurns) {
  const auto bytes = ramp();
  const Doubles moved = load<double>({bytes.data()}, {}, {.dy = 2, .dx = -3});
  EXPECT_NEAR(moved(0, 1, 10, 10) * 255, 5 * 12 + 7 + 1, 1e-9);
  EXPECT_EQ(moved(0, 1, 10, 2), 0);   // left of the image
  EXPECT_EQ(moved(0, 1, 30, 10), 0);  // below it
  const Doubles turned = load<double>({bytes.data()}, {}, {.flip = true});
  EXPECT_NEAR(turned(0, 0, 6, 1) * 255, 5 * 6 + 30, 1e-9);
}

TEST(Reference, LoadReflects) {
  const auto bytes = ramp();
  const Doubles moved = load<double>({bytes.data()}, {.reflect = true}, {.dy = 2, .dx = -3});
  EXPECT_NEAR(moved(0, 1, 10, 0) * 255, 5 * 12 + 3 + 1, 1e-9);  // column -3 is column 3
  EXPECT_NEAR(moved(0, 0, 31, 10) * 255, 5 * 29 + 7, 1e-9);     // row 33 is row 29
  EXPECT_NEAR(moved(0, 0, 29, 10) * 255, 5 * 31 + 7, 1e-9);     // the outermost row comes once
}

TEST(Reference, LoadEnlarges) {
  const auto bytes = ramp();
  const Doubles large = load<double>({bytes.data()}, {.image_size = 256}, {});
  // The ramp is linear, and so is what lies between its pixels; pixel 12 of 256 lies at (12 + 1/2) / 8 - 1/2 = 1.0625.
  EXPECT_NEAR(large(0, 2, 12, 20) * 255, 5 * 1.0625 + 2.0625 + 2, 1e-9);
  EXPECT_NEAR(large(0, 0, 0, 3) * 255, 0, 1e-9);  // the edge is repeated
  EXPECT_NEAR(large(0, 0, 255, 255) * 255, 5 * 31 + 31, 1e-9);
}

}  // namespace
}  // namespace odori::reference
