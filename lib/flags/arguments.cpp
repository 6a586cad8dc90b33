// SPDX-License-Identifier: Apache-2.0
#include "flags/arguments.h"

#include <fmt/ranges.h>

#include <cmath>

#include "comm/communicator.h"
#include "data/cifar.h"
#include "errors/error.h"
#include "flags/command_line.h"
#include "model/networks.h"
#include "optim/adam.h"
#include "optim/optimizers.h"

namespace odori {
namespace {

void add_training_flags(CommandLine& line, Arguments& args, const Program& program) {
  line.add_option(
          "--dataset", args.dataset,
          line.say({"cifar10, cifar100, synthetic, or a folder with files in CIFAR's binary format; auto: cifar10 if "
                    "it is there, else synthetic",
                    "cifar10、cifar100、synthetic、または CIFAR のバイナリ形式のフォルダ。auto は cifar10（なければ "
                    "synthetic）"}))
      .capture_default_str();
  line.add_number("--epoch", args.epoch, program.least_epochs, 1000000,
                  line.say(program.least_epochs == 0
                               ? Text{"How often to go through the training data; 0: don't train",
                                      "学習データを何周するか。0 なら学習しない"}
                               : Text{"How often to go through the training data", "学習データを何周するか"}));
  line.add_option("--learnrate", args.learnrate, line.say({"Learning rate", "学習率"}))
      .check(line.number<float>({"a number above 0", "0 より大きい数"},
                                [](float rate) { return rate > 0 && std::isfinite(rate); }))
      .capture_default_str();
  if (program.optimizer)
    line.add_choice(
        "--optimizer", args.optimizer, optimizer_names(),
        fmt::format(
            fmt::runtime(line.say({"momentum (SGD with momentum 0.9), or adam (D. Kingma and J. Ba, 2015); with adam, "
                                   "--learnrate is {} unless given",
                                   "momentum（モーメンタム 0.9 の SGD）か adam（D. Kingma、J. Ba、2015）。adam では "
                                   "--learnrate を省くと {}"})),
            Adam::usual_rate));
  line.add_option("--fraction", args.fraction,
                  line.say({"Use this part of the data, in (0, 1]", "データのうち使う割合（0 より大きく 1 以下）"}))
      .check(line.number<double>({"a number above 0 and up to 1", "0 より大きく 1 以下の数"},
                                 [](double part) { return part > 0 && part <= 1; }))
      .capture_default_str();
  if (program.network)
    line.add_flag(
        "--augment", args.augment,
        line.say({"Random crop and flip of the training images", "学習画像をランダムに切り抜き、左右反転する"}));
  line.add_option("--seed", args.seed, line.say({"Seed of everything that is random", "すべての乱数のシード"}))
      .check(line.number<std::uint64_t>(
          {"a whole number from 0 to 18446744073709551615", "0 から 18446744073709551615 までの整数"},
          [](std::uint64_t) { return true; }))
      .capture_default_str();
  if (!program.network) return;
  line.add_flag("--autotune", args.autotune.measure,
                line.say({"Measure which convolution algorithm is the fastest, at set-up",
                          "準備のときに、最も速い畳み込みのアルゴリズムを測って選ぶ"}));
  line.add_flag("--show-algorithms", args.autotune.show,
                line.say({"Print each operation's algorithm, with --autotune the times that were measured",
                          "各演算のアルゴリズムを表示する。--autotune があれば測った時間も"}));
  line.add_option("--out", args.out, line.say({"Folder for what is written", "出力先のフォルダ"}))
      .capture_default_str();
}

void add_model_flags(CommandLine& line, Arguments& args) {
  line.add_number("--batchsize", args.batchsize, 1, 1 << 20,
                  line.say({"Images per device and iteration", "デバイスごと、反復ごとの画像の数"}));
  line.add_choice(
      "--model", args.model, network_names(),
      fmt::format(fmt::runtime(line.say({"The network: {}", "ネットワーク: {}"})), fmt::join(network_names(), ", ")));
  line.add_number("--image-size", args.image_size, 32, 1024,
                  line.say({"Images are enlarged to this height and width, a multiple of 32",
                            "画像をこの高さと幅に拡大する（32 の倍数）"}));
}

void add_arithmetic_flags(CommandLine& line, Arguments& args) {
  line.add_choice(
      "--precision", args.devices.precision,
      {{"fp32", Precision::fp32}, {"tf32", Precision::tf32}, {"bf16", Precision::bf16}},
      line.say({"fp32, tf32 (fp32 in memory, products on tensor cores) or bf16 (mixed, with fp32 weights). GPUs: "
                "tf32 without it. CPU devices: fp32 without it; bf16 on processors with AMX",
                "fp32、tf32（メモリでは fp32、積の計算は Tensor コア）、bf16（混合、重みは fp32）。省略時は GPU では "
                "tf32、CPU デバイスでは fp32。CPU の bf16 には AMX が必要"}));
  line.add_number(
      "--workspace-mib", args.devices.workspace_mib, 0, 1 << 20,
      line.say({"GPUs: memory that a convolution may take in addition to its tensors, in MiB; some fast algorithms "
                "need much",
                "GPU: 畳み込みがテンソルのほかに使ってよいメモリ（MiB）。速いアルゴリズムには多く必要なものがある"}));
}

void add_communicator_flag(CommandLine& line, Arguments& args) {
  line.add_option("--communicator", args.communicator,
                  fmt::format(fmt::runtime(line.say({"{}; without it, pure_nccl on GPUs and flat on CPU devices",
                                                     "{}。省略時は GPU では pure_nccl、CPU デバイスでは flat"})),
                              fmt::join(communicator_names(), ", ")))
      .check(line.one_of(communicator_names()));
}

void add_exchange_flags(CommandLine& line, Arguments& args) {
  line.add_option("--accumulate", args.accumulate,
                  line.say({"Batches of a rank that make one update: gradients are exchanged once for all of them",
                            "1 更新あたりのランクのバッチ数。勾配の通信はまとめて 1 回"}))
      .check(line.whole_number(1, 1 << 20))
      .default_str("1");
  line.add_flag(
      "--scale-learnrate", args.scale_learnrate,
      line.say({"Multiply --learnrate by the number of ranks, as their common batch is that many times larger",
                "--learnrate をランク数倍にする（全体のバッチも同じ倍率で大きくなるため）"}));
  line.add_number(
      "--warmup-epochs", args.warmup_epochs, 0, 1000000,
      line.say(
          {"Epochs in which the learning rate rises, update by update, from its value divided by the number of ranks",
           "学習率を、ランク数で割った値から更新ごとに上げていくエポック数"}));
  line.add_flag(
      "--double-buffering", args.exchange.double_buffering,
      line.say({"CPU devices: exchange gradients while the next batch is computed; each update is one step late",
                "CPU デバイス: 次のバッチの計算中に勾配を通信する。更新は 1 ステップ遅れる"}));
  line.add_number(
      "--bucket-mib", args.exchange.bucket_mib, 0, 1 << 20,
      line.say({"CPU devices: exchange gradients while backward computes others: the last layers' first MiB, then "
                "buckets of this many MiB (25 is usual); 0: all at once, after backward",
                "CPU デバイス: 逆伝播の計算中に勾配を通信する。最後の層の 1 MiB の後、この大きさ（MiB、通常 "
                "25）のバケットごとに。0 なら逆伝播の後にまとめて"}));
  line.add_choice("--allreduce-dtype", args.exchange.dtype,
                  {{"fp32", Dtype::fp32}, {"fp16", Dtype::fp16}, {"bf16", Dtype::bf16}},
                  line.say({"CPU devices: number format of gradients in messages: fp32, fp16 or bf16",
                            "CPU デバイス: メッセージの勾配の数値形式（fp32、fp16、bf16）"}))
      .default_str("fp32");
  line.add_number("--check-every", args.check_every, 0, 1'000'000'000,
                  line.say({"Compare the ranks' parameters every N updates, and stop if they differ; 0: never",
                            "N 更新ごとにランクのパラメータを比べ、違っていれば停止する。0 なら比べない"}));
  line.add_flag(
      "--sharded", args.exchange.sharded,
      line.say({"CPU devices: each rank keeps the optimizer state of its shard of the parameters alone, and updates "
                "that shard",
                "CPU デバイス: 各ランクが、自分のシャードのオプティマイザの状態だけを持ち、そのシャードを更新する"}));
}

void add_device_flag(CommandLine& line, Arguments& args) {
  line.add_choice("--device", args.devices.request,
                  {{"auto", DeviceRequest::automatic}, {"cpu", DeviceRequest::cpu}, {"cuda", DeviceRequest::cuda}},
                  line.say({"auto, cpu or cuda; auto takes GPUs where there are any",
                            "auto（GPU があれば GPU、なければ CPU デバイス）、cpu、cuda のどれか"}))
      .default_str("auto");
}

void add_device_flags(CommandLine& line, Arguments& args, const Program& program) {
  if (program.several_devices) {
    line.add_number("--n-gpus", args.n_gpus, 1, 1024,
                    line.say({"Devices of this process: GPUs, or CPU devices where there are none",
                              "このプロセスのデバイスの数（GPU、なければ CPU デバイス）"}));
    line.add_choice(
        "--compat", args.gradient_rule, {{"chainer", GradientRule::sum}},
        line.say({"chainer: sum the gradients and divide the learning rate by the number of devices, as the original "
                  "does; without it, the mean gradient",
                  "chainer: 元の講習会と同じく、勾配を合計し、学習率をデバイス数で割る。省略時は勾配の平均"}));
  }
  if (program.communicator) add_communicator_flag(line, args);
  if (program.communicator && program.exchange) add_exchange_flags(line, args);
  line.add_number("--threads-per-device", args.devices.threads_per_device, 1, 1024,
                  line.say({"Threads of a CPU device", "CPU デバイスのスレッド数"}));
  line.add_flag("--share-devices", args.devices.share_devices,
                line.say({"Let several devices share one GPU", "複数のデバイスで 1 台の GPU を共有する"}));
  add_arithmetic_flags(line, args);
}

void add_flags_of_one_training(CommandLine& line, Arguments& args) {
  line.add_flag(
      "--no-snapshot", args.no_snapshot,
      line.say({"Write no snapshot at the end of each epoch", "各エポックの終わりにスナップショットを書かない"}));
  line.add_number("--keep", args.keep, 0, 1000000,
                  line.say({"Keep this many of the newest snapshots, and remove older ones; 0: keep all",
                            "新しい方から残すスナップショットの数。古いものは削除する。0 ならすべて残す"}));
  line.add_flag("--keep-going", args.keep_going,
                line.say({"Train on when the loss is nan or infinite", "損失が nan や無限大になっても学習を続ける"}));
  line.add_option("--resume", args.resume.path,
                  line.say({"Continue from this snapshot: its folder, or a folder of snapshots",
                            "このスナップショットから再開する（そのフォルダか、それを含むフォルダ）"}));
  line.add_option(
      "--trace", args.trace,
      line.say({"Write the event stream into this folder, one file per rank; ui.perfetto.dev shows it",
                "イベント列をこのフォルダに書く（ランクごとに 1 ファイル）。ui.perfetto.dev で表示できる"}));
}

void add_own_flag(CommandLine& line, const OwnFlag& flag) {
  if (int* const* number = std::get_if<int*>(&flag.value))
    line.add_number(flag.name, **number, flag.least, flag.most, flag.help);
  else if (const OneOf* choice = std::get_if<OneOf>(&flag.value))
    line.add_choice(flag.name, *choice->value, choice->names, flag.help);
  else
    line.add_option(flag.name, *std::get<std::string*>(flag.value), flag.help).capture_default_str();
}

}  // namespace

Arguments parse_arguments(int argc, char** argv, const Program& program) {
  Arguments args;
  args.out = fmt::format("out/{}", program.name);
  args.learnrate = program.learnrate;
  CommandLine line(Text{program.about, fmt::format("{} の学習プログラム", program.name)},
                   fmt::format("./odori run {}", program.name), argc, argv);
  line.set_column_width(30);
  if (program.trains) add_training_flags(line, args, program);
  if (program.network) add_model_flags(line, args);
  if (program.network || program.chooses_device) add_device_flag(line, args);
  if (program.network) add_device_flags(line, args, program);
  if (program.trains && program.network && program.one_training) add_flags_of_one_training(line, args);
  if (!program.own.empty()) line.begin_group({"This program's own flags", "このプログラム独自のフラグ（説明は英語）"});
  for (const OwnFlag& flag : program.own) add_own_flag(line, flag);
  line.parse({"--solution", "--ranks", "--nodes", "--link"});  // the driver's own
  if (program.trains) args.dataset = resolve_dataset(args.dataset);
  if (line.has("--no-snapshot") && line.has("--keep"))
    throw UsageError(Text{
        "--no-snapshot writes no snapshots, so that --keep has none to keep. Leave one of them out.",
        "--no-snapshot はスナップショットを書かないので、--keep で残すものがありません。どちらかを外してください。"});
  args.resume.asks_for_rate = line.has("--learnrate");
  if (args.optimizer == "adam" && !line.has("--learnrate")) args.learnrate = Adam::usual_rate;
  create_network(args.model, 1, args.image_size);  // throws if this image size can't be used
  if (args.communicator.empty())
    args.communicator = args.devices.request != DeviceRequest::cpu && gpu_count() > 0 ? "pure_nccl" : "flat";
  return args;
}

}  // namespace odori
