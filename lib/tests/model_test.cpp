// SPDX-License-Identifier: Apache-2.0
// The networks: sizes as published, names, and what a model does besides arithmetic.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "backend/device_pool.h"
#include "data/random_images.h"
#include "device_under_test.h"
#include "errors/error.h"
#include "model/classifier.h"

namespace odori {
namespace {

std::size_t parameters(const std::string& name, int n_classes, int image_size = 32) {
  return Classifier(create_network(name, n_classes, image_size), 1, 0).parameter_count();
}

TEST(Networks, HaveTheirPublishedSizes) {
  EXPECT_EQ(parameters("vgg", 10), 14987200u);
  EXPECT_EQ(parameters("vgg", 100), 15033280u);
  EXPECT_EQ(parameters("mid", 10), 551136u);
  EXPECT_EQ(parameters("tiny", 10), 5146u);
}

TEST(Networks, FirstDenseLayerOfTheVggTakesALargerImageWhole) {
  const Classifier model(create_network("vgg", 10, 256), 1, 0);
  for (const NamedView& parameter : model.parameters())
    if (parameter.name == "fc1/W") {
      EXPECT_EQ(parameter.view.shape, (Shape{512, 32768, 1, 1}));
    }
  EXPECT_EQ(model.parameter_count(), 14987200u + 512u * (32768u - 512u));  // 31.5 million
}

TEST(Networks, VggHasTheArraysOfTheOriginal) {
  const Classifier model(create_network("vgg", 10), 1, 0);
  EXPECT_EQ(model.parameters().size(), 43u);  // 13 x (W, gamma, beta), fc1, its gamma and beta, fc2
  std::size_t statistics = 0;
  for (const NamedView& s : model.statistics()) statistics += s.view.size();
  EXPECT_EQ(statistics, 9472u);
}

TEST(Networks, CostWhatTheirShapesSay) {
  for (const char* name : {"vgg", "mid", "tiny"})
    for (const int size : {32, 64}) {
      const Classifier model(create_network(name, 10, size), 1, 0);
      EXPECT_EQ(cost_of(model.network()).parameters, static_cast<double>(model.parameter_count())) << name;
      EXPECT_EQ(cost_of(model.network()).arrays, static_cast<int>(model.parameters().size())) << name;
    }
  for (const char* name : {"vgg", "mid", "tiny"}) {
    double parameters = 0, operations = 0;
    const NetworkCost cost = cost_of(create_network(name, 10));
    for (const LayerCost& layer : cost.layers) parameters += layer.parameters, operations += layer.operations;
    EXPECT_EQ(parameters, cost.parameters) << name;
    EXPECT_EQ(operations, cost.operations) << name;
  }
  // 313.5 million multiply-adds forward; the first convolution has no gradient of its input.
  const double forward = 2 * 313.46e6, first = 2.0 * 3 * 64 * 9 * 32 * 32;
  EXPECT_NEAR(cost_of(create_network("vgg", 10)).operations, 3 * forward - first, 1e-3 * forward);
}

TEST(Networks, CostOfEachLayer) {
  const std::vector<LayerCost> layers = cost_of(create_network("mid", 10)).layers;
  ASSERT_EQ(layers.size(), 8u);  // 6 convolutions, 2 linear layers
  // Block1_2: 32 x 32 images of 32 channels to 32 channels; normalisation; pooling to 16 x 16.
  const LayerCost& convolution = layers[1];
  EXPECT_EQ(convolution.parameters, 9 * 32 * 32 + 2 * 32);
  EXPECT_EQ(convolution.vectors, 2 * 32);
  EXPECT_EQ(convolution.operations, 3.0 * 2 * 9 * 32 * 32 * 1024);
  EXPECT_EQ(convolution.inputs, 32 * 1024);
  EXPECT_EQ(convolution.outputs, 32 * 1024);
  EXPECT_EQ(convolution.activations, 32 * 1024 * 2 + 32 * 256);
  EXPECT_EQ(convolution.channels, 32);
  EXPECT_EQ(layers[0].operations, 2.0 * 2 * 9 * 3 * 32 * 1024) << "no gradient of the images";
  const LayerCost& last = layers.back();
  EXPECT_EQ(last.parameters, 128 * 10);
  EXPECT_EQ(last.inputs, 128);
  EXPECT_EQ(last.activations, 10);
}

TEST(Networks, RefuseAnUnknownNameAndAnImpossibleSize) {
  try {
    create_network("resnet", 10);
    FAIL() << "accepted";
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(), "There is no network \"resnet\". The networks are: vgg, mid, tiny.");
  }
  EXPECT_THROW(create_network("vgg", 10, 33), UsageError);
  EXPECT_THROW(create_network("vgg", 10, 0), UsageError);
}

class OnDevice : public ::testing::Test {
 protected:
  DevicePool pool{device_under_test()};
};

TEST_F(OnDevice, InitialWeightsAreLeCunNormalAndFollowTheSeed) {
  Classifier a(create_network("mid", 10), 2, 1), b(create_network("mid", 10), 2, 1), c(create_network("mid", 10), 2, 2);
  for (Classifier* model : {&a, &b, &c}) model->to_device(pool.device(0));
  EXPECT_EQ(a.state().parameters, b.state().parameters);
  EXPECT_NE(a.state().parameters, c.state().parameters);

  const ModelState state = a.state();
  for (std::size_t i = 0; i < state.parameters.size(); ++i) {
    const NamedView& place = a.parameters()[i];
    if (!place.name.ends_with("/W") || place.view.size() < 5000) continue;
    double squares = 0;
    for (const float w : state.parameters[i]) squares += static_cast<double>(w) * w;
    const double expected = 1.0 / std::sqrt(place.view.shape.features());
    EXPECT_NEAR(std::sqrt(squares / static_cast<double>(place.view.size())), expected, 0.05 * expected) << place.name;
  }
}

TEST_F(OnDevice, SaysWhatIsMissingOrWrong) {
  Classifier model(create_network("tiny", 10), 4, 1);
  EXPECT_THROW(model.device(), Error);
  EXPECT_THROW(model.forward_backward({}), Error);
  model.to_device(pool.device(0));
  EXPECT_THROW(model.to_device(pool.device(0)), Error);  // twice
  EXPECT_THROW(model.forward_backward({}), Error);       // not a full batch
  Classifier other(create_network("mid", 10), 4, 1);
  other.to_device(pool.device(0));
  EXPECT_THROW(other.restore(model.state()), Error);  // of another network
  EXPECT_THROW(Classifier(create_network("tiny", 10), 0, 1), Error);
}

TEST_F(OnDevice, ReplicaHasTheSameValues) {
  Classifier model(create_network("mid", 10), 2, 1);
  model.to_device(pool.device(0));
  const auto replica = model.replicate(pool.device(1), 1);
  EXPECT_EQ(replica->state().parameters, model.state().parameters);
  EXPECT_EQ(replica->state().statistics, model.state().statistics);
  EXPECT_EQ(replica->state().random.stream, 1u);
}

/// On a GPU the first pass is queued call by call, the second captured as a CUDA graph, the third the graph alone.
/// Where libraries refuse to be captured, only a warning and slow passes would show it.
TEST_F(OnDevice, TheSameStepHasTheSameBitsCapturedOrNot) {
  const bool real = on_gpus() && !std::getenv("ODORI_GPU_PLUGIN");
  const int batch_size = real ? 128 : 8;
  const RandomImages data(128);
  const Batch batch = data.batch(batch_size);
  std::vector<Precision> precisions{Precision::fp32};
  if (on_gpus()) precisions = {Precision::fp32, Precision::tf32, Precision::bf16};
  for (const Precision precision : precisions) {
    SCOPED_TRACE(to_string(precision));
    DevicePoolOptions options = device_under_test();
    options.precision = precision;
    DevicePool devices(options);
    Classifier model(create_network(real ? "vgg" : "tiny", 10), batch_size, 1);
    model.to_device(devices.device(0));
    const ModelState state = model.state();
    std::vector<float> first(model.memory().gradients.size()), now(first.size());
    for (int step = 0; step < 4; ++step) {
      model.restore(state);
      model.forward_backward(batch);
      model.device().read(model.memory().gradients, 0, step == 0 ? first : now);
      if (step > 0) {
        EXPECT_TRUE(now == first) << "step " << step;
      }
      model.evaluate(batch);
    }
    EXPECT_TRUE(std::isfinite(model.take_metrics().loss_sum));
    if (on_gpus()) {
      EXPECT_EQ(model.graph().describe().back(),
                "CUDA graphs: forward captured, backward captured, step not captured yet, evaluation captured");
    }
  }
}

}  // namespace
}  // namespace odori
