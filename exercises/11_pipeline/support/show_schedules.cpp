// SPDX-License-Identifier: Apache-2.0
// The learner's pipeline in virtual time, drawn as text.
#include <fmt/core.h>

#include <cmath>
#include <string>

#include "virtual_pipeline.h"

namespace odori {
namespace {

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

/// Runs these orders, one of each rank, on stages of one layer each, with messages that take no time.
Picture picture_of(const PipelineFunctions& functions, const std::vector<Order>& orders, int m) {
  const auto p = static_cast<int>(orders.size());
  Picture picture{std::vector<Row>(orders.size())};
  const cost::Cluster cluster{.nodes = p, .between = {.latency = 0, .bandwidth = 1e30}};
  const auto [result, most_held, gradients] = run_in_virtual_time(
      functions, orders, m, cluster, 1, {}, [&](simulate::Rank& rank, const Step& step, double began) {
        std::string& units = picture.rows[static_cast<std::size_t>(rank.rank())].units;
        units.resize(static_cast<std::size_t>(std::lround(began)), '.');
        units.resize(static_cast<std::size_t>(std::lround(rank.now())), letter_of(step));
      });
  picture.seconds = result.seconds;
  for (const simulate::Totals& totals : result.ranks)
    picture.idle += (1 - totals.busy / result.seconds) / static_cast<double>(p);
  for (std::size_t rank = 0; rank < orders.size(); ++rank) {
    picture.rows[rank].units.resize(static_cast<std::size_t>(std::lround(result.seconds)), '.');
    picture.rows[rank].most_held = most_held[rank];
  }
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
  const double formula = functions.idle_share(p, drawn);
  const Picture gpipe = picture_of(functions, orders_of(functions, true, p, drawn), drawn),
                one_by_one = picture_of(functions, orders_of(functions, false, p, drawn), drawn);
  if (comm.rank() != 0) return;
  fmt::print(
      "{} stages of equal cost, micro-batches: {}{}. A, B, ...: forward, 1 unit; aa, bb, ...: backward, 2 units; dots: "
      "idle.\nThe last column is how many micro-batches' activations the rank holds at most.\n",
      p, drawn, drawn < m ? fmt::format(" (the first of {})", m) : "");
  print("GPipe", gpipe, formula);
  print("1F1B", one_by_one, formula);
  fmt::print("With messages, on up to 1024 simulated ranks: ./odori simulate pipeline\n");
}

}  // namespace odori
