// Ways of exchanging gradients between ranks (distributed/multi_node_exchange.h), side by side: whether they are right,
// and what they cost.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "backend/device_pool.h"
#include "comm/communicator.h"
#include "core/range.h"
#include "distributed/multi_node_exchange.h"
#include "model/networks.h"

namespace odori {

struct ExchangeWay {
  std::string name;  // for people
  GradientExchange& exchange;
  bool one_late = false;  // an update is by the gradients of the iteration before
};

/// Gradients of which all is known, of layers with one or two parameters each. An iteration's are the same by all ways.
namespace trial {

/// What each way is tried with, one after the other: what it keeps from the first shows in the second. That one has
/// more iterations than a learner's own run measures, and another number with other layers, so that no number of an
/// iteration stands for "not the first".
struct Setting {
  int layers, iterations;
};
inline std::array<Setting, 2> settings(int layers) {
  return {{{layers, 4 + layers % 4}, {1 + layers % 5, 30 + layers % 8}}};
}
inline constexpr float rate = 0.125f, decay = 0.0625f;  // w -= rate * (gradient + decay * w)

/// The parameters of each layer, in forward's order.
inline std::vector<std::vector<Range>> layers(int n) {
  std::vector<std::vector<Range>> all;
  std::size_t position = 0;
  const auto next = [&](std::size_t size) {
    const Range range{end_of_cache_line(position), end_of_cache_line(position) + size};
    position = range.end;
    return range;
  };
  for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
    all.push_back({next(20 + 37 * i % 90)});
    if (i % 3 != 1) all.back().push_back(next(10 + i));
  }
  return all;
}

/// Of position i, on this rank in iteration k, the last one or another: 0 at every fifth position, elsewhere between 1
/// and 8 or as far below 0, in some iterations all of them. In the last one half precision holds each, but no sum of
/// two.
constexpr float gradient(int rank, int k, bool is_last, std::size_t i) {
  std::uint64_t mixed =
      (i + 1) * 0x9E3779B97F4A7C15u ^ (static_cast<std::uint64_t>(rank * 64 + k) + 1) * 0xBF58476D1CE4E5B9u;
  mixed = (mixed ^ mixed >> 31) * 0x94D049BB133111EBu;
  const auto part = static_cast<float>(mixed >> 54) / 1024;
  const float sign = i % 5 == 0 ? 0 : k % 3 == 1 || i % 3 == 1 ? -1 : 1;
  return sign * (is_last ? 33000 + 7000 * part : 1 + 7 * part);
}
constexpr float first_weight(std::size_t i) { return 1 + static_cast<float>(i % 5); }

}  // namespace trial

/// Tries each way on trial::gradient(), of so many layers, and then of others; what was started arrives when it is
/// waited for. Rank 0 prints whether the weights are right, and what was sent. Collective.
void try_ways(Communicator& comm, const std::vector<ExchangeWay>& ways, int layers);

/// Trains the network on random images by each way, for some iterations (0: none) after two that aren't counted. Rank 0
/// prints what the quickest takes, and how much of that is spent on the exchange alone. Collective.
void measure_ways(Communicator& comm, const std::vector<ExchangeWay>& ways, const NetworkSpec& network, int batch,
                  int iterations, const DevicePoolOptions& devices);

}  // namespace odori
