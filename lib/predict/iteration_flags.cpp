// SPDX-License-Identifier: Apache-2.0
#include "predict/iteration_flags.h"

#include "comm/cost.h"
#include "predict/measure.h"

namespace odori {

void add_cluster_flags(CommandLine& line, IterationFlags& flags) {
  line.add_number("--gpus-per-node", flags.gpus_per_node, 1, 1024,
                  line.say({"Devices of each node, GPUs or not", "1 ノードのデバイス数（GPU とは限らない）"}));
  line.add_option("--network", flags.network,
                  line.say({"Between nodes: bandwidth (kbit, mbit, gbit) and latency (us, ms)",
                            "ノード間の帯域幅（kbit、mbit、gbit）と遅延（us、ms）"}))
      .capture_default_str();
  line.add_option("--within", flags.within,
                  line.say({"The same between the devices of a node", "ノード内のデバイス間について同じもの"}))
      .capture_default_str();
}

void add_iteration_flags(CommandLine& line, IterationFlags& flags) {
  line.add_choice("--model", flags.model, network_names(), line.say({"The network", "ネットワーク"}));
  line.add_number("--image-size", flags.image_size, 32, 1024,
                  line.say({"Images are enlarged to this height and width, a multiple of 32",
                            "画像をこの高さと幅に拡大する（32 の倍数）"}));
  line.add_number("--batchsize", flags.batchsize, 1, 1 << 20,
                  line.say({"Images per device and iteration", "デバイスごと、反復ごとの画像の数"}));
  line.add_option("--proxy", flags.proxy,
                  line.say({"Measure this network instead, and compute the other's time from operations",
                            "代わりにこのネットワークを測り、演算数から元のネットワークの時間を計算する"}))
      .check(line.one_of(network_names()));
  line.add_option(
      "--timings", flags.timings,
      line.say({"Recorded iterations of one device, BATCH:SECONDS,BATCH:SECONDS; without it, two are measured here",
                "記録した 1 デバイスの反復の時間（バッチ:秒,バッチ:秒）。なければ、ここで 2 種類を測る"}));
  line.add_choice("--device", flags.devices.request,
                  {{"auto", DeviceRequest::automatic}, {"cpu", DeviceRequest::cpu}, {"cuda", DeviceRequest::cuda}},
                  line.say({"What is measured: auto (a GPU if there is one), cpu or cuda",
                            "測るデバイス: auto（GPU があれば GPU）、cpu、cuda のどれか"}));
  line.add_number("--threads-per-device", flags.devices.threads_per_device, 1, 1024,
                  line.say({"Threads of a CPU device", "CPU デバイスのスレッド数"}));
}

cost::Compute compute_of(const IterationFlags& flags, const NetworkSpec& network) {
  const NetworkSpec measured =
      flags.proxy.empty() ? network : create_network(flags.proxy, network.n_classes, flags.image_size);
  const auto [small, large] = flags.timings.empty()
                                  ? measure_two(measured, flags.batchsize, 4 * flags.batchsize, flags.devices)
                                  : recorded_timings(flags.timings);
  return cost::compute_of_other(cost::compute_from(small, large), cost_of(measured).operations,
                                cost_of(network).operations);
}

}  // namespace odori
