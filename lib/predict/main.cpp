// SPDX-License-Identifier: Apache-2.0
// ./odori predict: measures iterations of two batch sizes on one device, and predicts what a cluster of such does.
//
//   ./odori predict --nodes 1024 --gpus-per-node 8 --network 10gbit
#include <fmt/ranges.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "comm/communicator.h"
#include "errors/error.h"
#include "files/file.h"
#include "flags/command_line.h"
#include "predict/forecast.h"
#include "predict/measure.h"
#include "program/program.h"
#include "report/page.h"

using namespace odori;

namespace {

struct Flags {
  int nodes = 8, gpus_per_node = 1, devices_per_core = 1;
  std::string network = "10gbit,50us", within = "100gbit,5us";
  std::string model = "vgg", proxy, timings, communicator, out = "out/predict", json;
  int image_size = 32, batchsize = 32, shared_batch = 8192, images = 50000;
  DevicePoolOptions devices;
};

void add_cluster_flags(CommandLine& line, Flags& flags) {
  CLI::App& app = line.app();
  app.add_option("--nodes", flags.nodes, line.say({"Nodes of the cluster", "クラスタのノード数"}))
      ->check(line.whole_number(1, 1 << 16))
      ->capture_default_str();
  app.add_option("--gpus-per-node", flags.gpus_per_node,
                 line.say({"Devices of each node, GPUs or not", "1 ノードのデバイス数（GPU とは限らない）"}))
      ->check(line.whole_number(1, 1024))
      ->capture_default_str();
  app.add_option("--network", flags.network,
                 line.say({"Between nodes: bandwidth (kbit, mbit, gbit) and latency (us, ms)",
                           "ノード間の帯域幅（kbit、mbit、gbit）と遅延（us、ms）"}))
      ->capture_default_str();
  app.add_option("--within", flags.within,
                 line.say({"The same between the devices of a node", "ノード内のデバイス間について同じもの"}))
      ->capture_default_str();
  app.add_option(
         "--communicator", flags.communicator,
         fmt::format(
             fmt::runtime(line.say({"The communicator for the comparison of nodes: {}; without it, pure_nccl on "
                                    "GPUs and flat on CPU devices",
                                    "ノード数を比べるときのコミュニケータ: {}。なければ、GPU では pure_nccl、CPU "
                                    "デバイスでは flat"})),
             fmt::join(communicator_names(), ", ")))
      ->check(line.one_of(communicator_names()));
  app.add_option("--devices-per-core", flags.devices_per_core,
                 line.say({"Devices that share one core or GPU; an iteration takes that many times longer",
                           "1 つのコアや GPU を共有するデバイスの数。反復の時間はその倍数になる"}))
      ->check(line.whole_number(1, 1024))
      ->capture_default_str();
}

void add_training_flags(CommandLine& line, Flags& flags) {
  CLI::App& app = line.app();
  app.add_option("--model", flags.model, line.say({"The network", "ネットワーク"}))
      ->check(line.one_of(network_names()))
      ->capture_default_str();
  app.add_option("--image-size", flags.image_size,
                 line.say({"Images are enlarged to this height and width, a multiple of 32",
                           "画像をこの高さと幅に拡大する（32 の倍数）"}))
      ->check(line.whole_number(32, 1024))
      ->capture_default_str();
  app.add_option("--batchsize", flags.batchsize,
                 line.say({"Images per device and iteration", "デバイスごと、反復ごとの画像の数"}))
      ->check(line.whole_number(1, 1 << 20))
      ->capture_default_str();
  // As many as ImageNet was trained with without loss of accuracy: P. Goyal et al., 2017.
  app.add_option("--shared-batch", flags.shared_batch,
                 line.say({"Images of an iteration that all devices share", "全デバイスで分け合う、1 反復の画像の数"}))
      ->check(line.whole_number(1, 1 << 26))
      ->capture_default_str();
  app.add_option("--images", flags.images, line.say({"Training images of an epoch", "1 エポックの学習画像の数"}))
      ->check(line.whole_number(1, 2'000'000'000))
      ->capture_default_str();
  app.add_option("--proxy", flags.proxy,
                 line.say({"Measure this network instead, and compute the other's time from operations",
                           "代わりにこのネットワークを測り、演算数から元のネットワークの時間を計算する"}))
      ->check(line.one_of(network_names()));
  app.add_option(
      "--timings", flags.timings,
      line.say({"Recorded iterations of one device, BATCH:SECONDS,BATCH:SECONDS; without it, two are measured here",
                "記録した 1 デバイスの反復の時間（バッチ:秒,バッチ:秒）。なければ、ここで 2 種類を測る"}));
  static const std::map<std::string, DeviceRequest> requests{
      {"auto", DeviceRequest::automatic}, {"cpu", DeviceRequest::cpu}, {"cuda", DeviceRequest::cuda}};
  app.add_option_function<std::string>(
         "--device", [&](const std::string& name) { flags.devices.request = requests.at(name); },
         line.say({"What is measured: auto (a GPU if there is one), cpu or cuda",
                   "測るデバイス: auto（GPU があれば GPU）、cpu、cuda のどれか"}))
      ->check(line.one_of({"auto", "cpu", "cuda"}));
  app.add_option("--threads-per-device", flags.devices.threads_per_device,
                 line.say({"Threads of a CPU device", "CPU デバイスのスレッド数"}))
      ->check(line.whole_number(1, 1024))
      ->capture_default_str();
  app.add_option("--out", flags.out,
                 line.say({"Folder for the page, report.html", "ページ report.html を書くフォルダ"}))
      ->capture_default_str();
  app.add_option("--json", flags.json,
                 line.say({"Write the result into this file as well", "結果をこのファイルにも書く"}));
}

Flags parse_flags(int argc, char** argv) {
  Flags flags;
  CommandLine line(
      Text{
          "Measures iterations of two batch sizes on one device, and predicts by arithmetic what a cluster of such "
          "devices does: the time of an iteration, images/s and efficiency, by communicator, and where more nodes stop "
          "helping.",
          "1 デバイスで 2 "
          "種類のバッチサイズの反復を測り、そのデバイスを並べたクラスタの性能を計算で予測する。反復の時間、"
          "枚/秒、効率をコミュニケータごとに示し、ノードを増やしても効果がなくなる点も示す"},
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
  const std::filesystem::path page = std::filesystem::path(flags.out) / "report.html";
  replace_file(page, to_page(all, read_chart_js()));
  fmt::print("As a page: {}\n", page.string());
  write_json(nlohmann::json(all).dump(2) + "\n");
  return 0;
} catch (...) {
  return report_failure();
}
