// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <memory>
#include <optional>

#include "backend/device_pool.h"
#include "data/cifar.h"
#include "data/random_images.h"
#include "distributed/multi_node_evaluator.h"
#include "distributed/multi_node_optimizer.h"
#include "distributed/scatter.h"
#include "distributed/snapshot.h"
#include "errors/error.h"
#include "model/classifier.h"
#include "observe/hooks.h"
#include "optim/momentum_sgd.h"
#include "optim/weight_decay.h"
#include "overlap_support.h"
#include "recorded_strategy.h"
#include "report/table.h"
#include "trace/trace.h"
#include "train/log_report.h"
#include "train/print_report.h"
#include "train/progress_bar.h"
#include "train/standard_updater.h"
#include "train/throughput.h"
#include "train/trainer.h"

namespace odori {
namespace {

DevicePoolOptions on_cpu(DevicePoolOptions devices) {
  if (devices.request == DeviceRequest::automatic) devices.request = DeviceRequest::cpu;
  return devices;
}

/// One rank's model, optimizer and updater, with a learner's strategy.
struct Training {
  Training(const NamedStrategy& named, const Arguments& args, float rate, SerialIterator iterator, Communicator& comm)
      : pool(on_cpu(args.devices)),
        model(create_network(args.model, iterator.dataset()->n_classes(), args.image_size), args.batchsize,
              args.seed + static_cast<std::uint64_t>(comm.rank()), static_cast<std::uint32_t>(comm.rank())) {
    model.to_device(pool.use(comm.intra_rank()), args.autotune);
    auto recorded = std::make_unique<RecordedStrategy>(named.strategy, named.name);
    exposed = recorded.get();
    optimizer =
        create_multi_node_optimizer_with_strategy(std::make_unique<MomentumSGD>(rate), comm, std::move(recorded));
    optimizer->setup(model);
    optimizer->add_hook(std::make_unique<WeightDecay>(5e-4f));
    updater.emplace(std::move(iterator), *optimizer);
  }

  DevicePool pool;
  Classifier model;
  RecordedStrategy* exposed;
  std::unique_ptr<Optimizer> optimizer;
  std::optional<StandardUpdater> updater;
};

/// Seconds of an iteration, and those of it in which only the exchange went on.
struct Times {
  double iteration = 0, exposed = 0;
  double share() const { return iteration > 0 ? exposed / iteration : 0; }
};

/// The fastest iteration: the one that other work on the machine disturbed least.
Times fastest_iteration(Training& training, int iterations) {
  std::optional<Times> fastest;
  for (int i = -2; i < iterations; ++i) {  // the first two set up
    training.exposed->take_exposed_seconds();
    const auto begin = std::chrono::steady_clock::now();
    training.updater->update();
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
    const Times times{taken.count(), training.exposed->take_exposed_seconds()};
    if (i >= 0 && (!fastest || times.iteration < fastest->iteration)) fastest = times;
  }
  return *fastest;
}

/// "half precision" -> "half-precision"
std::string as_flag(std::string name) {
  std::ranges::replace(name, ' ', '-');
  return name;
}

}  // namespace

void measure_strategies(const std::vector<NamedStrategy>& strategies, const Arguments& args, int iterations,
                        Communicator& comm) {
  if (iterations == 0) return;
  if (comm.rank() == 0) {
    fmt::print("Measuring {} iterations of each of {} strategies, {} images a rank ...\n", iterations,
               strategies.size(), args.batchsize);
    std::fflush(stdout);
  }
  const auto images = std::make_shared<RandomImages>(static_cast<std::size_t>(args.batchsize), args.image_size);
  std::vector<TableRow> rows;
  std::vector<float> shares;
  for (const NamedStrategy& named : strategies) {
    Training training(named, args, 1e-3f, {images, args.batchsize, {.shuffle = false}}, comm);
    const Times times = fastest_iteration(training, iterations);
    shares.push_back(static_cast<float>(times.share()));
    const auto bar = static_cast<std::size_t>(std::lround(40 * times.share()));
    rows.push_back({named.name, fmt::format("{:.2f}", 1e3 * times.iteration),
                    fmt::format("{:.2f}", 1e3 * times.exposed), fmt::format("{:.0f} %", 100 * times.share()),
                    std::string(bar, '#')});
  }
  observe::on_values(shares);
  if (comm.rank() != 0) return;
  const std::string link = comm.link();
  fmt::print(
      "The fastest of {} iterations, {} images a rank, {}:\n{}", iterations, args.batchsize,
      link.empty() ? "without a simulated link (--link 1gbit,50us shows more)" : "over a simulated link of " + link,
      text_table({"exchange", "ms", "ms exposed", "exposed", ""}, rows));
}

void train_with_strategy(const std::vector<NamedStrategy>& strategies, const std::string& name, const Arguments& args,
                         Communicator& comm) {
  const auto named =
      std::ranges::find_if(strategies, [&](const NamedStrategy& one) { return as_flag(one.name) == name; });
  if (named == strategies.end()) throw UsageError(fmt::format("There is no strategy \"{}\".", name));
  const int rank = comm.rank();
  const trace::File trace(args.trace, rank, comm.size());
  TrainTest whole;
  if (rank == 0) whole = load_cifar(args.dataset, {args.image_size, args.fraction, args.augment});
  const ScatterOptions options{.shuffle = true, .seed = args.seed};
  const DatasetPtr train = scatter_dataset(whole.train, comm, options);
  const DatasetPtr test = scatter_dataset(whole.test, comm, options);
  const auto stream = static_cast<std::uint32_t>(rank);
  SerialIterator train_iter(train, args.batchsize, {.seed = args.seed, .stream = stream});
  SerialIterator test_iter(test, args.batchsize, {.repeat = false, .shuffle = false});

  Training training(*named, args, args.learnrate, train_iter, comm);
  Trainer trainer(*training.updater, args.epoch, args.out, args.keep_going);
  trainer.extend(
      create_multi_node_evaluator(std::make_unique<Evaluator>(test_iter, training.model, comm.intra_rank()), comm));
  if (!args.no_snapshot) trainer.extend(Snapshot(comm, args.keep));
  if (rank == 0) {
    trainer.extend(LogReport());
    trainer.extend(PrintReport(
        {"epoch", "main/loss", "validation/main/loss", "main/accuracy", "validation/main/accuracy", "elapsed_time"}));
    trainer.extend(ProgressBar());
  }
  if (!args.resume.empty()) resume(args.resume, trainer, &comm);
  trainer.run();
  if (rank == 0) report_throughput(trainer, whole.train->size() * static_cast<std::size_t>(args.epoch));
}

}  // namespace odori
