#include "distributed/multi_node_ways.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "core/error.h"
#include "data/random_images.h"
#include "distributed/trial_gradients.h"
#include "model/classifier.h"
#include "optim/momentum_sgd.h"
#include "optim/weight_decay.h"
#include "report/table.h"
#include "trace/evidence.h"

namespace odori {
namespace {

std::int64_t bytes_sent(const Communicator& comm) {
  const TrafficOfRank& traffic = comm.traffic();
  return traffic.sent_within_node.bytes + traffic.sent_to_other_nodes.bytes;
}

void write_numbers(std::span<const float> numbers) {
  evidence::write(facts::Values{static_cast<std::int64_t>(numbers.size())}, numbers);
}

/// The gradients that trial::gradient() tells of, and weights that are updated by them.
class Trial {
 public:
  Trial(Communicator& comm, const trial::Setting& setting)
      : comm_(comm),
        iterations_(setting.iterations),
        seed_(setting.seed),
        pool_({.request = DeviceRequest::cpu}),
        device_(pool_.device(0)),
        layers_(trial::layers(setting.layers)) {
    for (const auto& layer : layers_) parameters_.insert(parameters_.end(), layer.begin(), layer.end());
    size_ = parameters_.back().end;
  }

  struct Result {
    std::optional<int> wrong;  // the first iteration that is
    std::int64_t sent = 0;     // bytes
  };
  Result run(const ExchangeWay& way, int number) {
    evidence::write(facts::Event{"way", {number}});
    Buffer gradients = device_.allocate(size_);
    way.exchange.setup(device_, gradients, parameters_, GradientExchange::Arrival::when_waited);
    std::vector<float> weights(size_, 0.0f);
    each_position([&](std::size_t i) { weights[i] = trial::first_weight(i); });
    const std::int64_t before = bytes_sent(comm_);
    std::optional<int> wrong;
    for (int k = 0; k < iterations_; ++k) {
      evidence::write(facts::Event{"iteration", {k}});
      const std::vector<float> old = weights;
      if (way.exchange.iterate([&](const FinalGradients& tell) { backward(gradients, k, tell); }))
        for (std::size_t i = 0; i < size_; ++i)
          weights[i] -= trial::rate * (gradients.data()[i] + trial::decay * weights[i]);
      write_numbers(weights);
      if (!wrong && !is_right(way, k, old, weights)) wrong = k;
    }
    const std::int64_t sent = bytes_sent(comm_) - before;
    evidence::write(facts::Event{"sent", {sent}});
    return {wrong, sent};
  }

 private:
  template <typename Work>
  void each_position(Work work) const {
    for (const Range& parameter : parameters_)
      for (std::size_t i = parameter.begin; i < parameter.end; ++i) work(i);
  }

  /// Tells of a layer after the other, the last one first.
  void backward(Buffer& gradients, int k, const FinalGradients& tell) const {
    for (auto layer = layers_.rbegin(); layer != layers_.rend(); ++layer) {
      for (const Range& parameter : *layer)
        for (std::size_t i = parameter.begin; i < parameter.end; ++i)
          gradients.data()[i] = gradient(comm_.rank(), k, i);
      tell({layer->front().begin, layer->back().end});
    }
  }

  float gradient(int rank, int k, std::size_t i) const {
    return trial::gradient(seed_, rank, k, k == iterations_ - 1, i);
  }

  bool is_right(const ExchangeWay& way, int k, std::span<const float> old, std::span<const float> now) const {
    const int of = k - (way.one_late ? 1 : 0);
    bool right = true;
    each_position([&](std::size_t i) {
      double mean = 0, expected = old[i];
      for (int rank = 0; rank < comm_.size(); ++rank) mean += gradient(rank, of, i) / comm_.size();
      if (of >= 0) expected -= trial::rate * (mean + trial::decay * old[i]);
      right &= std::abs(now[i] - expected) <= 2e-3 * (1 + std::abs(expected));  // half precision rounds
    });
    return right;
  }

  Communicator& comm_;
  int iterations_;
  std::uint64_t seed_;
  DevicePool pool_;
  Device& device_;
  std::vector<std::vector<Range>> layers_;
  std::vector<Range> parameters_;
  std::size_t size_ = 0;
};

/// What an iteration took, in seconds, and of that on waiting for the exchange.
struct Taken {
  double iteration = 0, exposed = 0;
  double share() const { return iteration > 0 ? exposed / iteration : 0; }
};

/// On random images.
class Trainee {
 public:
  Trainee(const Communicator& comm, const NetworkSpec& network, int batch, DevicePoolOptions devices)
      : pool_(on_cpu(std::move(devices))),
        images_(static_cast<std::size_t>(batch), network.image_size),
        batch_(images_.batch(batch)),
        model_(network, batch, 0, static_cast<std::uint32_t>(comm.rank())) {
    model_.to_device(pool_.use(0));
    optimizer_.setup(model_);
    optimizer_.add_hook(std::make_unique<WeightDecay>(5e-4f));
    for (const NamedView& parameter : model_.parameters())
      parameters_.push_back({parameter.view.offset, parameter.view.offset + parameter.view.size()});
  }

  /// The quickest iteration: of a busy machine, the one that was disturbed least.
  Taken train(GradientExchange& exchange, int iterations) {
    exchange.setup(model_.device(), model_.memory().gradients, parameters_);
    std::optional<Taken> quickest;
    for (int i = -2; i < iterations; ++i) {  // the first two set up
      if (exchange.iterate([&](const FinalGradients& tell) { model_.forward_backward(batch_, tell); }))
        optimizer_.update();
      const Taken taken{exchange.seconds(), exchange.exposed_seconds()};
      if (i >= 0 && (!quickest || taken.iteration < quickest->iteration)) quickest = taken;
    }
    // No gradients of this way are on their way when the next begins.
    exchange.setup(model_.device(), model_.memory().gradients, parameters_);
    return *quickest;
  }

 private:
  static DevicePoolOptions on_cpu(DevicePoolOptions devices) {
    if (devices.request == DeviceRequest::automatic) devices.request = DeviceRequest::cpu;
    return devices;
  }

  DevicePool pool_;
  RandomImages images_;
  Batch batch_;
  Classifier model_;
  MomentumSGD optimizer_{1e-3f};
  std::vector<Range> parameters_;
};

}  // namespace

void try_ways(Communicator& comm, const std::vector<ExchangeWay>& ways, int layers, std::uint64_t seed) {
  std::vector<TableRow> rows;
  int number = 0;
  for (const trial::Setting& setting : trial::settings(layers, seed)) {
    Trial trial(comm, setting);
    for (const ExchangeWay& way : ways) {
      const auto [wrong, sent] = trial.run(way, number++);
      rows.push_back({std::to_string(setting.layers), std::to_string(setting.iterations), way.name,
                      wrong ? fmt::format("WRONG from iteration {} on", *wrong) : "right", std::to_string(sent)});
    }
  }
  if (comm.rank() == 0)
    fmt::print("Tried on {} ranks, with gradients whose values are known:\n{}\n", comm.size(),
               text_table({"layers", "iterations", "exchange", "the weights are", "bytes sent"}, rows));
}

void measure_ways(Communicator& comm, const std::vector<ExchangeWay>& ways, const NetworkSpec& network, int batch,
                  int iterations, const DevicePoolOptions& devices) {
  if (iterations == 0) return;
  if (comm.rank() == 0) {
    fmt::print("Measuring {} iterations of each of {} ways, {} images a rank ...\n", iterations, ways.size(), batch);
    std::fflush(stdout);
  }
  Trainee trainee(comm, network, batch, devices);
  std::vector<TableRow> rows;
  std::vector<float> shares;
  for (const ExchangeWay& way : ways) {
    const Taken taken = trainee.train(way.exchange, iterations);
    shares.push_back(static_cast<float>(taken.share()));
    const auto bar = static_cast<std::size_t>(std::lround(40 * taken.share()));
    rows.push_back({way.name, fmt::format("{:.2f}", 1e3 * taken.iteration), fmt::format("{:.2f}", 1e3 * taken.exposed),
                    fmt::format("{:.0f} %", 100 * taken.share()), std::string(bar, '#')});
  }
  write_numbers(shares);
  if (comm.rank() != 0) return;
  const std::string link = comm.link();
  fmt::print(
      "The quickest of {} iterations, {} images a rank, {}:\n{}", iterations, batch,
      link.empty() ? "without a simulated link (--link 1gbit,50us shows more)" : "over a simulated link of " + link,
      text_table({"exchange", "ms", "ms exposed", "exposed", ""}, rows));
}

}  // namespace odori
