// SPDX-License-Identifier: Apache-2.0
// Which plans cuDNN has for every convolution of the kit's networks, on GPUs that are only described: its heuristics
// and plans need no GPU. What plans compute, and how fast, only a real one shows.
//
// A sample of batches and, for what --autotune tries, of convolutions; with ODORI_ALL_PLANS=1 all of them (half a
// minute). Writes tables of workspaces, to ODORI_PLANS_TABLE.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <map>
#include <set>

#include "backend/cuda/convolution_engine.h"
#include "backend/device_pool.h"
#include "errors/error.h"
#include "model/networks.h"

namespace odori::cuda {
namespace {

constexpr std::size_t any_number = std::numeric_limits<std::size_t>::max();
constexpr std::size_t workspace_limit = static_cast<std::size_t>(DevicePoolOptions().workspace_mib) << 20;

/// Sources: NVIDIA's data sheets and whitepapers of each, and table "Technical Specifications per Compute Capability"
/// of the CUDA Programming Guide.
struct Gpu {
  std::string name;
  int version;  // compute capability: 900 is 9.0
  int processors, clock_mhz, memory_clock_mhz, l2_mib, shared_kib_of_block, memory_gib;
};
const std::vector<Gpu> gpus{{"A100", 800, 108, 1410, 1593, 40, 163, 80},
                            {"H100", 900, 132, 1980, 2619, 50, 227, 80},
                            {"H200", 900, 132, 1980, 3201, 50, 227, 141},
                            {"B200", 1000, 148, 1965, 3996, 126, 227, 180}};

std::string json_of(const Gpu& gpu) {
  return fmt::format(
      R"({{"deviceName": "NVIDIA {}", "cudaDeviceId": 0, "deviceVer": {}, "driverVer": 13000, "maxGridSize": [2147483647, 65535, 65535],)"
      R"( "maxBlockSize": [1024, 1024, 64], "regsPerBlock": 65536, "multiProcessorCount": {}, "smClockRateKHz": {}, "memClockRateKHz": {},)"
      R"( "l2CacheSize": {}, "warpSize": 32, "maxSharedMemoryPerBlock": 49152, "maxSharedMemoryPerBlockOptin": {},)"
      R"( "reservedSharedMemoryPerBlock": 1024, "maxRegistersPerSM": 65536, "pciDeviceId": 0, "maxCtasPerSM": 32, "maxThreadsPerBlock": 1024,)"
      R"( "maxThreadsPerSM": 2048, "isTccDriver": 0, "supportCoopLaunch": 1, "totalGlobalMem": {}}})",
      gpu.name, gpu.version, gpu.processors, gpu.clock_mhz * 1000, gpu.memory_clock_mhz * 1000, gpu.l2_mib << 20,
      gpu.shared_kib_of_block << 10, static_cast<std::size_t>(gpu.memory_gib) << 30);
}

/// One image's, without batch and pass.
struct Layer {
  Shape x, y;
  ConvolutionSpec spec;
  bool operator<(const Layer& other) const { return key() < other.key(); }
  std::string key() const { return fmt::format("{} x {} x {} -> {}", x.c, x.h, x.w, y.c); }
};

std::set<Layer> convolutions_of(const NetworkSpec& network) {
  std::set<Layer> found;
  Shape x{1, 3, network.image_size, network.image_size};
  for (const auto& layer : layers_of(network)) {
    const Shape y = layer->output(x);
    for (const ParameterRequest& parameter : layer->parameters(x))
      if (parameter.kind == ParameterKind::convolution_weight) {
        const int kernel = parameter.shape.h;
        found.insert({x, y, {.out_channels = y.c, .kernel = kernel, .padding = (y.h - x.h + kernel - 1) / 2}});
      }
    x = y;
  }
  return found;
}

const bool all = std::getenv("ODORI_ALL_PLANS") != nullptr;

struct Trained {
  int image_size;
  std::vector<std::string> networks;
  std::vector<int> batches;
};
/// The kit's networks at the batches of its exercises and benchmarks, and the workshop's own of 2018.
const std::vector<Trained> trained{
    {32, network_names(), all ? std::vector{32, 64, 128, 256, 512} : std::vector{64, 512}}, {256, {"vgg"}, {32}}};

class CudaPlansTest : public testing::TestWithParam<std::tuple<Gpu, Precision>> {
 protected:
  static ConvolutionCase with(const Layer& layer, int batch, Pass pass) {
    Shape x = layer.x, y = layer.y;
    x.n = y.n = batch;
    return {x, y, layer.spec, pass, std::get<Precision>(GetParam())};
  }
  static std::string gpu() { return std::get<Gpu>(GetParam()).name; }

  std::unique_ptr<ConvolutionEngine> engine = new_convolution_engine(json_of(std::get<Gpu>(GetParam())));
};

constexpr Pass passes[] = {Pass::forward, Pass::backward_data, Pass::backward_weights};

TEST_P(CudaPlansTest, EveryConvolutionOfTheNetworksHasAPlan) {
  std::ofstream table(fmt::format(ODORI_PLANS_TABLE, gpu(), to_string(std::get<Precision>(GetParam()))));
  table << "Workspace in MiB of the plan that is taken without --autotune; " << engine->version() << "\n";
  std::string most;
  for (const Trained& t : trained) {
    std::set<Layer> layers;
    for (const std::string& name : t.networks) layers.merge(convolutions_of(create_network(name, 10, t.image_size)));
    ASSERT_FALSE(layers.empty());
    std::map<int, std::size_t> most_of_batch;
    for (const Layer& layer : layers)
      for (const Pass pass : passes) {
        table << fmt::format("{:24} {:16}", layer.key(), to_string(pass));
        for (const int batch : t.batches) {
          const ConvolutionCase which = with(layer, batch, pass);
          const auto plan = std::move(engine->plans(which, workspace_limit, 1).at(0));
          most_of_batch[batch] = std::max(most_of_batch[batch], plan->workspace_bytes());
          table << fmt::format("  {}: {:.1f}", batch, static_cast<double>(plan->workspace_bytes()) / (1 << 20));
        }
        table << "\n";
      }
    for (const auto& [batch, bytes] : most_of_batch)
      most += fmt::format("  {}x{}x{}: {}", batch, t.image_size, t.image_size, (bytes + (1 << 20) - 1) >> 20);
  }
  table << "At most:" << most << "\n";
  fmt::print("{} {}, MiB at most:{}\n", gpu(), to_string(std::get<Precision>(GetParam())), most);
}

/// What --autotune tries: more than one engine, each plan once, and none that is beyond the limit.
TEST_P(CudaPlansTest, AllPlansAreTriedAndFoundAgain) {
  for (const Layer& layer : convolutions_of(create_network("vgg", 10))) {
    if (!all && layer.x.c != 64) continue;
    for (const Pass pass : passes) {
      const ConvolutionCase which = with(layer, 128, pass);
      const auto plans = engine->plans(which, workspace_limit, any_number);
      std::set<std::string> names, engines;
      for (const auto& plan : plans) {
        names.insert(plan->name());
        engines.insert(plan->name().substr(0, plan->name().find(',')));
        EXPECT_LE(plan->workspace_bytes(), workspace_limit);
      }
      EXPECT_EQ(names.size(), plans.size()) << layer.key();
      EXPECT_GT(engines.size(), 1u) << layer.key() << ", " << to_string(pass);
      EXPECT_EQ(engine->plans(which, workspace_limit, 1).at(0)->name(), plans.front()->name());
      const auto again = engine->plan(which, plans.back()->name());
      ASSERT_TRUE(again) << layer.key() << ": a snapshot's choice, " << plans.back()->name() << ", isn't found";
      EXPECT_EQ(again->workspace_bytes(), plans.back()->workspace_bytes());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Gpus, CudaPlansTest,
                         testing::Combine(testing::ValuesIn(gpus),
                                          testing::Values(Precision::fp32, Precision::tf32, Precision::bf16)),
                         [](const auto& info) {
                           return std::get<Gpu>(info.param).name + "_" +
                                  std::string(to_string(std::get<Precision>(info.param)));
                         });

TEST(CudaPlans, PropertiesThatAreNoneAreRefused) {
  EXPECT_THROW(new_convolution_engine(std::string("an H100")), Error);
}

}  // namespace
}  // namespace odori::cuda
