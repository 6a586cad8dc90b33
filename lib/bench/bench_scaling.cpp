// Two devices against one, one thread each, with a fixed batch a device.
//
//   build/bin/bench_scaling                   VGG with 32 pictures a device, then the demo's network with 64
//   build/bin/bench_scaling --model mid --rounds 3
//
// A round measures one device, the ceiling (two devices that train models of their own and never speak),
// ParallelUpdater, and two ranks under mpirun with the communicators naive and flat. A busy machine slows them all, so
// that what counts is each round's ratio to its own ceiling; the medians are printed with their spread.
#include <fmt/core.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <span>

#include "bench/flags.h"
#include "bench/measure.h"
#include "comm/communicator.h"
#include "comm/session.h"
#include "core/error.h"
#include "core/program.h"
#include "model/classifier.h"
#include "optim/momentum_sgd.h"
#include "optim/multi_node_optimizer.h"
#include "report/machine.h"
#include "train/device_team.h"
#include "train/parallel_updater.h"

using namespace odori;

namespace {

constexpr int n_devices = 2;

/// A model with its optimizer on one device, and one batch that it trains on again and again.
struct Trainee {
  Trainee(Device& device, const bench::Options& options, const Batch& pictures)
      : model(create_network(options.model, 10), options.batchsize, 0), optimizer(0.05f), batch(pictures) {
    model.to_device(device, {.measure = options.autotune});
    optimizer.setup(model);
  }
  void iterate(int times) {
    for (int i = 0; i < times; ++i) {
      model.forward_backward(batch);
      optimizer.update();
    }
    model.device().synchronize();
  }

  Classifier model;
  MomentumSGD optimizer;
  const Batch& batch;
};

/// All that is measured inside one process, in images/s.
class InOneProcess {
 public:
  explicit InOneProcess(const bench::Options& options)
      : options_(options),
        data_(std::make_shared<bench::RandomPictures>(static_cast<std::size_t>(options.batchsize))),
        batch_(data_->batch(options.batchsize)),
        pool_(options.devices) {
    for (int i = 0; i < n_devices; ++i) trainees_.push_back(std::make_unique<Trainee>(pool_.use(i), options, batch_));
    model_.to_device(pool_.use(0), {.measure = options.autotune});
    optimizer_.setup(model_);
    const std::vector<SerialIterator> iterators(n_devices, SerialIterator(data_, options.batchsize));
    updater_ = std::make_unique<ParallelUpdater>(iterators, optimizer_,
                                                 std::map<std::string, int>{{"main", 0}, {"other", 1}}, pool_);
    ceiling(2), parallel(2);  // compiles kernels
  }

  double one(int iterations) {
    return rate(1, iterations, [&] { trainees_[0]->iterate(iterations); });
  }
  double ceiling(int iterations) {
    DeviceTeam team({&pool_.device(0), &pool_.device(1)});
    return rate(n_devices, iterations, [&] { team.run([&](std::size_t i) { trainees_[i]->iterate(iterations); }); });
  }
  double parallel(int iterations) {
    return rate(n_devices, iterations, [&] {
      for (int i = 0; i < iterations; ++i) updater_->update();
    });
  }

 private:
  template <typename Work>
  double rate(int devices, int iterations, const Work& work) {
    pool_.use(0);
    return devices * options_.batchsize * iterations / bench::seconds_of(work);
  }

  const bench::Options& options_;
  std::shared_ptr<const bench::RandomPictures> data_;
  Batch batch_;
  DevicePool pool_;
  std::vector<std::unique_ptr<Trainee>> trainees_;
  Classifier model_{create_network(options_.model, 10), options_.batchsize, 0};
  MomentumSGD optimizer_{0.05f};
  std::unique_ptr<ParallelUpdater> updater_;
};

/// What a rank does under mpirun: rank 0 prints the images/s of all ranks.
int run_rank(int argc, char** argv, const bench::Options& options) {
  const MpiSession mpi(argc, argv);
  const auto comm = create_communicator(options.rank_of);
  DevicePool pool(options.devices);
  const bench::RandomPictures data(static_cast<std::size_t>(options.batchsize));
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
      " --allow-run-as-root --oversubscribe --bind-to none -np {} '{}' --rank_of {} --model {} --batchsize {} "
      "--iterations {} --threads {}{}",
      n_devices, std::filesystem::read_symlink("/proc/self/exe").string(), communicator, options.model,
      options.batchsize, options.iterations, options.devices.threads_per_device, options.autotune ? " --autotune" : "");
  FILE* output = popen(command.c_str(), "r");
  double rate = 0;
  const bool read = output && std::fscanf(output, "%lf", &rate) == 1;
  require(output && pclose(output) == 0 && read, "The two ranks gave no result. Their command was:\n{}", command);
  return rate;
}

void print_row(const char* what, const std::vector<double>& values) {
  const bench::Spread s = bench::spread_of(values);
  fmt::print("  {:<42} {:8.3f}   {:8.3f} .. {:.3f}\n", what, s.median, s.min, s.max);
}

void compare(const bench::Options& options) {
  fmt::print("{}, batch {} a device, {} thread(s) a device, {} rounds of {} iterations\n", options.model,
             options.batchsize, options.devices.threads_per_device, options.rounds, options.iterations);
  InOneProcess process(options);
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
