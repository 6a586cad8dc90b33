// SPDX-License-Identifier: Apache-2.0
// What it costs to average gradients, communicator by communicator: ./odori compare.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "report/machine.h"

namespace odori {

/// Of one way to average, or the reason why it can't be used.
struct MeasuredExchange {
  /// What the rank that sends most sends in one exchange.
  struct Sent {
    std::int64_t messages = 0, bytes = 0;
  };
  std::string name;
  std::string refused, refused_ja;               // the reason in both languages; empty: measured
  double milliseconds = 0, least = 0, most = 0;  // the median, and the spread, of one exchange
  std::optional<double> predicted = {};          // milliseconds, by comm/cost.h
  bool counted = true;                           // are these known?
  Sent within_node = {}, to_other_nodes = {};
  int devices = 0;  // that took part; 0: one a rank
};

/// Between two ranks: what a message of m bytes takes is latency + m / bandwidth.
struct MeasuredLink {
  double microseconds = 0, megabytes_per_second = 0;
};

struct ExchangeCosts {
  Machine machine;
  std::string date, model, device;
  std::string link;  // "1 Gbit/s, 50 us", simulated; empty: none
  int ranks = 1, nodes = 1, batchsize = 0, rounds = 0;
  std::int64_t gradient_bytes = 0;
  double compute_milliseconds = 0;                        // of an iteration without exchange, all ranks at once
  std::optional<MeasuredLink> within = {}, between = {};  // nodes; what predictions are made of
  std::vector<MeasuredExchange> exchanges;

  /// Of an iteration: the exchange follows the computation.
  double share(const MeasuredExchange& of) const { return of.milliseconds / (compute_milliseconds + of.milliseconds); }
  double images_per_second(const MeasuredExchange& of) const {
    return 1e3 * (of.devices > 0 ? of.devices : ranks) * batchsize / (compute_milliseconds + of.milliseconds);
  }
  /// The unit of all amounts of data that are shown: 10^6 bytes if the largest has 10^6 bytes or more, else 10^3.
  struct Unit {
    double bytes;
    const char* name;
  };
  Unit unit() const;
  /// Its name, with the number of devices where that isn't the ranks'.
  std::string shown(const MeasuredExchange& of) const;
  /// "2 ranks on 2 nodes, over a simulated link of 1 Gbit/s, 50 us".
  std::string place() const;
};

/// For a terminal: a line a way, and below it what was measured, and where.
std::string to_text(const ExchangeCosts& costs);
/// One self-contained page, in English and Japanese. `chart_js`: as for a comparison's page.
std::string to_page(const ExchangeCosts& costs, const std::string& chart_js);
void to_json(nlohmann::json& json, const ExchangeCosts& costs);

}  // namespace odori
