// SPDX-License-Identifier: Apache-2.0
// The learner's pipeline in virtual time, drawn as text.
#include <cmath>
#include <memory>
#include <numeric>
#include <string>

#include "errors/error.h"
#include "pipeline_support.h"
#include "simulate/simulate.h"

namespace odori {
namespace {

// A backward takes two of the three products (see blank 1), so twice the time. Messages take none.
constexpr double forward_units = 1, backward_units = 2;

class VirtualPeers : public Peers {
 public:
  explicit VirtualPeers(simulate::Rank& rank) : rank_(rank) {}
  int rank() const override { return rank_.rank(); }
  int size() const override { return rank_.size(); }
  void send(std::span<const float> values, int to) override { rank_.send(values, to); }
  void receive(std::span<float> values, int from) override { rank_.receive(values, from); }
  void exchange(std::span<const float> sent, int to, std::span<float> received, int from) override {
    rank_.exchange(sent, to, received, from);
  }

 private:
  simulate::Rank& rank_;
};

/// What a rank computed: a character for each unit of time, and how many micro-batches it held.
struct Row {
  std::string units;
  int most_held = 0;
};

/// A, B, C, ... for forwards, a, b, c, ... for backwards.
char letter_of(const Step& step) {
  return static_cast<char>((step.pass == Phase::forward ? 'A' : 'a') + step.micro_batch % 26);
}

struct Picture {
  std::vector<Row> rows;
  double seconds = 0, idle = 0;  // idle: the share of a rank's time, the mean over the ranks
};

/// Runs these orders, one of each rank, on stages of one layer each, of one value.
Picture run_in_virtual_time(const PipelineFunctions& functions, const std::vector<Order>& orders, int m) {
  const auto p = static_cast<int>(orders.size());
  const std::vector<std::size_t> widths(static_cast<std::size_t>(p) + 1, 1);
  const std::vector<mlp::Layer> layers = mlp::make_layers(widths);
  const auto n = static_cast<std::size_t>(m);
  const mlp::Images images{std::vector<float>(n, 1), std::vector<int>(n, 0)};
  Picture picture{std::vector<Row>(static_cast<std::size_t>(p))};
  const cost::Cluster cluster{.nodes = p, .between = {.latency = 0, .bandwidth = 1e30}};
  const simulate::Result result = simulate::run(cluster, [&](simulate::Rank& rank) {
    const auto r = static_cast<std::size_t>(rank.rank());
    Row& row = picture.rows[r];
    Stage stage(layers, {r, r + 1}, 0);
    stage.on_compute([&](Step step) {
      const bool is_forward = step.pass == Phase::forward;
      row.units.resize(static_cast<std::size_t>(std::lround(rank.now())), '.');
      rank.compute(is_forward ? forward_units : backward_units, is_forward ? "forward" : "backward");
      row.units.resize(static_cast<std::size_t>(std::lround(rank.now())), letter_of(step));
    });
    stage.begin(images, m);
    VirtualPeers peers(rank);
    functions.compute_gradients(orders[r], stage, peers);
    row.most_held = stage.most_held();
  });
  picture.seconds = result.seconds;
  for (const simulate::Totals& totals : result.ranks)
    picture.idle += (1 - totals.busy / result.seconds) / static_cast<double>(p);
  for (Row& row : picture.rows) row.units.resize(static_cast<std::size_t>(std::lround(result.seconds)), '.');
  return picture;
}

void print(const char* name, const Picture& picture, double formula) {
  fmt::print("{}: {:g} units of time, ranks idle for {:.1f} % of it (your formula: {:.1f} %)\n", name, picture.seconds,
             100 * picture.idle, 100 * formula);
  for (std::size_t rank = 0; rank < picture.rows.size(); ++rank)
    fmt::print("  rank {:<2} {}  holds {}\n", rank, picture.rows[rank].units, picture.rows[rank].most_held);
}

}  // namespace

void show_schedules(const PipelineFunctions& functions, int m, Communicator& comm) {
  constexpr int most_drawn = 32;
  const int p = comm.size(), drawn = std::min(m, most_drawn);
  std::vector<Order> of_gpipe, of_one_by_one;
  for (int rank = 0; rank < p; ++rank) of_gpipe.push_back(functions.gpipe(drawn));
  for (int rank = 0; rank < p; ++rank) of_one_by_one.push_back(functions.one_forward_one_backward(rank, p, drawn));
  const double formula = functions.idle_share(p, drawn);
  const Picture gpipe = run_in_virtual_time(functions, of_gpipe, drawn),
                one_by_one = run_in_virtual_time(functions, of_one_by_one, drawn);
  if (comm.rank() != 0) return;
  fmt::print(
      "{} stages of equal cost, micro-batches: {}{}. A, B, ...: forward, 1 unit; aa, bb, ...: backward, 2 units; dots: "
      "idle.\nThe last column is how many micro-batches' activations the rank holds at most.\n",
      p, drawn, drawn < m ? fmt::format(" (the first of {})", m) : "");
  print("GPipe", gpipe, formula);
  print("1F1B", one_by_one, formula);
}

}  // namespace odori
