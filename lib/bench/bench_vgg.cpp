// SPDX-License-Identifier: Apache-2.0
// How quick one device trains, how much memory it takes, and what an iteration allocates.
//
//   build/bin/bench_vgg --batchsize 64 --threads 1
//   build/bin/bench_vgg --precision bf16 --compare-precision fp32
//   build/bin/bench_vgg --device cuda --precision bf16 --batchsize 512 --iterations 50
//   build/bin/bench_vgg --device cuda --precision bf16 --compare-without all
//
//   vgg 32x32, batch 64, CPU device 0 (1 thread): 121.0 images/s (median of 9 rounds of 4; 119.2 .. 121.9), 0.23
//   TFLOP/s peak memory 504 MB; an iteration allocates 3994912 bytes in 2761 calls, the largest 623040, and keeps 0
#include <fmt/ranges.h>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "backend/device_pool.h"
#include "backend/gpu_plugin.h"
#include "bench/allocations.h"
#include "bench/flags.h"
#include "bench/measure.h"
#include "errors/error.h"
#include "files/json.h"
#include "model/classifier.h"
#include "optim/momentum_sgd.h"
#include "optim/weight_decay.h"
#include "program/program.h"

using namespace odori;

namespace {

/// A model that trains on one batch again and again.
struct Trainee {
  Trainee(const bench::Options& options, const DevicePoolOptions& devices, const Batch& images,
          std::optional<GpuOptimization> without = {})
      : off(without),
        pool(devices),
        model(create_network(options.model, 10, options.image_size), options.batchsize, 0),
        optimizer(0.05f),
        batch(images) {
    batch.transform.image_size = options.image_size;
    model.to_device(pool.use(0), {.measure = options.autotune});
    optimizer.setup(model);
    optimizer.add_hook(std::make_unique<WeightDecay>(5e-4f));
    iterate(5);  // compiles kernels; on a GPU, records the step
    if (model.device().kind() == DeviceKind::cuda) gpu_memory = gpu_plugin()->peak_memory(model.device());
  }
  void iterate(int times) {
    for (int i = 0; i < times; ++i) {
      model.forward_backward(batch);
      optimizer.update();
    }
    model.device().synchronize();
  }

  std::optional<GpuOptimization> off;  // what the flags leave on, and this one does without
  DevicePool pool;
  Classifier model;
  MomentumSGD optimizer;
  Batch batch;
  std::vector<double> rates;
  std::optional<std::size_t> gpu_memory;  // the peak so far, of this trainee and those before it
};

/// ", without fused-update", or empty.
std::string setting_of(const Trainee& trainee) {
  return trainee.off ? fmt::format(", without {}", to_string(*trainee.off)) : "";
}

void print_rate(const bench::Options& options, const Trainee& trainee) {
  const Classifier& model = trainee.model;
  const bench::Spread rate = bench::spread_of(trainee.rates);
  const double tflops = rate.median * cost_of(model.network()).operations / 1e12;
  fmt::print(
      "{} {}x{}, batch {}, {}, {}{}: {:.1f} images/s (median of {} rounds of {}; {:.1f} .. {:.1f}), {:.2f} TFLOP/s",
      options.model, options.image_size, options.image_size, options.batchsize, model.device().description(),
      to_string(model.device().precision()), setting_of(trainee), rate.median, options.rounds, options.iterations,
      rate.min, rate.max, tflops);
  if (options.peak_tflops > 0)
    fmt::print(", {:.1f} % of {:.0f} TFLOP/s", 100 * tflops / options.peak_tflops, options.peak_tflops);
  fmt::print("\n");
}

/// Emulated GPUs are slow in ways of their own: their rates compare nothing.
bool is_emulated(const Trainee& trainee) {
  return trainee.model.device().description().find("(Emulated GPU)") != std::string::npos;
}

/// Of the rates of each round.
bench::Spread ratio(const Trainee& first, const Trainee& other) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < first.rates.size(); ++i) ratios.push_back(first.rates[i] / other.rates[i]);
  return bench::spread_of(ratios);
}

/// Why rounds without it would be no different; empty if they can be.
std::string why_not(GpuOptimization one, const Trainee& trainee) {
  if (!gpu_plugin()->optimizations(trainee.model.device()).has(one)) return "not possible on this GPU with this driver";
  const std::map<GpuOptimization, std::string> fused{{GpuOptimization::fused_gelu, "+ gelu"},
                                                     {GpuOptimization::fused_dropout, "+ dropout"}};
  const auto words = fused.find(one);
  if (words == fused.end()) return {};
  const std::vector<std::string> lines = trainee.model.graph().describe();
  const bool used = std::ranges::any_of(
      lines, [&](const std::string& line) { return line.find(words->second) != std::string::npos; });
  return used ? "" : "not used by this network";
}

/// An optimization that can't be compared, and why.
struct Uncompared {
  GpuOptimization one;
  std::string why;
};

/// The setting of the flags first; then what is measured in turn with it.
std::deque<Trainee> trainees_of(const bench::Options& options, const Batch& batch,
                                std::vector<Uncompared>& uncompared) {
  std::deque<Trainee> trainees;
  trainees.emplace_back(options, options.devices, batch);
  if (options.compare_precision) {
    DevicePoolOptions devices = options.devices;
    devices.precision = options.compare_precision;
    trainees.emplace_back(options, devices, batch);
  }
  for (const GpuOptimization one : options.compare_without) {
    if (std::string why = why_not(one, trainees.front()); !why.empty()) {
      uncompared.push_back({one, std::move(why)});
      continue;
    }
    DevicePoolOptions devices = options.devices;
    devices.optimizations = devices.optimizations.without(one);
    trainees.emplace_back(options, devices, batch, one);
  }
  return trainees;
}

[[noreturn]] void refuse_json(const std::string& path) {
  fail("{} can't be written. Give --json a file in a folder that exists, and that you may write to.", path);
}

/// Fails at once if write_json() would. Changes no file, and leaves no new one.
void check_json(const std::filesystem::path& path) {
  std::error_code error;
  const bool is_new = !std::filesystem::exists(path, error);
  if (!std::ofstream(path, std::ios::app)) refuse_json(path);
  if (is_new) std::filesystem::remove(path, error);
}

void write_json(const bench::Options& options, const std::deque<Trainee>& trainees,
                const std::vector<Uncompared>& uncompared) {
  nlohmann::json all = nlohmann::json::array();
  for (const Trainee& trainee : trainees) {
    all.push_back({{"without", trainee.off ? std::string(to_string(*trainee.off)) : ""},
                   {"precision", to_string(trainee.model.device().precision())},
                   {"batchsize", options.batchsize},
                   {"images_per_second", trainee.rates}});
    if (!is_emulated(trainee)) all.back()["speedup_of_the_first"] = ratio(trainees.front(), trainee).median;
  }
  for (const auto& [one, why] : uncompared) all.push_back({{"without", to_string(one)}, {"not_compared", why}});
  std::ofstream file(options.json);
  file << json_text(all, 2) << std::endl;
  if (!file) refuse_json(options.json);
}

}  // namespace

int main(int argc, char** argv) try {
  const bench::Options options =
      bench::parse(argc, argv, bench::Benchmark::vgg, "Training speed of one device, its memory and its allocations.",
                   {.model = "vgg", .batchsize = 64, .iterations = 4});
  if (!options.json.empty()) check_json(options.json);
  const bench::RandomImages images(static_cast<std::size_t>(options.batchsize));
  const Batch batch = images.batch(options.batchsize);
  std::vector<Uncompared> uncompared;
  std::deque<Trainee> trainees = trainees_of(options, batch, uncompared);
  bench::count_allocations();
  trainees.front().iterate(1);
  const bench::Allocations allocated = bench::allocations();
  for (int round = 0; round < options.rounds; ++round)
    for (Trainee& each : trainees)
      each.rates.push_back(options.batchsize * options.iterations /
                           bench::seconds_of([&] { each.iterate(options.iterations); }));
  const bool emulated = is_emulated(trainees.front());
  std::vector<std::string> speedups;
  for (const Trainee& each : trainees) {
    print_rate(options, each);
    if (emulated || &each == &trainees.front()) continue;
    const bench::Spread faster = ratio(trainees.front(), each);
    fmt::print("ratio {:.{}f} (median of the rounds; {:.2f} .. {:.2f})\n", faster.median, each.off ? 3 : 2, faster.min,
               faster.max);
    if (each.off) speedups.push_back(fmt::format("{} {:.3f}", to_string(*each.off), faster.median));
  }
  for (const auto& [one, why] : uncompared) speedups.push_back(fmt::format("{} ({})", to_string(one), why));
  if (!speedups.empty()) fmt::print("{} {}\n", emulated ? "Not compared:" : "Speedup by", fmt::join(speedups, ", "));
  if (emulated && trainees.size() > 1)
    fmt::print("No ratios: the GPU is emulated, and its times say nothing about a card.\n");
  const auto on_gpu = trainees.front().gpu_memory;
  fmt::print("peak memory {:.0f} MB{}; an iteration allocates {} bytes in {} calls, the largest {}, and keeps {}\n",
             on_gpu ? static_cast<double>(*on_gpu) / 1e6 : bench::peak_memory_mb(),
             on_gpu ? " of the GPU, without what CUDA's libraries hold" : "", allocated.bytes, allocated.calls,
             allocated.largest, allocated.kept);
  if (!options.json.empty()) write_json(options, trainees, uncompared);
  return 0;
} catch (...) {
  return report_failure();
}
