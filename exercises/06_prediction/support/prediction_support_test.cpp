// SPDX-License-Identifier: Apache-2.0
// How a prediction is shown, and which ones a check asks for.
#include "prediction_support.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "prediction_cases.h"
#include "with_test_cases.h"

namespace odori {
namespace {

const std::vector<PredictionCase> cases{{"tiny", "mid", 50000, 500, "25gbit,5us", 2, 8.2087e-07, 8, 3.22687e-06, 10},
                                        {"vgg", "mid", 16778001, 200, "1gbit,200us", 8, 0.91, 40, 1.7, 25}};
const bool started_again = start_again_with(cases);

std::string shown(const Prediction& prediction) {
  testing::internal::CaptureStdout();
  show(prediction);
  return testing::internal::GetCapturedStdout();
}

TEST(Prediction, SaysWhatATimeBelowZeroMeans) {
  const auto with_fixed = [](double fixed) {
    return shown({.network = "tiny", .other_network = "vgg", .images = 100, .batch = 10, .compute = {fixed, 0.001}});
  };
  EXPECT_NE(with_fixed(-0.001).find("\nA time can't be below 0."), std::string::npos);
  EXPECT_EQ(with_fixed(0.001).find("below 0"), std::string::npos);
}

TEST(Prediction, SaysNoBatchBelowZero) {
  const auto with_end = [](double end) {
    return shown({.network = "tiny", .other_network = "vgg", .images = 100, .batch = 10, .batch_within_percent = end});
  };
  EXPECT_NE(with_end(-101).find("\nLarger batches would save nothing"), std::string::npos);
  EXPECT_EQ(with_end(-101).find("From batch"), std::string::npos);
  EXPECT_NE(with_end(101).find("\nFrom batch 101 on"), std::string::npos);
}

TEST(Prediction, EndsWithOneImageADevice) {
  const std::string text = shown({.network = "tiny",
                                  .other_network = "vgg",
                                  .images = 100,
                                  .batch = 3,
                                  .curve = {{1, 0, 4}, {2, 0.1, 3}, {3, 3, 5}, {4, 0.1, 1}}});
  EXPECT_NE(text.find("\n3 images shared by more than 2 devices: no more gain"), std::string::npos) << text;
  EXPECT_EQ(text.find("\n4 "), std::string::npos) << "a quarter of an image isn't a training";
}

TEST(Prediction, IsMadeForEachTestCase) {
  std::vector<Given> given;
  testing::internal::CaptureStdout();
  const bool asked = predict_for_check([&](const Given& one) {
    given.push_back(one);
    return Prediction{.network = one.network.name, .other_network = one.other.name, .images = one.images};
  });
  const std::string said = testing::internal::GetCapturedStdout();
  EXPECT_TRUE(asked);
  EXPECT_EQ(std::getenv("ODORI_TEST_CASES"), nullptr) << "answers could read it";
  ASSERT_EQ(given.size(), 2u);
  EXPECT_EQ(given[0].network.name, "tiny");
  EXPECT_EQ(given[0].large.seconds, 3.22687e-06);
  EXPECT_DOUBLE_EQ(given[0].wire.latency, 5e-6);
  EXPECT_EQ(given[1].other.name, "mid");
  EXPECT_EQ(given[1].images, 16778001);
  EXPECT_EQ(given[1].percent, 25);
  EXPECT_NE(said.find("An epoch of 16778001 images"), std::string::npos) << said;
}

}  // namespace
}  // namespace odori
