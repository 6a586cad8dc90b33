// ./odori predict: measures iterations of two batch sizes on one device, and predicts what a cluster of such does.
//
//   ./odori predict --nodes 1024 --gpus_per_node 8 --network 10gbit
#include <fmt/ranges.h>

#include <map>
#include <nlohmann/json.hpp>

#include "comm/communicator.h"
#include "errors/error.h"
#include "files/file.h"
#include "flags/command_line.h"
#include "predict/forecast.h"
#include "predict/measure.h"
#include "program/program.h"

using namespace odori;

namespace {

struct Flags {
  int nodes = 8, gpus_per_node = 1, devices_per_core = 1;
  std::string network = "10gbit,50us", within = "100gbit,5us";
  std::string model = "vgg", proxy, timings, communicator, json;
  int image_size = 32, batchsize = 32, shared_batch = 8192, images = 50000;
  DevicePoolOptions devices;
};

void add_cluster_flags(CommandLine& line, Flags& flags) {
  CLI::App& app = line.app();
  app.add_option("--nodes", flags.nodes, "Nodes of the cluster")
      ->check(line.whole_number(1, 1 << 16))
      ->capture_default_str();
  app.add_option("--gpus_per_node", flags.gpus_per_node, "Devices of each node, GPUs or not")
      ->check(line.whole_number(1, 1024))
      ->capture_default_str();
  app.add_option("--network", flags.network, "Between nodes: bandwidth (kbit, mbit, gbit) and latency (us, ms)")
      ->capture_default_str();
  app.add_option("--within", flags.within, "The same between the devices of a node")->capture_default_str();
  app.add_option(
         "--communicator", flags.communicator,
         fmt::format("How gradients travel where nodes are compared: {}; without it, pure_nccl on GPUs and flat "
                     "on CPU devices",
                     fmt::join(communicator_names(), ", ")))
      ->check(line.one_of(communicator_names()));
  app.add_option("--devices_per_core", flags.devices_per_core,
                 "So many devices of a node share a core, or a GPU: an iteration takes them so many times as long")
      ->check(line.whole_number(1, 1024))
      ->capture_default_str();
}

void add_training_flags(CommandLine& line, Flags& flags) {
  CLI::App& app = line.app();
  app.add_option("--model", flags.model, "The network")->check(line.one_of(network_names()))->capture_default_str();
  app.add_option("--image_size", flags.image_size, "Images are enlarged to this height and width, a multiple of 32")
      ->check(line.whole_number(32, 1024))
      ->capture_default_str();
  app.add_option("--batchsize", flags.batchsize, "Images per device and iteration")
      ->check(line.whole_number(1, 1 << 20))
      ->capture_default_str();
  // As many as ImageNet was trained with without loss of accuracy: P. Goyal et al., 2017.
  app.add_option("--shared_batch", flags.shared_batch, "Images of an iteration that all devices share")
      ->check(line.whole_number(1, 1 << 26))
      ->capture_default_str();
  app.add_option("--images", flags.images, "Training images of an epoch")
      ->check(line.whole_number(1, 2'000'000'000))
      ->capture_default_str();
  app.add_option("--proxy", flags.proxy, "Measure this network instead, and compute the other's time from operations")
      ->check(line.one_of(network_names()));
  app.add_option("--timings", flags.timings,
                 "Recorded iterations of one device, BATCH:SECONDS,BATCH:SECONDS; without it, two are measured here");
  static const std::map<std::string, DeviceRequest> requests{
      {"auto", DeviceRequest::automatic}, {"cpu", DeviceRequest::cpu}, {"cuda", DeviceRequest::cuda}};
  app.add_option_function<std::string>(
         "--device", [&](const std::string& name) { flags.devices.request = requests.at(name); },
         "What is measured: auto, cpu or cuda; auto takes a GPU where there is one")
      ->check(line.one_of({"auto", "cpu", "cuda"}));
  app.add_option("--threads_per_device", flags.devices.threads_per_device, "Threads of a CPU device")
      ->check(line.whole_number(1, 1024))
      ->capture_default_str();
  app.add_option("--json", flags.json, "Write all of it into this file too");
}

Flags parse_flags(int argc, char** argv) {
  Flags flags;
  CommandLine line(
      "Measures iterations of two batch sizes on one device, and predicts by arithmetic what a cluster of such devices "
      "does: the time of an iteration, images/s and efficiency, by communicator, and where more nodes stop helping.",
      "./odori predict", argc, argv);
  add_cluster_flags(line, flags);
  add_training_flags(line, flags);
  line.parse();
  if (flags.communicator.empty())
    flags.communicator = flags.devices.request != DeviceRequest::cpu && gpu_count() > 0 ? "pure_nccl" : "flat";
  return flags;
}

cost::Compute compute_of(const Flags& flags, const NetworkSpec& network) {
  const NetworkSpec measured =
      flags.proxy.empty() ? network : create_network(flags.proxy, network.n_classes, flags.image_size);
  const auto [small, large] = flags.timings.empty()
                                  ? measure_two(measured, flags.batchsize, 4 * flags.batchsize, flags.devices)
                                  : recorded_timings(flags.timings);
  cost::Compute compute = cost::compute_of_other(cost::compute_from(small, large), cost_of(measured).operations,
                                                 cost_of(network).operations);
  compute.fixed *= flags.devices_per_core, compute.per_image *= flags.devices_per_core;
  return compute;
}

}  // namespace

int main(int argc, char** argv) try {
  const Flags flags = parse_flags(argc, argv);
  const auto write_json = [&](const std::string& text) {
    try {
      if (!flags.json.empty()) write_file(flags.json, text);
    } catch (const WriteError& error) {
      fail("{} --json takes a file in a folder that you may write to.", error.what());
    }
  };
  write_json("");  // before minutes are measured for nothing
  const NetworkSpec network = create_network(flags.model, 10, flags.image_size);
  const NetworkCost cost = cost_of(network);
  Question question{.model = flags.model,
                    .training = {.gradients = {4 * cost.parameters, cost.arrays},
                                 .cluster = {flags.nodes, flags.gpus_per_node, cost::link_from(flags.within),
                                             cost::link_from(flags.network)},
                                 .communicator = flags.communicator},
                    .batch = static_cast<double>(flags.batchsize),
                    .shared_batch = static_cast<double>(flags.shared_batch),
                    .images = static_cast<double>(flags.images)};
  question.training.compute = compute_of(flags, network);
  const Forecast all = forecast(question);
  fmt::print("{}", to_text(all));
  write_json(nlohmann::json(all).dump(2) + "\n");
  return 0;
} catch (...) {
  return report_failure();
}
