// SPDX-License-Identifier: Apache-2.0
// How a prediction is shown, and which ones a check asks for.
#include "prediction_support.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <regex>
#include <set>

#include "comm/cost.h"
#include "prediction_cases.h"
#include "with_test_cases.h"

namespace odori {
namespace {

const std::vector<PredictionCase> cases{
    {"tiny", "mid", 50000, 500, 4, "100gbit,1us", "25gbit,5us", 2, 8.2087e-07, 8, 3.22687e-06, 10},
    {"vgg", "mid", 16778001, 200, 1, "1gbit,200us", "1gbit,200us", 8, 0.91, 40, 1.7, 25}};
const bool started_again = start_again_with(cases);

std::string shown(const Prediction& prediction) {
  testing::internal::CaptureStdout();
  show(prediction);
  return testing::internal::GetCapturedStdout();
}

Given given_of(int batch, int per_node = 1) {
  return {.network = create_network("tiny", 10),
          .other = create_network("vgg", 10),
          .images = 100,
          .batch = batch,
          .per_node = per_node,
          .within = cost::link_from("100gbit,5us"),
          .between = cost::link_from("10gbit,50us")};
}

TEST(Prediction, SaysWhatATimeBelowZeroMeans) {
  const auto with_fixed = [](double fixed) { return shown({.given = given_of(10), .compute = {fixed, 0.001}}); };
  EXPECT_NE(with_fixed(-0.001).find("\nA time can't be below 0."), std::string::npos);
  EXPECT_EQ(with_fixed(0.001).find("below 0"), std::string::npos);
}

TEST(Prediction, SaysNoBatchBelowZero) {
  const auto with_end = [](double end) { return shown({.given = given_of(10), .batch_within_percent = end}); };
  EXPECT_NE(with_end(-101).find("\nLarger batches would save nothing"), std::string::npos);
  EXPECT_EQ(with_end(-101).find("From batch"), std::string::npos);
  EXPECT_NE(with_end(101).find("\nFrom batch 101 on"), std::string::npos);
}

TEST(Prediction, EndsWithOneImageADevice) {
  const std::vector<Point> curve{
      {1, 0, 4, "ring", 4}, {2, 0.1, 3, "tree", 3}, {3, 3, 5, "tree", 2}, {4, 0.1, 1, "tree", 1}};
  const std::string text = shown({.given = given_of(3), .curve = curve});
  EXPECT_NE(text.find("\nWith the ring alone, more than 2 devices: no more gain.\nWhat you choose goes on."),
            std::string::npos)
      << text;
  EXPECT_EQ(text.find("\n4 "), std::string::npos) << "a quarter of an image isn't a training";
  EXPECT_EQ(shown({.given = given_of(3), .curve = {{4, 0.1, 1, "tree", 1}}}).find("devices"), std::string::npos);
}

TEST(Prediction, ShowsMemoryWhereTheRingIsQuickest) {
  const std::vector<Point> curve{
      {1, 0, 4, "ring", 4}, {2, 0.1, 3, "tree", 3}, {4, 0.2, 2, "tree", 2}, {8, 3, 5, "tree", 1}};
  const std::string text = shown({.given = given_of(10, 2), .compute = {0.004, 0.001}, .curve = curve});
  EXPECT_NE(text.find("\n4 devices, the same images, Adam in fp32."), std::string::npos) << text;
  // 5146 parameters of 4 bytes, gradients, and twice as many of moments.
  EXPECT_TRUE(std::regex_search(text, std::regex("data parallel +0.02 +0.02 +0.04 +0.00"))) << text;
  EXPECT_NE(text.find("ZeRO-3"), std::string::npos) << text;
  EXPECT_NE(text.find("tensor parallel in each node"), std::string::npos) << text;
  EXPECT_EQ(shown({.given = given_of(10, 2), .curve = {curve[0]}}).find("ZeRO"), std::string::npos) << "one device";
}

TEST(DeviceCounts, FillNodes) {
  EXPECT_EQ(device_counts(1).back(), 1024);
  const std::vector<int> counts = device_counts(6);
  EXPECT_EQ(std::vector<int>(counts.begin(), counts.begin() + 8), (std::vector<int>{1, 2, 3, 4, 6, 12, 18, 24}));
  for (const int n : counts) EXPECT_TRUE(n < 6 || n % 6 == 0) << n;
  EXPECT_LE(counts.back(), 1024);
  EXPECT_EQ(device_counts(1024).back(), 1024);
}

TEST(CandidatesFor, AreThoseThatDevicesCanUse) {
  const auto ring = [](int n, double bytes, const cost::Link& wire) { return n + bytes + wire.latency; };
  const auto names = [&](int n, int per_node) {
    std::set<std::string> all;
    for (const Candidate& one : candidates_for(given_of(10, per_node), n, ring)) all.insert(one.name);
    return all;
  };
  EXPECT_EQ(names(8, 4), (std::set<std::string>{"hierarchical", "ring", "tree"}));
  EXPECT_EQ(names(4, 4), (std::set<std::string>{"ring", "tree"})) << "one node";
  EXPECT_EQ(names(8, 1), (std::set<std::string>{"ring", "tree"})) << "one device a node";
}

TEST(CandidatesFor, TakeTheirTime) {
  const Given given = given_of(10, 4);
  for (const Candidate& one :
       candidates_for(given, 8, [](int, double, const cost::Link& wire) { return wire.latency; })) {
    const cost::Cluster cluster{2, 4, given.within, given.between};
    const double expected = one.name == "ring" ? given.between.latency : *cost::all_reduce(one.name, cluster, {1e6});
    EXPECT_EQ(one.seconds(8, 1e6), expected) << one.name;
    EXPECT_GT(one.seconds(8, 1e6), 0) << one.name;
  }
}

TEST(Prediction, IsMadeForEachTestCase) {
  std::vector<Given> given;
  testing::internal::CaptureStdout();
  const bool asked = predict_for_check([&](const Given& one) {
    given.push_back(one);
    return Prediction{one};
  });
  const std::string said = testing::internal::GetCapturedStdout();
  EXPECT_TRUE(asked);
  EXPECT_EQ(std::getenv("ODORI_TEST_CASES"), nullptr) << "answers could read it";
  ASSERT_EQ(given.size(), 2u);
  EXPECT_EQ(given[0].network.name, "tiny");
  EXPECT_EQ(given[0].large.seconds, 3.22687e-06);
  EXPECT_DOUBLE_EQ(given[0].within.latency, 1e-6);
  EXPECT_DOUBLE_EQ(given[0].between.latency, 5e-6);
  EXPECT_EQ(given[0].per_node, 4);
  EXPECT_EQ(given[1].other.name, "mid");
  EXPECT_EQ(given[1].images, 16778001);
  EXPECT_EQ(given[1].percent, 25);
  EXPECT_NE(said.find("An epoch of 16778001 images"), std::string::npos) << said;
}

}  // namespace
}  // namespace odori
