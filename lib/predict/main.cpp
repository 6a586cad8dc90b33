// SPDX-License-Identifier: Apache-2.0
// ./odori predict: measures iterations of two batch sizes on one device, and predicts what a cluster of such does.
//
//   ./odori predict --nodes 1024 --gpus-per-node 8 --network 10gbit
#include <fmt/ranges.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "comm/communicator.h"
#include "errors/error.h"
#include "files/file.h"
#include "files/json.h"
#include "predict/forecast.h"
#include "predict/iteration_flags.h"
#include "program/program.h"
#include "report/html.h"

using namespace odori;

namespace {

struct Flags : IterationFlags {
  int nodes = 8, devices_per_core = 1, shared_batch = 8192, images = 50000;
  std::string communicator, out = "out/predict", json;
  cost::State state = cost::fp32_adam;
};

void add_flags(CommandLine& line, Flags& flags) {
  line.add_number("--nodes", flags.nodes, 1, 1 << 16, line.say({"Nodes of the cluster", "クラスタのノード数"}));
  line.add_option(
          "--communicator", flags.communicator,
          fmt::format(
              fmt::runtime(line.say({"The communicator for the comparison of nodes: {}; without it, pure_nccl on "
                                     "GPUs and flat on CPU devices",
                                     "ノード数を比べるときのコミュニケータ: {}。なければ、GPU では pure_nccl、CPU "
                                     "デバイスでは flat"})),
              fmt::join(communicator_names(), ", ")))
      .check(line.one_of(communicator_names()));
  line.add_number("--devices-per-core", flags.devices_per_core, 1, 1024,
                  line.say({"Devices that share one core or GPU; an iteration takes that many times longer",
                            "1 つのコアや GPU を共有するデバイスの数。反復の時間はその倍数になる"}));
  // As many as ImageNet was trained with without loss of accuracy: P. Goyal et al., 2017.
  line.add_number(
      "--shared-batch", flags.shared_batch, 1, 1 << 26,
      line.say({"Images of an iteration that all devices share", "全デバイスで分け合う、1 反復の画像の数"}));
  line.add_number("--images", flags.images, 1, 2'000'000'000,
                  line.say({"Training images of an epoch", "1 エポックの学習画像の数"}));
  line.add_choice(
      "--state", flags.state, {{"fp32", cost::fp32_adam}, {"mixed", cost::mixed_adam}},
      line.say({"Of each parameter, for the memory of a device: fp32 (4 bytes, as many of the gradient, Adam's two "
                "moments) or mixed (2 + 2 bytes, fp32 copy and moments)",
                "デバイスのメモリの計算で、パラメータごとに保持するもの: fp32（4 バイトと、勾配、Adam の 2 つの"
                "モーメント）か mixed（2 + 2 バイトと、fp32 のコピーとモーメント）"}));
  line.add_option("--out", flags.out,
                  line.say({"Folder for the page, report.html", "ページ report.html を書くフォルダ"}))
      .capture_default_str();
  line.add_option("--json", flags.json,
                  line.say({"Write the result into this file as well", "結果をこのファイルにも書く"}));
}

Flags parse_flags(int argc, char** argv) {
  Flags flags;
  CommandLine line(
      Text{"Measures iterations of two batch sizes on one device, and predicts by arithmetic what a cluster of such "
           "devices does: the time of an iteration, images/s and efficiency, by communicator, where more nodes stop "
           "helping, and the memory of a device with ZeRO and with tensor parallelism.",
           "1 デバイスで 2 "
           "種類のバッチサイズの反復を測り、そのデバイスを並べたクラスタの性能を計算で予測する。反復の時間、"
           "枚/秒、効率をコミュニケータごとに示し、ノードを増やしても効果がなくなる点と、ZeRO やテンソル並列での"
           "デバイスのメモリも示す"},
      "./odori predict", argc, argv);
  add_cluster_flags(line, flags);
  add_iteration_flags(line, flags);
  add_flags(line, flags);
  line.parse();
  if (flags.communicator.empty())
    flags.communicator = flags.devices.request != DeviceRequest::cpu && gpu_count() > 0 ? "pure_nccl" : "flat";
  return flags;
}

}  // namespace

int main(int argc, char** argv) try {
  const Flags flags = parse_flags(argc, argv);
  const auto write_json = [&](const std::string& text) {
    try {
      if (!flags.json.empty()) write_file(flags.json, text);
    } catch (const WriteError& error) {
      fail({"{} --json takes a file in a folder that you may write to.",
            "{}--json には、書き込めるフォルダのファイルを指定してください。"},
           error.what());
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
                    .images = static_cast<double>(flags.images),
                    .layers = cost.layers,
                    .state = flags.state};
  cost::Compute& compute = question.training.compute = compute_of(flags, network);
  compute.fixed *= flags.devices_per_core, compute.per_image *= flags.devices_per_core;
  const Forecast all = forecast(question);
  fmt::print("{}", to_text(all));
  const std::filesystem::path page = std::filesystem::path(flags.out) / "report.html";
  replace_file(page, to_page(all, read_chart_js()));
  fmt::print("{}\n", in_language({"As a page: {}", "ページ: {}"}, page.string()));
  if (const int ranks = question.training.cluster.ranks(); ranks > 1 && ranks <= 4096)
    fmt::print(
        "\n{}\n"
        "  ./odori simulate ring --ranks {} --gpus-per-node {} --network {} --within {} --model {} --image-size {} "
        "--batchsize {}{}\n",
        in_language(Text{"Your own all-reduce there, message by message:",
                         "あなたの all-reduce を、この構成でメッセージごとにシミュレートするには:"}),
        ranks, flags.gpus_per_node, flags.network, flags.within, flags.model, flags.image_size, flags.batchsize,
        flags.timings.empty() ? "" : " --timings " + flags.timings);
  write_json(json_text(nlohmann::json(all), 2) + "\n");
  return 0;
} catch (...) {
  return report_failure();
}
