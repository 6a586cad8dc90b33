// SPDX-License-Identifier: Apache-2.0
// One training step of the VGG against numbers that PyTorch computed in double (make_vgg_golden.py).
//
// The comparison is loose, and can't be tight: between float and double a few of the two million ReLUs and pooling
// windows decide otherwise, each changes a gradient as a whole, and deep layers multiply it: 1e-3 of a gradient's norm,
// 2.6e-2 with Winograd. What is wrong in a layer itself, the tight tests of single layers and small networks find; this
// one finds a wrong network: a layer left out, masks of the wrong layer, a transposed weight.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "backend/device_pool.h"
#include "device_under_test.h"
#include "model/classifier.h"

namespace odori {
namespace {

constexpr int batch_size = 16;
constexpr std::uint64_t seed = 7;

/// The script's integer formula.
std::uint32_t hashed(std::uint32_t stream, std::uint32_t i) {
  std::uint32_t x = i + stream * 0x9E3779B9u;
  x ^= x >> 16;
  x *= 0x85EBCA6Bu;
  x ^= x >> 13;
  x *= 0xC2B2AE35u;
  return x ^ x >> 16;
}

std::vector<float> initial_values(std::uint32_t parameter, const ParameterView& view) {
  std::vector<float> values(view.size());
  const bool gamma = parameter % 3 == 1;
  const auto bound = static_cast<float>(std::sqrt(3.0 / view.shape.features()));  // of inputs of one output
  for (std::uint32_t i = 0; i < values.size(); ++i) {
    const float uniform = static_cast<float>(hashed(parameter, i) >> 8) * 0x1p-23f - 1;
    values[i] = view.kind == ParameterKind::vector ? uniform * 0.25f + (gamma ? 1.0f : 0.0f) : uniform * bound;
  }
  return values;
}

/// Norm and signed sum, both to `tolerance` of the norm.
void expect_summary(const nlohmann::json& golden, std::uint32_t stream, const std::vector<float>& values,
                    double tolerance, const std::string& name) {
  double squares = 0, sum = 0;
  for (std::uint32_t i = 0; i < values.size(); ++i) {
    squares += double(values[i]) * values[i];
    sum += hashed(stream, i) & 1 ? values[i] : -values[i];
  }
  const double norm = golden["norm"];
  EXPECT_NEAR(std::sqrt(squares), norm, tolerance * norm) << name;
  EXPECT_NEAR(sum, double(golden["signed_sum"]), 3 * tolerance * norm) << name;
}

class VggTest : public testing::Test {
 protected:
  VggTest() {
    std::ifstream(ODORI_VGG_GOLDEN) >> golden;
    for (std::uint32_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(hashed(1000, i) >> 24);
    for (int i = 0; i < batch_size; ++i)
      batch.examples.push_back({&bytes[static_cast<std::size_t>(i) * Example::bytes], 7 * i % 10, i});
    batch.transform = {.mean = {0.5f, 0.5f, 0.5f}, .deviation = {0.25f, 0.25f, 0.25f}};
    model.to_device(pool.use(0));
    ModelState state = model.state();
    for (std::uint32_t i = 0; i < state.parameters.size(); ++i)
      state.parameters[i] = initial_values(i, model.parameters()[i].view);
    model.restore(state);
  }

  nlohmann::json golden;
  std::vector<std::uint8_t> bytes = std::vector<std::uint8_t>(std::size_t{batch_size} * Example::bytes);
  Batch batch;
  static DevicePoolOptions in_fp32() {
    DevicePoolOptions options = device_under_test();
    options.precision = Precision::fp32;
    return options;
  }

  DevicePool pool{in_fp32()};
  Classifier model{create_network("vgg", 10), batch_size, seed};
};

TEST_F(VggTest, OneTrainingStepIsPyTorchs) {
  model.forward_backward(batch);
  const Metrics metrics = model.take_metrics();
  EXPECT_NEAR(metrics.loss(), golden["loss"], 1e-4);
  EXPECT_EQ(metrics.correct, golden["correct"]);
  ASSERT_EQ(model.parameters().size(), golden["gradients"].size());
  for (std::size_t i = 0; i < model.parameters().size(); ++i) {
    const auto& [name, view] = model.parameters()[i];
    expect_summary(golden["gradients"][i], static_cast<std::uint32_t>(2000 + i),
                   model.graph().read_parameter(model.memory().gradients, view), 0.03, name);
  }
  const ModelState state = model.state();
  ASSERT_EQ(state.statistics.size(), golden["statistics"].size());
  for (std::size_t i = 0; i < state.statistics.size(); ++i)
    expect_summary(golden["statistics"][i], static_cast<std::uint32_t>(3000 + i), state.statistics[i], 1e-4,
                   model.statistics()[i].name);

  for (int i = 0; i < batch_size; ++i) {  // with the running statistics that the step left behind
    model.evaluate({{batch.examples[static_cast<std::size_t>(i)]}, batch.transform});
    EXPECT_NEAR(model.take_metrics().loss(), golden["evaluation_losses"][static_cast<std::size_t>(i)], 1e-4)
        << "image " << i;
  }
}

}  // namespace
}  // namespace odori
