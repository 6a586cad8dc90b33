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
  line.add_option("--dataset", args.dataset,
                  "cifar10, cifar100, synthetic, or a folder with files in CIFAR's binary format; auto: cifar10 if it "
                  "is there, else synthetic")
      .capture_default_str();
  line.add_number("--epoch", args.epoch, program.least_epochs, 1000000,
                  program.least_epochs == 0 ? "How often to go through the training data; 0: don't train"
                                            : "How often to go through the training data");
  line.add_option("--learnrate", args.learnrate, "Learning rate")
      .check(line.number<float>({"a number above 0", "0 より大きい数"},
                                [](float rate) { return rate > 0 && std::isfinite(rate); }))
      .capture_default_str();
  if (program.optimizer)
    line.add_choice("--optimizer", args.optimizer, optimizer_names(),
                    fmt::format("momentum (SGD with momentum 0.9), or adam (D. Kingma and J. Ba, 2015); with adam, "
                                "--learnrate is {} unless given",
                                Adam::usual_rate));
  line.add_option("--fraction", args.fraction, "Use this part of the data, in (0, 1]")
      .check(line.number<double>({"a number above 0 and up to 1", "0 より大きく 1 以下の数"},
                                 [](double part) { return part > 0 && part <= 1; }))
      .capture_default_str();
  if (program.network) line.add_flag("--augment", args.augment, "Random crop and flip of the training images");
  line.add_option("--seed", args.seed, "Seed of everything that is random")
      .check(line.number<std::uint64_t>(
          {"a whole number from 0 to 18446744073709551615", "0 から 18446744073709551615 までの整数"},
          [](std::uint64_t) { return true; }))
      .capture_default_str();
  if (!program.network) return;
  line.add_flag("--autotune", args.autotune.measure, "Measure which convolution algorithm is the fastest, at set-up");
  line.add_flag("--show-algorithms", args.autotune.show,
                "Print each operation's algorithm, with --autotune the times that were measured");
  line.add_option("--out", args.out, "Folder for what is written").capture_default_str();
}

void add_model_flags(CommandLine& line, Arguments& args) {
  line.add_number("--batchsize", args.batchsize, 1, 1 << 20, "Images per device and iteration");
  line.add_choice("--model", args.model, network_names(),
                  fmt::format("The network: {}", fmt::join(network_names(), ", ")));
  line.add_number("--image-size", args.image_size, 32, 1024,
                  "Images are enlarged to this height and width, a multiple of 32");
}

void add_arithmetic_flags(CommandLine& line, Arguments& args) {
  line.add_choice("--precision", args.devices.precision,
                  {{"fp32", Precision::fp32}, {"tf32", Precision::tf32}, {"bf16", Precision::bf16}},
                  "fp32, tf32 (fp32 in memory, products on tensor cores) or bf16 (mixed, with fp32 weights). GPUs: "
                  "tf32 without it. "
                  "CPU devices: fp32 without it; bf16 on processors with AMX");
  line.add_number(
      "--workspace-mib", args.devices.workspace_mib, 0, 1 << 20,
      "GPUs: memory that a convolution may take in addition to its tensors, in MiB; some fast algorithms need much");
}

void add_communicator_flag(CommandLine& line, Arguments& args) {
  line.add_option("--communicator", args.communicator,
                  fmt::format("{}; without it, pure_nccl on GPUs and flat on CPU devices",
                              fmt::join(communicator_names(), ", ")))
      .check(line.one_of(communicator_names()));
}

void add_exchange_flags(CommandLine& line, Arguments& args) {
  line.add_option("--accumulate", args.accumulate,
                  "Batches of a rank that make one update: gradients are exchanged once for all of them")
      .check(line.whole_number(1, 1 << 20))
      .default_str("1");
  line.add_flag("--scale-learnrate", args.scale_learnrate,
                "Multiply --learnrate by the number of ranks, as their common batch is that many times larger");
  line.add_number(
      "--warmup-epochs", args.warmup_epochs, 0, 1000000,
      "Epochs in which the learning rate rises, update by update, from its value divided by the number of ranks");
  line.add_flag("--double-buffering", args.exchange.double_buffering,
                "CPU devices: exchange gradients while the next batch is computed; each update is one step late");
  line.add_number("--bucket-mib", args.exchange.bucket_mib, 0, 1 << 20,
                  "CPU devices: exchange gradients while backward computes others: the last layers' first MiB, then "
                  "buckets of this many MiB (25 is usual); 0: all at once, after backward");
  line.add_choice("--allreduce-dtype", args.exchange.dtype,
                  {{"fp32", Dtype::fp32}, {"fp16", Dtype::fp16}, {"bf16", Dtype::bf16}},
                  "CPU devices: number format of gradients in messages: fp32, fp16 or bf16")
      .default_str("fp32");
  line.add_number("--check-every", args.check_every, 0, 1'000'000'000,
                  "Compare the ranks' parameters every N updates, and stop if they differ; 0: never");
  line.add_flag(
      "--sharded", args.exchange.sharded,
      "CPU devices: each rank keeps the optimizer state of its shard of the parameters alone, and updates that shard");
}

void add_device_flag(CommandLine& line, Arguments& args) {
  line.add_choice("--device", args.devices.request,
                  {{"auto", DeviceRequest::automatic}, {"cpu", DeviceRequest::cpu}, {"cuda", DeviceRequest::cuda}},
                  "auto, cpu or cuda; auto takes GPUs where there are any")
      .default_str("auto");
}

void add_device_flags(CommandLine& line, Arguments& args, const Program& program) {
  if (program.several_devices) {
    line.add_number("--n-gpus", args.n_gpus, 1, 1024,
                    "Devices of this process: GPUs, or CPU devices where there are none");
    line.add_choice("--compat", args.gradient_rule, {{"chainer", GradientRule::sum}},
                    "chainer: sum the gradients and divide the learning rate by the number of devices, as the original "
                    "does; without it, the mean gradient");
  }
  if (program.communicator) add_communicator_flag(line, args);
  if (program.communicator && program.exchange) add_exchange_flags(line, args);
  line.add_number("--threads-per-device", args.devices.threads_per_device, 1, 1024, "Threads of a CPU device");
  line.add_flag("--share-devices", args.devices.share_devices, "Let several devices share one GPU");
  add_arithmetic_flags(line, args);
}

void add_flags_of_one_training(CommandLine& line, Arguments& args) {
  line.add_flag("--no-snapshot", args.no_snapshot, "Write no snapshot at the end of each epoch");
  line.add_number("--keep", args.keep, 0, 1000000,
                  "Keep this many of the newest snapshots, and remove older ones; 0: keep all");
  line.add_flag("--keep-going", args.keep_going, "Train on when the loss is nan or infinite");
  line.add_option("--resume", args.resume.path, "Continue from this snapshot: its folder, or a folder of snapshots");
  line.add_option("--trace", args.trace,
                  "Write the event stream into this folder, one file per rank; ui.perfetto.dev shows it");
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
  CommandLine line(program.about, fmt::format("./odori run {}", program.name), argc, argv);
  line.set_column_width(30);
  if (program.trains) add_training_flags(line, args, program);
  if (program.network) add_model_flags(line, args);
  for (const OwnFlag& flag : program.own) add_own_flag(line, flag);
  if (program.network || program.chooses_device) add_device_flag(line, args);
  if (program.network) add_device_flags(line, args, program);
  if (program.trains && program.network && program.one_training) add_flags_of_one_training(line, args);
  line.parse({"--solution", "--ranks", "--nodes", "--link"});  // the driver's own
  if (program.trains) args.dataset = resolve_dataset(args.dataset);
  if (line.has("--no-snapshot") && line.has("--keep"))
    throw UsageError("--no-snapshot writes no snapshots, so that --keep has none to keep. Leave one of them out.");
  args.resume.asks_for_rate = line.has("--learnrate");
  if (args.optimizer == "adam" && !line.has("--learnrate")) args.learnrate = Adam::usual_rate;
  create_network(args.model, 1, args.image_size);  // throws if this image size can't be used
  if (args.communicator.empty())
    args.communicator = args.devices.request != DeviceRequest::cpu && gpu_count() > 0 ? "pure_nccl" : "flat";
  return args;
}

}  // namespace odori
