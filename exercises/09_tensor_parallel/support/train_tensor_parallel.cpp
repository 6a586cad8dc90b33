// SPDX-License-Identifier: Apache-2.0
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "bytes_sent.h"
#include "data/cifar.h"
#include "data/serial_iterator.h"
#include "errors/error.h"
#include "report/table.h"
#include "tensor_parallel_support.h"
#include "try_tensor_parallel.h"

namespace odori {
namespace {

struct Place {
  int node = 0, rank_in_node = 0;
};

/// Every node has the same number of ranks, and on all of them the lowest ranks come first.
void require_equal_nodes(Communicator& comm) {
  const std::vector<Place> places = comm.all_gather(Place{comm.inter_rank(), comm.intra_rank()});
  std::vector<int> ranks_of(static_cast<std::size_t>(comm.inter_size()));
  for (const Place& place : places) ++ranks_of[static_cast<std::size_t>(place.node)];
  require(std::ranges::adjacent_find(ranks_of, std::not_equal_to()) == ranks_of.end(),
          "The nodes have {} ranks. A copy of the network is split over the ranks of a node, so every node needs the "
          "same number: --ranks 4 --nodes 2.",
          fmt::join(ranks_of, ", "));
  std::vector<int> next(static_cast<std::size_t>(comm.intra_size()));
  for (const Place& place : places)
    require(next[static_cast<std::size_t>(place.rank_in_node)]++ == place.node,
            "The ranks are placed on the nodes in changing order. Place them node by node, or in turn: --nodes "
            "0,0,1,1 or 0,1,0,1.");
}

/// The same network in one process.
class OneProcess {
 public:
  OneProcess(std::vector<mlp::Layer> layers, std::uint64_t seed)
      : layers_(std::move(layers)), parameters_(mlp::initial_parameters(layers_, mlp::range_of(layers_), seed)) {}

  std::vector<float> forward(const std::vector<float>& images) const {
    return mlp::stage_forward(layers_, parameters_, images).back();
  }
  void update(const mlp::Images& batch, float learning_rate) {
    const mlp::Activations act = mlp::stage_forward(layers_, parameters_, batch.x);
    std::vector<float> dy(act.back().size()), gradients(parameters_.size());
    mlp::softmax_cross_entropy(act.back(), batch.labels, dy);
    mlp::stage_backward(layers_, parameters_, act, dy, gradients);
    mlp::sgd_update(parameters_, gradients, learning_rate);
  }

 private:
  std::vector<mlp::Layer> layers_;
  std::vector<float> parameters_;
};

/// The largest difference between the elements, as a share of the largest element of `expected`; infinite if there are
/// more or fewer.
double difference(const std::vector<float>& seen, const std::vector<float>& expected) {
  if (seen.size() != expected.size()) return INFINITY;
  double largest = 0, apart = 0;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    const double distance = std::abs(double{seen[i]} - expected[i]);
    largest = std::max(largest, std::abs(double{expected[i]}));
    apart = std::isnan(distance) ? INFINITY : std::max(apart, distance);
  }
  return apart > 0 ? apart / largest : 0;
}

class Run {
 public:
  Run(const TensorParallel& program, const Arguments& args, Communicator& comm)
      : program_(program),
        args_(args),
        comm_(comm),
        data_(load_cifar(args.dataset, {.fraction = args.fraction})),
        layers_(mlp::make_layers(std::array<std::size_t, 4>{
            Example::bytes, size_of(program.width), size_of(program.hidden), size_of(data_.train->n_classes())})),
        groups_(program.make_groups(comm)),
        net_(make_network()) {}

  void compare_with_one_process() {
    constexpr int updates = 3;
    OneProcess one(layers_, args_.seed);
    SplitNetwork net = make_network();
    SerialIterator iterator = batches();
    for (int update = 0; update < updates; ++update) {
      const mlp::Images batch = mlp::load(*iterator.next());
      one.update(batch, args_.learnrate);
      program_.update(net, groups_, batch, args_.learnrate);
    }
    const mlp::Images batch = mlp::load(*iterator.next());
    const double own = difference(program_.forward(net, groups_, batch.x).y, one.forward(batch.x));
    const std::vector<double> all = comm_.all_gather(own);
    const auto worst = std::ranges::max_element(all);
    const bool right = *worst <= 1e-5 * updates;
    print("Output after {} updates, compared with one process: {}, {:.1e} apart at most, on rank {}\n", updates,
          right ? "right" : "WRONG", *worst, worst - all.begin());
  }

  void count_bytes() {
    SplitNetwork net = make_network();
    SerialIterator iterator = batches();
    const mlp::Images whole = mlp::load(*iterator.next());
    const mlp::Images batch = part_of(whole, groups_.data.shard(whole.labels.size()));
    Activations act;
    const std::vector<float> dy(batch.labels.size() * layers_.back().out);
    const std::int64_t forward = bytes_sent_by([&] { act = program_.forward(net, groups_, batch.x); }, comm_);
    const std::int64_t backward = bytes_sent_by([&] { program_.backward(net, groups_, batch.x, act, dy); }, comm_);
    std::vector<TableRow> rows{{"tensor parallel", "y, in forward", std::to_string(forward)},
                               {"", "dx, in backward", std::to_string(backward)}};
    const std::array<std::pair<const char*, Linear*>, 3> layers{
        {{"first layer", &net.first}, {"shard of A", &net.a}, {"shard of B", &net.b}}};
    for (const auto& [name, layer] : layers) {
      const auto average = [&, layer = layer] { program_.average_gradients(*layer, groups_); };
      rows.push_back({rows.size() == 2 ? "data parallel" : "", fmt::format("gradients of the {}", name),
                      std::to_string(bytes_sent_by(average, comm_))});
    }
    print("{}",
          text_table({fmt::format("an update of {} images", program_.batch), "all-reduce", "bytes that rank 0 sends"},
                     rows));
  }

  void train(const Arguments& args) {
    SerialIterator iterator = batches();
    print("epoch  main/loss  validation/main/loss  validation/main/accuracy\n");
    for (int epoch = 1; epoch <= args.epoch; ++epoch) {
      double loss = 0;
      int updates = 0;
      do {
        loss += program_.update(net_, groups_, mlp::load(*iterator.next()), args.learnrate);
        ++updates;
      } while (!iterator.is_new_epoch());
      // Every copy has the loss over its own images, on all of its ranks.
      std::array<double, 1> mean{loss / updates / comm_.size()};
      comm_.sum(mean);
      require(std::isfinite(mean[0]), "The loss is {} in epoch {}. Try a smaller --learnrate.", mean[0], epoch);
      const mlp::Loss test = evaluate();
      print("{:<7}{:<11.6g}{:<22.6g}{:.6g}\n", epoch, mean[0], test.mean,
            static_cast<double>(test.correct) / static_cast<double>(data_.test->size()));
    }
  }

 private:
  static std::size_t size_of(int size) { return static_cast<std::size_t>(size); }

  SplitNetwork make_network() const {
    return program_.make_network(layers_[0], layers_[1], layers_[2], groups_.tensor, args_.seed);
  }
  /// The same on every rank.
  SerialIterator batches() const { return {data_.train, program_.batch, {.seed = args_.seed}}; }

  /// Every copy of the network computes all test images.
  mlp::Loss evaluate() const {
    SerialIterator iterator(data_.test, program_.batch, {.repeat = false, .shuffle = false});
    mlp::Loss all;
    while (const Batch* const batch = iterator.next()) {
      const mlp::Images images = mlp::load(*batch);
      const mlp::Loss loss = mlp::softmax_cross_entropy(program_.forward(net_, groups_, images.x).y, images.labels);
      all.mean += loss.mean * static_cast<double>(images.labels.size()) / static_cast<double>(data_.test->size());
      all.correct += loss.correct;
    }
    return all;
  }

  template <typename... Args>
  void print(fmt::format_string<Args...> text, Args&&... args) const {
    if (comm_.rank() != 0) return;
    fmt::print(text, std::forward<Args>(args)...);
    std::fflush(stdout);
  }

  const TensorParallel& program_;
  const Arguments& args_;
  Communicator& comm_;
  TrainTest data_;
  std::vector<mlp::Layer> layers_;
  Groups groups_;
  SplitNetwork net_;
};

}  // namespace

void train_tensor_parallel(const TensorParallel& program, const Arguments& args, Communicator& comm) {
  require_equal_nodes(comm);
  if (try_tensor_parallel(program, args.seed, comm)) return;
  require(program.batch % comm.inter_size() == 0,
          "A batch of {} images cannot be shared equally by {} nodes. Choose a --batchsize that is a multiple of {}.",
          program.batch, comm.inter_size(), comm.inter_size());
  Run run(program, args, comm);
  if (comm.rank() == 0)
    fmt::print("{} of the network, each split over {}\n",
               comm.inter_size() == 1 ? "1 copy" : fmt::format("{} copies", comm.inter_size()),
               comm.intra_size() == 1 ? "1 rank" : fmt::format("{} ranks", comm.intra_size()));
  run.compare_with_one_process();
  run.count_bytes();
  run.train(args);
}

}  // namespace odori
