// SPDX-License-Identifier: Apache-2.0
// Two devices against one, one thread each, with a fixed batch a device.
//
//   build/bin/bench_scaling                   VGG with 32 images a device, then the demo's network with 64
//   build/bin/bench_scaling --model mid --rounds 3
//
// A round measures one device, the ceiling (two devices that train models of their own and never speak),
// ParallelUpdater, and two ranks under mpirun with the communicators naive and flat. A busy machine slows them all, so
// that what counts is each round's ratio to its own ceiling; the medians are printed with their spread.
#include <fmt/core.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <span>

#include "bench/flags.h"
#include "bench/measure.h"
#include "bench/one_process.h"
#include "comm/communicator.h"
#include "comm/session.h"
#include "distributed/multi_node_optimizer.h"
#include "errors/error.h"
#include "model/classifier.h"
#include "optim/momentum_sgd.h"
#include "program/process.h"
#include "program/program.h"
#include "report/machine.h"

using namespace odori;

namespace {

constexpr int n_devices = 2;

/// What a rank does under mpirun: rank 0 prints the images/s of all ranks.
int run_rank(int argc, char** argv, const bench::Options& options) {
  const MpiSession mpi(argc, argv);
  const auto comm = create_communicator(options.rank_of);
  DevicePool pool(options.devices);
  const bench::RandomImages data(static_cast<std::size_t>(options.batchsize));
  const Batch batch = data.batch(options.batchsize);
  Classifier model(create_network(options.model, 10), options.batchsize, 0, static_cast<std::uint32_t>(comm->rank()));
  model.to_device(pool.use(comm->intra_rank()), {.measure = options.autotune});
  const auto optimizer = create_multi_node_optimizer(std::make_unique<MomentumSGD>(0.05f), *comm);
  optimizer->setup(model);
  const auto iterate = [&](int times) {
    for (int i = 0; i < times; ++i) {
      model.forward_backward(batch);
      optimizer->update();
    }
    comm->barrier();
  };
  iterate(2);
  const double seconds = bench::seconds_of([&] { iterate(options.iterations); });
  if (comm->rank() == 0) fmt::print("{}\n", comm->size() * options.batchsize * options.iterations / seconds);
  return 0;
}

/// Starts this program as two ranks.
double ranks(const bench::Options& options, const std::string& communicator) {
  const std::string command = fmt::format(
      ODORI_MPIRUN
      " --allow-run-as-root --oversubscribe --bind-to none -np {} '{}' --rank-of {} --model {} --batchsize {} "
      "--iterations {} --threads {}{}",
      n_devices, std::filesystem::read_symlink("/proc/self/exe").string(), communicator, options.model,
      options.batchsize, options.iterations, options.devices.threads_per_device, options.autotune ? " --autotune" : "");
  const Ended ended = run_process({.arguments = {"bash", "-c", command}}, {.time = std::chrono::minutes(10)});
  double rate = 0;
  const bool read = std::sscanf(ended.output.c_str(), "%lf", &rate) == 1;
  require(ended.code == 0 && read, "The two ranks gave no result. Their command was:\n{}\nIt said:\n{}", command,
          end_of(ended.output));
  return rate;
}

void print_row(const char* what, const std::vector<double>& values) {
  const bench::Spread s = bench::spread_of(values);
  fmt::print("  {:<42} {:8.3f}   {:8.3f} .. {:.3f}\n", what, s.median, s.min, s.max);
}

void compare(const bench::Options& options) {
  fmt::print("{}, batch {} a device, {} thread(s) a device, {} rounds of {} iterations\n", options.model,
             options.batchsize, options.devices.threads_per_device, options.rounds, options.iterations);
  bench::InOneProcess process(options.model, options.batchsize, n_devices, options.devices,
                              {.measure = options.autotune});
  struct Way {
    const char* name;
    std::function<double()> rate;
    std::vector<double> speedups, of_ceiling;
  };
  const int n = options.iterations;
  std::array<Way, 4> ways{{{"ceiling: no communication", [&] { return process.ceiling(n); }, {}, {}},
                           {"one process: ParallelUpdater", [&] { return process.parallel(n); }, {}, {}},
                           {"two ranks: naive", [&] { return ranks(options, "naive"); }, {}, {}},
                           {"two ranks: flat", [&] { return ranks(options, "flat"); }, {}, {}}}};
  std::vector<double> one;
  for (int round = 0; round < options.rounds; ++round) {
    one.push_back(process.one(n));
    double ceiling = 0;
    for (Way& way : ways) {
      const double rate = way.rate();
      if (ceiling == 0) ceiling = rate;
      way.speedups.push_back(rate / one.back());
      way.of_ceiling.push_back(rate / ceiling);
    }
  }
  fmt::print("  {:<42} {:>8}   {:>8}\n", "", "median", "min .. max");
  print_row("one device, images/s", one);
  for (const Way& way : ways) print_row(fmt::format("{}, speedup", way.name).c_str(), way.speedups);
  for (const Way& way : std::span(ways).subspan(1))
    print_row(fmt::format("{}, of the ceiling", way.name).c_str(), way.of_ceiling);
}

}  // namespace

int main(int argc, char** argv) try {
  const bench::Options given = bench::parse(argc, argv, bench::Benchmark::scaling,
                                            "Two CPU devices against one, in one process and as two ranks.", {});
  if (!given.rank_of.empty()) return run_rank(argc, argv, given);
  fmt::print("{}; {}\n", describe(this_machine()), now());
  for (const char* name : {"vgg", "mid"}) {
    if (!given.model.empty() && given.model != name) continue;
    const bool vgg = name == std::string("vgg");
    bench::Options options = given;
    options.model = name;
    if (!options.batchsize) options.batchsize = vgg ? 32 : 64;
    if (!options.iterations) options.iterations = vgg ? 8 : 40;
    compare(options);
  }
  return 0;
} catch (...) {
  return report_failure();
}
