// SPDX-License-Identifier: Apache-2.0
// Every operation of the Graph on every device, forward and backward, against the reference in double.
#include <algorithm>
#include <set>

#include "backend_support.h"
#include "errors/error.h"

namespace odori::test {
namespace {

// Norm-wise relative errors that float arithmetic may have; a prototype's convolutions reached 4e-7 and 2.4e-6.
constexpr double exact = 1e-7, tight = 2e-6, winograd = 1e-5;

/// What the graph's description says of Winograd decides how exact its convolutions can be.
double convolution_tolerance(const Graph& graph) {
  for (std::string line : graph.describe()) {
    std::transform(line.begin(), line.end(), line.begin(), [](unsigned char c) { return std::tolower(c); });
    if (line.find("wino") != std::string::npos) return winograd;
  }
  return tight;
}

struct ConvolutionCase {
  Shape x;
  int out_channels, kernel = 3, padding = 1;
};
void PrintTo(const ConvolutionCase& c, std::ostream* out) {
  *out << c.x.n << "x" << c.x.c << "x" << c.x.h << "x" << c.x.w << " -> " << c.out_channels << ", kernel " << c.kernel;
}

class GraphTest : public DeviceTest {
 protected:
  void check_convolution(const ConvolutionCase& c, bool measure = false) {
    SCOPED_TRACE(testing::PrintToString(c));
    const auto layers = network_of(convolution("c", c.out_channels, c.kernel, c.padding));
    Comparison both(device, c.x, layers, random, false, measure);
    const double tolerance = bound(convolution_tolerance(*both.fast.graph));
    both.forward(Mode::train);
    EXPECT_LE(both.output_error(), tolerance);
    both.backward();
    EXPECT_LE(both.input_gradient_error(), tolerance);
    // A weight's gradient sums N * H * W products one after another: its rounding error grows as the root of their
    // number.
    EXPECT_LE(both.gradient_error(0), std::max(tolerance, 4e-8 * std::sqrt(c.x.n * c.x.h * c.x.w)));
  }
};

TEST_P(GraphTest, ConvolutionsOfTheVgg) {
  const ConvolutionCase cases[] = {{{2, 3, 32, 32}, 64},    {{2, 64, 32, 32}, 64}, {{2, 64, 16, 16}, 128},
                                   {{2, 128, 16, 16}, 128}, {{2, 128, 8, 8}, 256}, {{2, 256, 8, 8}, 256},
                                   {{2, 256, 4, 4}, 512},   {{2, 512, 4, 4}, 512}, {{2, 512, 2, 2}, 512}};
  for (const ConvolutionCase& c : cases) check_convolution(c);
}

TEST_P(GraphTest, ConvolutionsOfLargeBatches) {
  for (const ConvolutionCase& c :
       {ConvolutionCase{{64, 3, 8, 8}, 64}, {{64, 128, 8, 8}, 32}, {{64, 256, 4, 4}, 48}, {{64, 512, 2, 2}, 64}})
    check_convolution(c);
}

TEST_P(GraphTest, ConvolutionsOfOtherShapes) {
  const ConvolutionCase cases[] = {{{1, 1, 1, 1}, 1},          {{2, 5, 7, 9}, 3},         {{3, 17, 8, 8}, 33},
                                   {{2, 16, 5, 4}, 16},        {{2, 3, 8, 8}, 10},        {{4, 32, 1, 1}, 48},
                                   {{2, 20, 6, 6}, 7, 1, 0},   {{2, 64, 8, 8}, 32, 1, 0}, {{2, 16, 9, 9}, 32, 5, 2},
                                   {{2, 3, 12, 12}, 16, 7, 3}, {{2, 32, 6, 6}, 16, 3, 0}};
  for (const ConvolutionCase& c : cases) check_convolution(c);
}

TEST_P(GraphTest, ConvolutionsWithMeasuredAlgorithms) {
  for (const ConvolutionCase& c : {ConvolutionCase{{4, 32, 16, 16}, 64}, {{8, 64, 4, 4}, 64}})
    check_convolution(c, true);
}

/// A layer of stride 2, which the kit's networks don't have but the seam does.
class StridedConvolution : public Layer {
 public:
  Shape output(const Shape& x) const override { return spec_.output(x); }
  std::vector<ParameterRequest> parameters(const Shape& x) const override {
    return {{"W", {spec_.out_channels, x.c, 3, 3}, ParameterKind::convolution_weight, Initializer::zero}};
  }
  Tensor build(Graph& graph, Tensor x, const std::vector<ParameterView>& views) const override {
    return graph.convolution(x, spec_, views[0]);
  }

 private:
  ConvolutionSpec spec_{24, 3, 2, 1};
};

TEST_P(GraphTest, ConvolutionOfStrideTwo) {
  Comparison both(device, {2, 16, 9, 8}, network_of(std::make_unique<StridedConvolution>()), random);
  both.forward(Mode::train);
  both.backward();
  EXPECT_LE(both.output_error(), bound(tight));
  EXPECT_LE(both.input_gradient_error(), bound(tight));
  EXPECT_LE(both.gradient_error(0), bound(tight));
}

TEST_P(GraphTest, BatchNormalization) {
  const Shape shapes[] = {{4, 16, 8, 8},  {2, 64, 16, 16}, {3, 10, 5, 7},  {32, 512, 1, 1},
                          {16, 20, 1, 1}, {1, 3, 6, 6},    {64, 512, 2, 2}};
  for (const Shape& shape : shapes) {
    SCOPED_TRACE(testing::Message() << shape.n << "x" << shape.c << "x" << shape.h << "x" << shape.w);
    Comparison both(device, shape, network_of(batch_normalization("bn", false)), random);
    both.forward(Mode::train);
    EXPECT_LE(both.output_error(), bound(tight));
    EXPECT_LE(both.statistic_error(0), bound(tight)) << "running mean";
    EXPECT_LE(both.statistic_error(1), bound(tight)) << "running variance";
    both.backward();
    EXPECT_LE(both.input_gradient_error(), bound(tight));
    EXPECT_LE(both.gradient_error(0), bound(tight)) << "gamma";
    EXPECT_LE(both.gradient_error(1), bound(tight)) << "beta";
    both.forward(Mode::evaluate);
    EXPECT_LE(both.output_error(), bound(tight));
    EXPECT_LE(both.statistic_error(0), bound(tight)) << "running mean, which evaluation must not touch";
  }
}

TEST_P(GraphTest, BatchNormalizationWithRelu) {
  for (const Shape& shape : {Shape{4, 16, 8, 8}, {3, 10, 5, 7}, {32, 128, 1, 1}, {16, 20, 1, 1}}) {
    SCOPED_TRACE(testing::Message() << shape.n << "x" << shape.c << "x" << shape.h << "x" << shape.w);
    Comparison both(device, shape, network_of(batch_normalization("bn", true)), random);
    const auto error = [&] {
      both.forward(Mode::train);
      const double output = both.output_error();
      both.backward();
      return std::max({output, both.input_gradient_error(), both.worst_gradient_error()});
    };
    EXPECT_LE(median_of_draws(error), bound(tight));
    both.forward(Mode::evaluate);
    EXPECT_LE(both.output_error(), bound(tight));
    const auto output = both.fast.output();
    EXPECT_GE(*std::min_element(output.begin(), output.end()), 0);
  }
}

TEST_P(GraphTest, Relu) {
  for (const Shape& shape : {Shape{2, 16, 8, 8}, {3, 5, 7, 3}, {4, 10, 1, 1}}) {
    Comparison both(device, shape, network_of(relu()), random);
    both.forward(Mode::train);
    EXPECT_LE(both.output_error(), bound(exact));
    both.backward();
    EXPECT_LE(both.input_gradient_error(), bound(exact));
  }
}

TEST_P(GraphTest, Gelu) {
  for (const Shape& shape : {Shape{2, 3, 5, 5}, {4, 32, 8, 8}, {3, 24, 7, 9}, {5, 10, 1, 1}}) {
    Comparison both(device, shape, network_of(gelu()), random);
    both.forward(Mode::train);
    both.backward();
    EXPECT_LE(both.output_error(), bound(1e-5));
    EXPECT_LE(both.input_gradient_error(), bound(1e-5));
  }
}

TEST_P(GraphTest, Bias) {
  for (const Shape& shape : {Shape{2, 3, 5, 5}, {4, 32, 8, 8}, {3, 24, 7, 9}, {5, 10, 1, 1}}) {
    Comparison both(device, shape, network_of(bias("bias")), random);
    both.forward(Mode::train);
    both.backward();
    EXPECT_LE(both.output_error(), bound(1e-6));
    EXPECT_LE(both.input_gradient_error(), bound(1e-6));
    EXPECT_LE(both.gradient_error(0), bound(1e-5));
  }
}

/// Rows and columns at the end that fill no window have no gradient.
TEST_P(GraphTest, MaxPoolingLeavesOutWhatFillsNoWindow) {
  for (const auto& [shape, kernel] : {std::pair{Shape{2, 16, 31, 31}, 2}, {{3, 24, 7, 5}, 2}, {{2, 8, 10, 11}, 3}}) {
    Comparison both(device, shape, network_of(max_pooling(kernel, true)), random);
    both.forward(Mode::train);
    both.backward();
    EXPECT_LE(both.output_error(), bound(1e-6));
    EXPECT_LE(both.input_gradient_error(), bound(1e-6));
  }
}

TEST_P(GraphTest, MaxPooling) {
  for (const Shape& shape : {Shape{2, 16, 8, 8}, {3, 5, 4, 12}, {2, 512, 2, 2}, {64, 64, 4, 4}})
    for (const int kernel : {2, 4}) {
      if (shape.h < kernel) continue;
      Comparison both(device, shape, network_of(max_pooling(kernel)), random);
      for (const Mode mode : {Mode::evaluate, Mode::train}) {
        both.forward(mode);
        EXPECT_LE(both.output_error(), bound(exact));
      }
      both.backward();
      EXPECT_LE(both.input_gradient_error(), bound(exact));
    }
}

TEST_P(GraphTest, Linear) {
  for (const bool bias : {false, true})
    for (const auto& [x, out] : {std::pair{Shape{3, 7, 1, 1}, 5},
                                 {{1, 1, 1, 1}, 1},
                                 {{64, 512, 1, 1}, 512},
                                 {{32, 512, 1, 1}, 10},
                                 {{4, 32, 4, 4}, 128},
                                 {{2, 10, 3, 5}, 17}}) {
      SCOPED_TRACE(testing::Message() << x.n << "x" << x.c << "x" << x.h << "x" << x.w << " -> " << out);
      Comparison both(device, x, network_of(linear("fc", out, bias)), random);
      const auto output_error = [&] {
        both.forward(Mode::train);
        return both.output_error();
      };
      EXPECT_LE(median_of_draws(output_error), bound(tight));  // a single product may cancel its bias
      both.backward();
      EXPECT_LE(both.input_gradient_error(), bound(tight));
      EXPECT_LE(both.worst_gradient_error(), bound(tight));
    }
}

/// Behind a layer with channels in the device's own layout: flattening still means C, H, W.
TEST_P(GraphTest, LinearBehindAConvolution) {
  const Network network = network_of(convolution("c", 32), convolution("d", 20), linear("fc", 10, true));
  Comparison both(device, {4, 3, 6, 6}, network, random);
  both.forward(Mode::train);
  EXPECT_LE(both.output_error(), bound(winograd));
  both.backward();
  EXPECT_LE(both.input_gradient_error(), bound(winograd));
  EXPECT_LE(both.worst_gradient_error(), bound(winograd));
}

TEST_P(GraphTest, Dropout) {
  for (const Shape& shape : {Shape{4, 16, 8, 8}, {3, 5, 7, 3}, {64, 512, 1, 1}, {2, 20, 4, 4}})
    for (const float ratio : {0.3f, 0.5f}) {
      Comparison both(device, shape, network_of(dropout(ratio)), random);
      const RandomKey key{test_seed(), 3, 11};
      both.forward(Mode::train, key);
      EXPECT_LE(both.output_error(), bound(exact));
      both.backward();
      EXPECT_LE(both.input_gradient_error(), bound(exact));
      both.forward(Mode::evaluate, key);
      EXPECT_EQ(both.fast.output(), both.plain.output());
    }
}

/// Which numbers of ones a dropout layer keeps, and that what it keeps is scaled.
std::vector<bool> mask(Side& side, const RandomKey& key, float ratio) {
  side.graph->write_value(side.tensors.front(), std::vector<float>(side.tensors.front().shape.size(), 1.0f));
  side.graph->forward(Mode::train, key);
  std::vector<bool> kept;
  for (const float y : side.output()) {
    kept.push_back(y != 0);
    const float expected = y != 0 ? 1 / (1 - ratio) : 0;
    EXPECT_NEAR(y, expected, 0.004f * expected);  // of bf16; the test above is as exact as the device
  }
  return kept;
}

TEST_P(GraphTest, DropoutMasks) {
  constexpr float ratio = 0.4f;
  const Shape shape{16, 64, 16, 16};  // 2^18 numbers: the kept share's deviation is 0.001
  Side side(&device, shape, network_of(dropout(ratio)), false);
  const std::uint64_t seed = test_seed();
  const auto kept = mask(side, {seed, 0, 5}, ratio);
  EXPECT_NEAR(std::count(kept.begin(), kept.end(), true) / double(kept.size()), 1 - ratio, 0.005);
  std::set<std::vector<bool>> others{kept};
  for (const RandomKey& key : {RandomKey{seed + 1, 0, 5}, {seed, 1, 5}, {seed, 0, 6}})
    EXPECT_TRUE(others.insert(mask(side, key, ratio)).second) << "Another key has to give another mask.";
  EXPECT_EQ(mask(side, {seed, 0, 5}, ratio), kept) << "The same key has to give the same mask.";
}

TEST_P(GraphTest, DropoutLayersHaveMasksOfTheirOwn) {
  Side side(&device, {8, 16, 8, 8}, network_of(dropout(0.5f), dropout(0.5f)), false);
  const auto kept = mask(side, {test_seed(), 0, 0}, 0.75f);  // both keep: 1 / 0.5 / 0.5
  EXPECT_NEAR(std::count(kept.begin(), kept.end(), true) / double(kept.size()), 0.25, 0.03);
}

TEST_P(GraphTest, ParametersKeepTheirNumbers) {
  const Network network =
      network_of(convolution("c", 33), convolution("d", 48), batch_normalization("bn", true), linear("fc", 10, true));
  Side side(&device, {4, 17, 6, 6}, network, false);
  for (const ParameterView& view : side.parameters) {
    const auto values = normal(view.size(), random);
    side.graph->write_parameter(side.memory.parameters, view, values);
    EXPECT_EQ(side.graph->read_parameter(side.memory.parameters, view), values);
  }
}

TEST_P(GraphTest, OperationsStandInARow) {
  ModelMemory memory;
  AlgorithmTable algorithms;
  const auto graph = device.new_graph(memory, algorithms);
  const Tensor x = graph->input({1, 16, 4, 4});
  graph->relu(x);
  EXPECT_THROW(graph->relu(x), Error);
}

INSTANTIATE_TEST_SUITE_P(Devices, GraphTest, testing::ValuesIn(devices_under_test()), name_of);

}  // namespace
}  // namespace odori::test
