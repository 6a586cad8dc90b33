// SPDX-License-Identifier: Apache-2.0
// Predicted times, against numbers worked by hand.
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "comm/communicator.h"
#include "comm/cost.h"
#include "comm/link.h"
#include "errors/error.h"

namespace odori::cost {
namespace {

constexpr Link slow{.latency = 1e-3, .bandwidth = 1e6}, quick{.latency = 0, .bandwidth = 1e7};
constexpr Cluster four_nodes{.nodes = 4, .within = quick, .between = slow},
    two_by_two{.nodes = 2, .ranks_per_node = 2, .within = quick, .between = slow},
    one_node{.ranks_per_node = 4, .within = quick, .between = slow};
constexpr Gradients gradients{.bytes = 8000, .arrays = 4};

double seconds(const char* communicator, const Cluster& cluster, const Gradients& of = gradients) {
  return all_reduce(communicator, cluster, of).value();
}

TEST(Link, IsReadWithItsUnits) {
  EXPECT_DOUBLE_EQ(link_from("10gbit,20us").bandwidth, 1.25e9);
  EXPECT_DOUBLE_EQ(link_from("10gbit,20us").latency, 20e-6);
  EXPECT_DOUBLE_EQ(link_from("100mbit,1.5ms").bandwidth, 12.5e6);
  EXPECT_DOUBLE_EQ(link_from("100mbit,1.5ms").latency, 1.5e-3);
  EXPECT_DOUBLE_EQ(link_from("1gbit").latency, 50e-6);
  for (const char* text :
       {"", "10", "gbit", "10gbyte", "0gbit", "-1gbit", "10gbit,", "10gbit,5", "10gbit,5us,5us", "nangbit"})
    EXPECT_THROW(link_from(text), UsageError) << text;
}

TEST(AllReduce, TakesWhatItsMessagesTake) {
  // 6 messages of 2000 bytes; 2 of 4000 and 2 of 2000.
  EXPECT_DOUBLE_EQ(seconds("ring", four_nodes), 6 * 3e-3);
  EXPECT_DOUBLE_EQ(seconds("tree", four_nodes), 2 * 5e-3 + 2 * 3e-3);
  EXPECT_DOUBLE_EQ(seconds("flat", four_nodes), 16e-3) << "the quicker of the two";
  EXPECT_DOUBLE_EQ(seconds("pure_nccl", four_nodes), 16e-3);
  EXPECT_DOUBLE_EQ(seconds("naive", four_nodes), 4 * (2 * 2e-3 + 2 * 1.5e-3)) << "4 vectors of 2000 bytes";
  EXPECT_DOUBLE_EQ(seconds("dummy", four_nodes), 0);
}

TEST(AllReduce, OfSeveralRanksANode) {
  EXPECT_DOUBLE_EQ(seconds("ring", two_by_two), 6 * 3e-3) << "each step waits for the network";
  // Within: 4000 bytes twice. Between: 2000 of each of the two ranks, over one card.
  EXPECT_DOUBLE_EQ(seconds("tree", two_by_two), 2 * 0.4e-3 + 2 * 5e-3);
  EXPECT_DOUBLE_EQ(seconds("hierarchical", two_by_two), 2 * 0.8e-3 + 2 * 5e-3);
  EXPECT_DOUBLE_EQ(seconds("non_cuda_aware", two_by_two), 2 * 0.8e-3 + 2 * 5e-3);
  EXPECT_DOUBLE_EQ(seconds("two_dimensional", two_by_two), 2 * 0.4e-3 + 2 * 5e-3);
  EXPECT_DOUBLE_EQ(seconds("single_node", one_node), 6 * 0.2e-3);
  EXPECT_FALSE(all_reduce("single_node", two_by_two, gradients)) << "it refuses two nodes";
}

TEST(AllReduce, PipelinesLongVectorsWithinANode) {
  Cluster of_eight{.nodes = 2, .ranks_per_node = 8, .within = quick, .between = slow};
  EXPECT_DOUBLE_EQ(seconds("hierarchical", of_eight), 2 * 0.8e-3 + 2 * 5e-3) << "all bytes once each way";
  of_eight.within.latency = 1e-3;
  EXPECT_DOUBLE_EQ(seconds("hierarchical", of_eight), 2 * 3 * 1.8e-3 + 2 * 5e-3) << "3 messages instead of 7 latencies";
}

TEST(AllReduce, OfRanksThatAreNoPowerOfTwo) {
  const Cluster three{.nodes = 3, .between = slow};
  EXPECT_DOUBLE_EQ(seconds("tree", three), 2 * 5e-3 + 2 * 9e-3) << "one rank gives all to another first";
  EXPECT_DOUBLE_EQ(seconds("ring", {.nodes = 3, .between = {.latency = 1, .bandwidth = 1e300}}), 4);
}

TEST(AllReduce, CrossesTheNetworkAlsoFromNodesWithAnyNumberOfRanks) {
  const Cluster two_by_three{.nodes = 2, .ranks_per_node = 3, .within = quick, .between = slow};
  // Ranks 2 and 3 of 0 1 2 | 3 4 5: all of it; of the 4 that speak then, 1 3 4 5, a half and a quarter crosses. And
  // back.
  EXPECT_DOUBLE_EQ(seconds("tree", two_by_three), 2 * 9e-3 + 2 * 5e-3 + 2 * 3e-3);
  EXPECT_DOUBLE_EQ(seconds("flat", two_by_three), 10 * (1e-3 + 8e-3 / 6)) << "the ring";
}

// One truth for what MPI's all-reduce takes, in predictions and over a simulated link.
TEST(AllReduce, IsChargedByASimulatedLinkAsPredicted) {
  constexpr Link nothing{.latency = 0, .bandwidth = 1e300};
  for (const Link& speed : {Link{50e-6, 1.25e8}, {10e-3, 1.25e8}})
    for (const auto& [nodes, ranks] : std::vector<std::array<int, 2>>{
             {2, 1}, {2, 2}, {3, 1}, {4, 1}, {5, 1}, {2, 3}, {3, 2}, {4, 2}, {2, 6}, {3, 4}, {7, 3}, {16, 8}}) {
      std::vector<int> nodes_of_ranks;
      for (int r = 0; r < nodes * ranks; ++r) nodes_of_ranks.push_back(r / ranks);
      double charged = 0;
      for (const Steps& step : all_reduce_steps(1e6, nodes_of_ranks, nodes, speed))
        charged += load_of(step, nodes_of_ranks, nodes).seconds(speed);
      const Cluster cluster{nodes, ranks, nothing, speed};
      EXPECT_NEAR(charged, seconds("flat", cluster, {.bytes = 1e6}), 1e-12) << nodes << " nodes of " << ranks;
    }
}

TEST(AllReduce, CutsLongVectorsIntoSlices) {
  const Cluster latency{.nodes = 2, .between = {.latency = 1, .bandwidth = 1e300}};
  const double mebibyte = 1024 * 1024;
  EXPECT_DOUBLE_EQ(seconds("flat", latency, {.bytes = 3 * mebibyte}), 2 * 2) << "two slices of two messages";
  EXPECT_DOUBLE_EQ(seconds("ring", latency, {.bytes = 3 * mebibyte}), 2);
}

TEST(AllReduce, OfOneMoreIsKnownByItsFileAlone) {
  EXPECT_DOUBLE_EQ(seconds("star", four_nodes), 2 * 3 * 9e-3);
  try {
    all_reduce("no such", four_nodes, gradients);
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("single_node, star, tree"), std::string::npos) << error.what();
  }
}

TEST(AllReduce, IsKnownOfEachCommunicator) {
  for (const std::string& name : communicator_names()) {
    if (name == "dummy") continue;
    EXPECT_GT(all_reduce(name, one_node, gradients).value(), 0) << name;
    EXPECT_EQ(all_reduce(name, {}, gradients), 0) << name << ": one rank speaks to nobody";
  }
  EXPECT_THROW(all_reduce("rings", one_node, gradients), UsageError);
}

TEST(Compute, IsTheLineThroughTwoIterations) {
  const Compute line = compute_from({32, 0.0164}, {64, 0.0324});
  EXPECT_NEAR(line.per_image, 0.0005, 1e-12);
  EXPECT_NEAR(line.fixed, 0.0004, 1e-12);
  const Compute other = compute_of_other(line, 50, 200);
  EXPECT_NEAR(other.seconds(100), 0.0004 + 0.2, 1e-12);
  EXPECT_THROW(compute_from({32, 0.1}, {32, 0.2}), UsageError);
  EXPECT_THROW(compute_from({32, 0.2}, {64, 0.1}), UsageError);
}

Training training(const Strategy& strategy, double bytes = 8000) {
  return {.compute = {.fixed = 0.01, .per_image = 0.001},
          .gradients = {.bytes = bytes},
          .cluster = four_nodes,
          .communicator = "ring",
          .strategy = strategy};
}

TEST(Iteration, WaitsForWhatIsNotHidden) {
  EXPECT_DOUBLE_EQ(iteration(training({}), 2)->seconds(), 0.012 + 0.018);
  EXPECT_DOUBLE_EQ(iteration(training({.half = true}), 2)->seconds(), 0.012 + 6 * 2e-3);
  EXPECT_DOUBLE_EQ(iteration(training({.double_buffering = true}), 2)->seconds(), 0.018);
  EXPECT_DOUBLE_EQ(iteration(training({.double_buffering = true}), 10)->waited, 0);
  EXPECT_DOUBLE_EQ(iteration(training({.overlap = true}), 2)->waited, 0.018) << "one bucket is full when backward ends";
}

TEST(Iteration, HidesAllBucketsButTheLastBehindBackward) {
  Training overlapped = training({.overlap = true}, 4 * bucket_bytes);
  overlapped.cluster = {.nodes = 2, .between = {.latency = 0, .bandwidth = bucket_bytes / 0.02}};  // 0.02 s a bucket
  EXPECT_NEAR(iteration(overlapped, 50)->waited, 0.08 - 0.04 * 3 / 4, 1e-12) << "backward takes 0.04 s";
  EXPECT_NEAR(iteration(overlapped, 1190)->waited, 0.02, 1e-12) << "backward takes 0.8 s";
}

const std::vector<LayerCost> two_layers{{.parameters = 1000, .activations = 5}, {.parameters = 3000, .activations = 7}};

TEST(ZeroMemory, ShardsOneThingMoreInEachStage) {
  const auto bytes = [](int stage, double devices) { return zero_memory(stage, devices, two_layers, fp32_adam, 2); };
  EXPECT_EQ(bytes(0, 4).bytes(), 4000 * 16 + 2 * 12 * 4);
  EXPECT_EQ(bytes(1, 4).optimizer, 4000 * 8 / 4);
  EXPECT_EQ(bytes(1, 4).gradients, 4000 * 4);
  EXPECT_EQ(bytes(1, 4).gathered, 0);
  EXPECT_EQ(bytes(2, 4).gradients, 4000 * 4 / 4);
  EXPECT_EQ(bytes(2, 4).parameters, 4000 * 4);
  EXPECT_EQ(bytes(2, 4).gathered, 3000 * 4) << "the gradients of the largest layer";
  EXPECT_EQ(bytes(3, 4).parameters, 4000 * 4 / 4);
  EXPECT_EQ(bytes(3, 4).gathered, 3000 * 4 + 4000 * 4) << "and two layers, which are all";
  EXPECT_EQ(bytes(3, 4).activations, 2 * 12 * 4) << "not sharded";
  for (const int stage : {1, 2, 3}) EXPECT_EQ(bytes(stage, 1).bytes(), bytes(0, 1).bytes()) << "one device";
  for (const int stage : {-1, 4}) EXPECT_THROW(bytes(stage, 4), UsageError);
}

TEST(ZeroMemory, IsThatOfThePaper) {
  // S. Rajbhandari et al., 2020, figure 1: 7.5 billion parameters, 64 devices; in GB.
  const std::vector<LayerCost> model(32, {.parameters = 7.5e9 / 32});
  const double published[] = {120, 31.4, 16.6, 1.9};
  for (const int stage : {0, 1, 2, 3}) {
    const Memory memory = zero_memory(stage, 64, model, mixed_adam);
    EXPECT_NEAR((memory.bytes() - memory.gathered) / 1e9, published[stage], 0.05) << stage;
  }
}

TEST(Zero, TakesWhatItsRingsTake) {
  const auto zero_of = [](int stage, const State& state) { return zero(stage, training({}), two_layers, state, 2); };
  EXPECT_DOUBLE_EQ(zero_of(0, fp32_adam).iteration.seconds(), 0.012 + 6 * 5e-3) << "6 messages of 4000 bytes";
  EXPECT_DOUBLE_EQ(zero_of(1, fp32_adam).iteration.exchange, 6 * 5e-3);
  EXPECT_DOUBLE_EQ(zero_of(1, mixed_adam).iteration.exchange, 6 * 3e-3);
  EXPECT_DOUBLE_EQ(zero_of(2, fp32_adam).iteration.exchange, 3 * 2e-3 + 3 * 4e-3 + 3 * 5e-3) << "layers of 4 and 12 kB";
  EXPECT_DOUBLE_EQ(zero_of(3, fp32_adam).iteration.waited, 3 * (3 * 2e-3 + 3 * 4e-3));
  for (const int stage : {0, 1, 2}) EXPECT_EQ(zero_of(stage, fp32_adam).sent, 2 * 16000 * 3 / 4) << stage;
  EXPECT_EQ(zero_of(3, fp32_adam).sent, 3 * 16000 * 3 / 4);
  EXPECT_THROW(zero_of(4, fp32_adam), UsageError);
}

const std::vector<LayerCost> three_layers{
    {.parameters = 100, .operations = 60, .inputs = 30, .outputs = 10, .activations = 10, .channels = 10},
    {.parameters = 220,
     .vectors = 20,
     .operations = 600,
     .inputs = 10,
     .outputs = 20,
     .activations = 20,
     .channels = 20},
    {.parameters = 105, .vectors = 5, .operations = 300, .inputs = 20, .outputs = 5, .activations = 5, .channels = 5}};

TEST(TensorParallel, SplitsPairsOfLayers) {
  Training on_nodes = training({});
  on_nodes.cluster = two_by_two;
  const Split split = tensor_parallel(on_nodes, three_layers, fp32_adam, 4).value();
  EXPECT_EQ(split.memory.parameters, (100 + 220 / 2 + (105 - 5) / 2 + 5) * 4) << "the third layer's 5 biases whole";
  EXPECT_EQ(split.memory.gradients, 265 * 4);
  EXPECT_EQ(split.memory.optimizer, 265 * 8);
  EXPECT_EQ(split.memory.activations, 8 * (10 + 20 / 2 + 5) * 4) << "8 images on each node";
  EXPECT_DOUBLE_EQ(split.iteration.compute, 0.01 + 0.008 * (60 + 900 / 2.0) / 960);
  // In the node 8 x 10 and 8 x 5 elements; between the nodes 265 of each of two devices.
  EXPECT_DOUBLE_EQ(split.iteration.exchange, (320 + 160) / 1e7 + 2 * (1e-3 + 1060 / 1e6));
  EXPECT_DOUBLE_EQ(split.sent, 320 + 160 + 1060);
}

TEST(TensorParallel, NeedsPairsAndChannels) {
  Training wide = training({});
  wide.cluster = {.ranks_per_node = 20, .within = quick, .between = slow};
  EXPECT_TRUE(tensor_parallel(wide, three_layers, fp32_adam, 1));
  EXPECT_FALSE(tensor_parallel(wide, two_layers, fp32_adam, 1)) << "the first is replicated, the last has no partner";
  wide.cluster.ranks_per_node = 21;
  EXPECT_FALSE(tensor_parallel(wide, three_layers, fp32_adam, 1)) << "20 channels";
  wide.cluster.ranks_per_node = 2;
  std::vector<LayerCost> four = three_layers;
  four.push_back({.parameters = 7, .activations = 1});
  const double more = tensor_parallel(wide, four, fp32_adam, 1)->memory.bytes() -
                      tensor_parallel(wide, three_layers, fp32_adam, 1)->memory.bytes();
  EXPECT_EQ(more, 7 * 16 + 2 * 1 * 4) << "the last one is replicated";
}

TEST(TensorParallel, OfATransformerIsThatOfThePapers) {
  // s tokens of h elements, 16-bit. Activations in sh, from the bytes of V. Korthikanti et al., 2022: 24 sbh are split,
  // 10 sbh are not. M. Shoeybi et al., 2019: four all-reduces of bsh elements a layer.
  constexpr double s = 64, h = 128, sh = s * h, devices = 8;
  const std::vector<LayerCost> layers{
      {.inputs = sh, .outputs = sh},
      {.parameters = 3 * h * h, .inputs = sh, .outputs = 3 * sh, .activations = 4 * sh, .channels = 3 * h},
      {.parameters = h * h, .inputs = sh, .outputs = sh, .activations = 2.5 * sh, .channels = h},
      {.parameters = 4 * h * h, .inputs = sh, .outputs = 4 * sh, .activations = 8 * sh, .channels = 4 * h},
      {.parameters = 4 * h * h, .inputs = 4 * sh, .outputs = sh, .activations = 2.5 * sh, .channels = h}};
  Training node = training({});
  node.cluster = {.ranks_per_node = static_cast<int>(devices), .within = quick};
  const Split split = tensor_parallel(node, layers, mixed_adam, 1 / devices).value();
  EXPECT_DOUBLE_EQ(split.memory.activations, sh * (10 + 24 / devices));
  EXPECT_DOUBLE_EQ(split.memory.parameters, 12 * h * h / devices * 2);
  EXPECT_DOUBLE_EQ(split.sent, 4 * (2 * 7 / devices) * sh * 2);
}

TEST(StrongScaling, EndsWhereLatencyOutweighsWork) {
  Training shared = training({});
  shared.cluster = {.between = {.latency = 1e-3, .bandwidth = 1e300}};
  // 1.024 / n + 2 (n - 1) / 1000 is least at n = 22.6; of whole numbers at 23.
  EXPECT_EQ(best_nodes(shared, 1024, 1000), 23);
  EXPECT_EQ(best_nodes(shared, 1024, 16), 16);
  shared.cluster.between.latency = 0;
  EXPECT_EQ(best_nodes(shared, 8, 16), 8) << "8 images are for 8 ranks";
}

TEST(Epoch, IsWholeIterations) {
  EXPECT_EQ(iterations(50000, 32), 1563);
  EXPECT_EQ(iterations(64, 32), 2);
  EXPECT_EQ(batch_where_gain_ends({.fixed = 0.01035, .per_image = 0.001}, 0.1), 104);
  EXPECT_EQ(batch_where_gain_ends({.fixed = -0.01, .per_image = 0.001}, 0.1), 1) << "a measurement's noise";
}

TEST(Amdahl, SaysWhatTwoDevicesTellOfFour) {
  EXPECT_DOUBLE_EQ(amdahl(0.1, 4), 1 / 0.325);
  EXPECT_NEAR(serial_share(amdahl(0.1, 4), 4), 0.1, 1e-12);
  // The workshop of 2018, four epochs: 1.69 on 2 GPUs lets one expect 2.58 on 4. Measured: 3.35.
  EXPECT_NEAR(amdahl(serial_share(1.69, 2), 4), 2.58, 0.005);
}

}  // namespace
}  // namespace odori::cost
