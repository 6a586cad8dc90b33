// SPDX-License-Identifier: Apache-2.0
// Iterations that are measured, timings that are read, and what is made of them.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <regex>

#include "errors/error.h"
#include "files/json.h"
#include "predict/forecast.h"
#include "predict/measure.h"
#include "sentence_of.h"

namespace odori {
namespace {

TEST(Measuring, TakesMoreImagesLonger) {
  const NetworkSpec network = create_network("tiny", 10);
  const DevicePoolOptions cpu{.request = DeviceRequest::cpu};
  const auto [small, large] = measure_two(network, 4, 256, cpu);
  EXPECT_EQ(small.batch, 4);
  EXPECT_GT(small.seconds, 0);
  EXPECT_GT(large.seconds, small.seconds);
  EXPECT_GT(measure_iteration(network, 4, 2, cpu).seconds, 0) << "two devices";
}

TEST(Timings, AreReadOrRefusedInASentence) {
  const auto [one, other] = recorded_timings("32:0.041,128:1.5e-1");
  EXPECT_EQ(one.batch, 32);
  EXPECT_EQ(one.seconds, 0.041);
  EXPECT_EQ(other.batch, 128);
  EXPECT_EQ(other.seconds, 0.15);
  for (const char* text :
       {"", "32", "32:0.1", "32:0.1,", "32:0.1,64", "32:0.1,64:", "32:0.1,64:0", "32:-1,64:2", "32:0.1,64:0.2,96:0.3",
        "32.5:0.1,64:0.2", "32:0.041,64:0.083", "64:0.083,32:0.041", "32:nan,64:inf", "a:b,c:d"})
    EXPECT_THROW(recorded_timings(text), UsageError) << text;
  EXPECT_SENTENCE(recorded_timings("32:0.041,32:0.05"), "needs two different batches");
}

Question question(int nodes) {
  return {.model = "vgg",
          .training = {.compute = {.fixed = 0.01, .per_image = 0.001},
                       .gradients = {.bytes = 8000},
                       .cluster = {.nodes = nodes,
                                   .within = {.latency = 0, .bandwidth = 1e9},
                                   .between = {.latency = 1e-3, .bandwidth = 1e6}},
                       .communicator = "ring"},
          .batch = 10,
          .shared_batch = 40,
          .images = 1000,
          .layers = {{.parameters = 1000, .activations = 10}, {.parameters = 1000}, {.parameters = 500}}};
}

TEST(Forecast, SaysWhatIsMissingOrOdd) {
  Question asked = question(4);
  asked.training.communicator = "single_node";
  EXPECT_NE(to_text(forecast(asked)).find("\n-: single_node can't be used there.\n"), std::string::npos);
  asked = question(1);
  asked.images = 1;
  EXPECT_NE(to_text(forecast(asked)).find("An epoch of 1 image takes"), std::string::npos);
  EXPECT_NE(to_text(forecast(asked)).find("\n1 node x 1 device, 8 Mbit/s, 1 ms between nodes"), std::string::npos);
  asked = question(4);
  asked.training.cluster.between.bandwidth = 1;
  EXPECT_NE(to_text(forecast(asked)).find("For 40 images, one device alone is faster."), std::string::npos);
  asked.training.compute.fixed = -0.01;
  EXPECT_NE(to_text(forecast(asked)).find("took more than in proportion"), std::string::npos);
}

TEST(Forecast, IsWhatTheFormulasSay) {
  const Forecast all = forecast(question(4));
  ASSERT_EQ(all.scaling.size(), 3u);
  const NodesForecast& last = all.scaling.back();
  EXPECT_EQ(last.devices, 4);
  EXPECT_DOUBLE_EQ(last.weak->seconds(), 0.02 + 0.018);
  EXPECT_DOUBLE_EQ(last.images_per_second, 40 / 0.038);
  EXPECT_DOUBLE_EQ(last.efficiency, 0.02 / 0.038);
  EXPECT_DOUBLE_EQ(last.epoch, 25 * 0.038);
  EXPECT_DOUBLE_EQ(last.strong->seconds(), 0.02 + 0.018);
  EXPECT_DOUBLE_EQ(last.speedup, 0.05 / 0.038);
  EXPECT_DOUBLE_EQ(all.epoch, 100 * 0.02);
  EXPECT_EQ(all.scaling.front().efficiency, 1);
}

TEST(Forecast, EndsWithTheClustersNodesWhateverTheirNumber) {
  const Forecast all = forecast(question(6));
  std::vector<int> nodes;
  for (const NodesForecast& row : all.scaling) nodes.push_back(row.nodes);
  EXPECT_EQ(nodes, (std::vector{1, 2, 4, 6}));
  EXPECT_FALSE(forecast(question(64)).scaling.back().strong) << "40 images for 64 devices";
}

TEST(Forecast, SaysTheSameAsTextAndAsJson) {
  const Forecast all = forecast(question(4));
  const std::string text = to_text(all);
  EXPECT_TRUE(std::regex_search(text, std::regex("single_node +- +- +- +- +-\n"))) << text;
  EXPECT_NE(text.find("38.00"), std::string::npos) << text;
  const nlohmann::json json = all;
  EXPECT_DOUBLE_EQ(json["scaling"][2]["weak"]["seconds"], 0.038);
  EXPECT_EQ(json["best_nodes"], all.best_nodes);
  for (const auto& row : json["communicators"])
    EXPECT_EQ(row["plain"].is_null(), row["name"] == "single_node") << json_text(row);
}

TEST(Forecast, SaysWhatSplittingCosts) {
  Question asked = question(4);
  asked.training.cluster.ranks_per_node = 2;
  asked.layers[1].channels = 2;
  Forecast all = forecast(asked);
  ASSERT_EQ(all.splits.size(), 5u);
  for (const int stage : {0, 1, 2, 3})
    EXPECT_EQ(all.splits[static_cast<std::size_t>(stage)].cost->memory.bytes(),
              cost::zero_memory(stage, 8, asked.layers, cost::fp32_adam, 10).bytes());
  const nlohmann::json json = all;
  EXPECT_DOUBLE_EQ(json["splits"][1]["memory"]["optimizer"], 2500 * 8 / 8);
  EXPECT_DOUBLE_EQ(json["splits"][3]["sent"], 3 * 2500 * 4 * 7 / 8.0);
  EXPECT_GT(json["splits"][4]["iteration"]["seconds"], 0.02);
  const std::string text = to_text(all);
  // 40 kB of state and 10 x 10 activations; 2 x 10 kB x 7 / 8 sent, in 14 messages of 1.25 kB; 20 ms of compute.
  EXPECT_TRUE(
      std::regex_search(text, std::regex("data parallel +0.01 +0.01 +0.02 +0.00 +0.00 +0.04 +0.02 +31.50 +51.50\n")))
      << text;
  EXPECT_NE(text.find("4 + 4 + 8 bytes of a parameter"), std::string::npos) << text;
  asked.training.cluster.ranks_per_node = 3;
  EXPECT_NE(to_text(forecast(asked)).find("\n-: tensor parallelism needs"), std::string::npos) << "2 channels";
  EXPECT_TRUE(nlohmann::json(forecast(question(4)))["splits"][4]["memory"].is_null()) << "one device a node";
}

TEST(Forecast, HasAPageWithWhatTheTextSays) {
  const std::string page = to_page(forecast(question(4)), "chart()");
  EXPECT_NE(page.find("4 devices: 2.1 times one device's images/s"), std::string::npos);
  EXPECT_NE(page.find("<td data-en=\"weak: ms\" data-ja=\"弱：ミリ秒\">38.00</td>"), std::string::npos);
  EXPECT_EQ(page.find("{{"), std::string::npos);
  Question refused = question(4);
  refused.training.communicator = "single_node";
  EXPECT_NE(to_page(forecast(refused), "").find("This communicator cannot be used on that cluster"), std::string::npos);
}

TEST(Forecast, OfHalfPrecisionIsForCommunicatorsThatTakeIt) {
  const Forecast all = forecast(question(4));
  for (const CommunicatorForecast& of : all.communicators)
    EXPECT_EQ(of.half.has_value(), of.name == "naive" || of.name == "flat" || of.name == "pure_nccl" ||
                                       of.name == "ring" || of.name == "tree")
        << of.name;
  const std::string text = to_text(all);
  EXPECT_TRUE(std::regex_search(text, std::regex("hierarchical +[0-9.]+ +[0-9.]+ +- +[0-9.]+ "))) << text;
  EXPECT_NE(
      text.find("\nOnly flat, naive, pure_nccl, ring, tree can exchange in half precision (--allreduce-dtype).\n"),
      std::string::npos)
      << text;
}

}  // namespace
}  // namespace odori
