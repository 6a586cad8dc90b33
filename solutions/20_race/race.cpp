// SPDX-License-Identifier: Apache-2.0
// CIFAR-10 to 94 % test accuracy on one GPU, as fast as possible: README.md.
#include <fmt/core.h>

#include <chrono>
#include <cmath>
#include <cstdio>

#include "backend/device_pool.h"
#include "data/cifar.h"
#include "errors/error.h"
#include "flags/command_line.h"
#include "program/program.h"
#include "race_images.h"
#include "race_start.h"
#include "race_training.h"

using namespace odori;

namespace {

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// One training, from initial parameters to the accuracy of the views.
race::Accuracy train_once(Classifier& model, const race::Recipe& recipe, const TrainTest& data, std::uint64_t seed) {
  const auto begin = std::chrono::steady_clock::now();
  race::Batches batches(data.train, recipe.batch, recipe.translation, seed);
  race::write_initial_values(model, *data.train, recipe, seed);
  race::Training training(model, recipe, batches.count());
  while (training.steps_done() < training.steps()) {
    race::stop_if_interrupted();
    training.step(batches.next());
    if (training.steps_done() % batches.count() != 0 && training.steps_done() != training.steps()) continue;
    const Metrics metrics = model.take_metrics();
    fmt::print("epoch {:>4.1f}: loss {:.4f}, training accuracy {:.4f}, {:.2f} s\n",
               static_cast<double>(training.steps_done()) / batches.count(), metrics.loss(), metrics.accuracy(),
               seconds_since(begin));
    std::fflush(stdout);
    if (!std::isfinite(metrics.loss()))
      throw Error("The training diverged: its loss is no finite number.", exit_code::diverged);
  }
  const race::Accuracy accuracy = race::evaluate(model, *data.test);
  fmt::print("test accuracy {:.4f}, of six views {:.4f}: {:.2f} s\n", accuracy.plain, accuracy.views,
             seconds_since(begin));
  return accuracy;
}

struct Flags {
  std::string dataset = "auto", size = "full", device = "auto", precision = "auto";
  race::Recipe recipe;
  double fraction = 1;
  GpuOptimizations optimizations;
  int runs = 1, threads = 1;
  std::uint64_t seed = 0;
};

Flags read_flags(int argc, char** argv) {
  Flags flags;
  CommandLine line("Train to 94 % test accuracy on CIFAR-10 with one GPU, as fast as possible.",
                   "build/bin/solutions/race", argc, argv);
  const auto number = [&](const char* name, auto& value, const char* help) {
    return line.add_option(name, value, help).capture_default_str();
  };
  number("--dataset", flags.dataset,
         "cifar10, synthetic, or a folder in CIFAR-10's format; auto: cifar10 if it is there");
  line.add_choice("--size", flags.size, race::sizes(), "Widths of the network; small and tiny are for CPUs");
  number("--epochs", flags.recipe.epochs, "Length of the training")
      .check(line.number<double>({"a number above 0 and up to 1000", "0 より大きく 1000 以下の数"},
                                 [](double epochs) { return epochs > 0 && epochs <= 1000; }));
  line.add_number("--batchsize", flags.recipe.batch, 2, 1 << 20, "Images of a step");
  number("--fraction", flags.fraction, "Use this part of the data, in (0, 1]")
      .check(line.number<double>({"a number above 0 and up to 1", "0 より大きく 1 以下の数"},
                                 [](double part) { return part > 0 && part <= 1; }));
  line.add_number("--runs", flags.runs, 1, 1000, "Training runs, each with the next seed; the first one also warms up");
  number("--seed", flags.seed, "Seed of everything that is random, of the first training")
      .check(line.number<std::uint64_t>({"a whole number", "整数"}, [](std::uint64_t) { return true; }));
  line.add_choice("--device", flags.device, {"auto", "cpu", "cuda"}, "auto takes a GPU if there is one");
  line.add_number("--threads-per-device", flags.threads, 1, 1024, "Threads of a CPU device");
  line.add_choice("--precision", flags.precision, {"auto", "fp32", "tf32", "bf16"},
                  "auto: bf16 on a GPU, fp32 on a CPU");
  line.add_option_function(
      "--cuda-without",
      [&](const std::string& list) {
        for (const GpuOptimization one : gpu_optimizations(list))
          flags.optimizations = flags.optimizations.without(one);
      },
      "GPU optimizations to turn off, joined by commas, or all, as bench_vgg has it");
  line.parse();
  if (line.has("--cuda-without") && flags.device != "cuda")
    throw UsageError("--cuda-without is of GPU optimizations: it needs --device cuda.");
  return flags;
}

DevicePoolOptions devices_of(const Flags& flags) {
  DevicePoolOptions options;
  if (flags.device == "cpu") options.request = DeviceRequest::cpu;
  if (flags.device == "cuda") options.request = DeviceRequest::cuda;
  options.threads_per_device = flags.threads;
  options.optimizations = flags.optimizations;
  if (flags.precision == "fp32") options.precision = Precision::fp32;
  if (flags.precision == "tf32") options.precision = Precision::tf32;
  if (flags.precision == "bf16" || (flags.precision == "auto" && DevicePool(options).kind() == DeviceKind::cuda))
    options.precision = Precision::bf16;
  return options;
}

}  // namespace

int main(int argc, char** argv) try {
  const Flags flags = read_flags(argc, argv);
  catch_interrupts();
  DevicePool pool(devices_of(flags));
  Device& device = pool.use(0);
  const TrainTest data = load_cifar(resolve_dataset(flags.dataset), {.fraction = flags.fraction});
  require(data.train->n_classes() == 10,
          "The race needs ten classes, but this data set has {}. Give --dataset cifar10.", data.train->n_classes());
  fmt::print("{}, {} training images\n", device.description(), data.train->size());

  const auto model = race::new_model(flags.size, flags.recipe, *data.train, device);
  double plain = 0, views = 0;
  for (int i = 0; i < flags.runs; ++i) {
    if (flags.runs > 1) fmt::print("run {} of {}\n", i + 1, flags.runs);
    const auto accuracy = train_once(*model, flags.recipe, data, flags.seed + static_cast<std::uint64_t>(i));
    plain += accuracy.plain / flags.runs, views += accuracy.views / flags.runs;
  }
  if (flags.runs > 1) fmt::print("mean test accuracy {:.4f}, of six views {:.4f}\n", plain, views);
  return 0;
} catch (...) {
  return report_failure();
}
