// SPDX-License-Identifier: Apache-2.0
#include "bench/flags.h"

#include <fmt/ranges.h>

#include <map>

#include "comm/communicator.h"
#include "errors/error.h"
#include "flags/command_line.h"

namespace odori::bench {

namespace {

const std::map<std::string, Precision> precisions{
    {"fp32", Precision::fp32}, {"tf32", Precision::tf32}, {"bf16", Precision::bf16}};

void add_device_flags(CommandLine& line, Options& options) {
  line.add_choice("--device", options.devices.request, {{"cpu", DeviceRequest::cpu}, {"cuda", DeviceRequest::cuda}},
                  "cpu or cuda");
  line.add_option_function(
          "--precision", [&](const std::string& name) { options.devices.precision = precisions.at(name); },
          "fp32, tf32 or bf16; without it, tf32 on GPUs and fp32 on CPU devices")
      .check(line.one_of({"fp32", "tf32", "bf16"}));
}

void add_optimization_flags(CommandLine& line, Options& options) {
  line.add_option_function(
      "--cuda-without",
      [&](const std::string& list) {
        for (const GpuOptimization one : gpu_optimizations(list))
          options.devices.optimizations = options.devices.optimizations.without(one);
      },
      fmt::format("GPU optimizations to turn off, joined by commas, or all: {}",
                  fmt::join(gpu_optimization_names, ", ")));
  line.add_option_function(
      "--compare-without", [&](const std::string& list) { options.compare_without = gpu_optimizations(list); },
      "GPU optimizations: rounds without each of them in turn with rounds with all, and the ratios");
  line.add_option("--json", options.json, "Write the rates of all rounds to this file");
}

void add_training_flags(CommandLine& line, Options& options) {
  line.add_option("--batchsize", options.batchsize, "Images per device and iteration")
      .check(line.whole_number(1, 1 << 20));
  line.add_number("--threads", options.devices.threads_per_device, 1, 1024, "Threads of a CPU device");
}

void check_optimizations(const CommandLine& line, const Options& options) {
  if (options.devices.request != DeviceRequest::cuda && (line.has("--cuda-without") || line.has("--compare-without")))
    throw UsageError("--cuda-without and --compare-without are of GPU optimizations: they need --device cuda.");
  for (const GpuOptimization one : options.compare_without)
    if (!options.devices.optimizations.has(one))
      throw UsageError(
          fmt::format("--cuda-without has turned off {0}, so --compare-without can't compare it. Name {0} in "
                      "one of the two.",
                      to_string(one)));
}

}  // namespace

Options parse(int argc, char** argv, Benchmark benchmark, const std::string& about, Options options) {
  CommandLine line(about, argv[0], argc, argv);
  line.add_option("--model", options.model, "The network: vgg or mid").check(line.one_of({"vgg", "mid"}));
  line.add_option("--iterations", options.iterations, "Iterations per round").check(line.whole_number(1, 1 << 20));
  line.add_number("--rounds", options.rounds, 1, 1000, "Rounds; their median is what counts");
  if (benchmark != Benchmark::allreduce) add_training_flags(line, options);
  if (benchmark == Benchmark::scaling || benchmark == Benchmark::vgg)
    line.add_flag("--autotune", options.autotune, "Measure which convolution algorithm is the fastest, at set-up");
  if (benchmark == Benchmark::vgg || benchmark == Benchmark::allreduce) add_device_flags(line, options);
  if (benchmark == Benchmark::scaling) line.add_option("--rank-of", options.rank_of).hidden();  // hidden
  if (benchmark == Benchmark::vgg) {
    line.add_option_function(
            "--compare-precision", [&](const std::string& name) { options.compare_precision = precisions.at(name); },
            "Another precision: rounds of both in turn, and their ratio")
        .check(line.one_of({"fp32", "tf32", "bf16"}));
    add_optimization_flags(line, options);
    line.add_option("--image-size", options.image_size, "Images are enlarged to this height and width")
        .check(line.whole_number(32, 1024));
    line.add_option("--peak-tflops", options.peak_tflops, "What the device could do, in 10^12 operations a second");
  }
  if (benchmark == Benchmark::allreduce) {
    line.add_option("--communicator", options.communicator,
                    fmt::format("One, or several joined by commas: {}", fmt::join(communicator_names(), ", ")))
        .capture_default_str();
    line.add_flag("--compare-mpi", options.compare_mpi,
                  "MPI_Allreduce itself in the same rounds, and each communicator's ratio to it");
    line.add_flag("--share-devices", options.devices.share_devices, "Let several ranks share one GPU");
  }
  line.parse();
  check_optimizations(line, options);
  return options;
}

}  // namespace odori::bench
