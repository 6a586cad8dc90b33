// SPDX-License-Identifier: Apache-2.0
#include "bench/flags.h"

#include <fmt/ranges.h>

#include <map>
#include <sstream>

#include "comm/communicator.h"
#include "errors/error.h"
#include "flags/command_line.h"

namespace odori::bench {

namespace {

const std::map<std::string, Precision> precisions{
    {"fp32", Precision::fp32}, {"tf32", Precision::tf32}, {"bf16", Precision::bf16}};

void add_device_flags(CommandLine& line, Options& options) {
  CLI::App& app = line.app();
  static const std::map<std::string, DeviceRequest> requests{{"cpu", DeviceRequest::cpu},
                                                             {"cuda", DeviceRequest::cuda}};
  app.add_option_function<std::string>(
         "--device", [&](const std::string& name) { options.devices.request = requests.at(name); }, "cpu or cuda")
      ->check(line.one_of({"cpu", "cuda"}));
  app.add_option_function<std::string>(
         "--precision", [&](const std::string& name) { options.devices.precision = precisions.at(name); },
         "fp32, tf32 or bf16; without it, tf32 on GPUs and fp32 on CPU devices")
      ->check(line.one_of({"fp32", "tf32", "bf16"}));
}

/// "fused-update,step-graph", or "all".
std::vector<GpuOptimization> optimizations(const std::string& list) {
  std::vector<GpuOptimization> found;
  std::istringstream names(list == "all" ? fmt::format("{}", fmt::join(gpu_optimization_names, ",")) : list);
  for (std::string name; std::getline(names, name, ',');) {
    const auto one = gpu_optimization(name);
    if (!one)
      throw UsageError(fmt::format("There is no GPU optimization \"{}\". There are: {}; or give \"all\".", name,
                                   fmt::join(gpu_optimization_names, ", ")));
    found.push_back(*one);
  }
  return found;
}

void add_optimization_flags(CommandLine& line, Options& options) {
  CLI::App& app = line.app();
  app.add_option_function<std::string>(
      "--cuda-without",
      [&](const std::string& list) {
        for (const GpuOptimization one : optimizations(list))
          options.devices.optimizations = options.devices.optimizations.without(one);
      },
      fmt::format("GPU optimizations to turn off, joined by commas, or all: {}",
                  fmt::join(gpu_optimization_names, ", ")));
  app.add_option_function<std::string>(
      "--compare-without", [&](const std::string& list) { options.compare_without = optimizations(list); },
      "GPU optimizations: rounds without each of them in turn with rounds with all, and the ratios");
  app.add_option("--json", options.json, "Write the rates of all rounds to this file");
}

void add_training_flags(CommandLine& line, Options& options) {
  CLI::App& app = line.app();
  app.add_option("--batchsize", options.batchsize, "Images per device and iteration")
      ->check(line.whole_number(1, 1 << 20));
  app.add_option("--threads", options.devices.threads_per_device, "Threads of a CPU device")
      ->check(line.whole_number(1, 1024))
      ->capture_default_str();
}

}  // namespace

Options parse(int argc, char** argv, Benchmark benchmark, const std::string& about, Options options) {
  CommandLine line(about, argv[0], argc, argv);
  CLI::App& app = line.app();
  app.add_option("--model", options.model, "The network: vgg or mid")->check(line.one_of({"vgg", "mid"}));
  app.add_option("--iterations", options.iterations, "Iterations per round")->check(line.whole_number(1, 1 << 20));
  app.add_option("--rounds", options.rounds, "Rounds; their median is what counts")
      ->check(line.whole_number(1, 1000))
      ->capture_default_str();
  if (benchmark != Benchmark::allreduce) add_training_flags(line, options);
  if (benchmark == Benchmark::scaling || benchmark == Benchmark::vgg)
    app.add_flag("--autotune", options.autotune, "Measure which convolution algorithm is the fastest, at set-up");
  if (benchmark == Benchmark::vgg || benchmark == Benchmark::allreduce) add_device_flags(line, options);
  if (benchmark == Benchmark::scaling) app.add_option("--rank-of", options.rank_of)->group("");  // hidden
  if (benchmark == Benchmark::vgg) {
    app.add_option_function<std::string>(
           "--beside", [&](const std::string& name) { options.beside = precisions.at(name); },
           "Another precision: rounds of both in turn, and their ratio")
        ->check(line.one_of({"fp32", "tf32", "bf16"}));
    add_optimization_flags(line, options);
    app.add_option("--image-size", options.image_size, "Images are enlarged to this height and width")
        ->check(line.whole_number(32, 1024));
    app.add_option("--peak-tflops", options.peak_tflops, "What the device could do, in 10^12 operations a second");
  }
  if (benchmark == Benchmark::allreduce) {
    app.add_option("--communicator", options.communicator,
                   fmt::format("One, or several joined by commas: {}", fmt::join(communicator_names(), ", ")))
        ->capture_default_str();
    app.add_flag("--beside-mpi", options.beside_mpi,
                 "MPI_Allreduce itself in the same rounds, and each communicator's ratio to it");
    app.add_flag("--share-devices", options.devices.share_devices, "Let several ranks share one GPU");
  }
  line.parse();
  return options;
}

}  // namespace odori::bench
