// SPDX-License-Identifier: Apache-2.0
// Compares the cost of gradient averaging by all communicators (./odori compare).
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "errors/language.h"
#include "report/machine.h"

namespace odori {

/// The measurements of one communicator, or the reason why it cannot be used.
struct MeasuredExchange {
  /// Sent in one exchange by the rank that sends most.
  struct Sent {
    std::int64_t messages = 0, bytes = 0;
  };
  std::string name;
  std::string refused, refused_ja;               // the reason; empty: measured
  double milliseconds = 0, least = 0, most = 0;  // median, minimum and maximum of one exchange
  std::optional<double> predicted = {};          // milliseconds, from comm/cost.h
  bool counted = true;                           // false: the next two are unknown
  Sent within_node = {}, to_other_nodes = {};
  int devices = 0;  // devices that take part; 0: one per rank
};

/// Latency and bandwidth between two ranks.
struct MeasuredLink {
  double microseconds = 0, megabytes_per_second = 0;
};

struct ExchangeCosts {
  Machine machine;
  std::string date, model, device;
  std::string link;  // the simulated link, "1 Gbit/s, 50 us"; empty: none
  int ranks = 1, nodes = 1, batchsize = 0, rounds = 0;
  std::int64_t gradient_bytes = 0;
  double compute_milliseconds = 0;                        // one iteration without exchange, all ranks at once
  std::optional<MeasuredLink> within = {}, between = {};  // nodes; input of the predictions
  std::vector<MeasuredExchange> exchanges;

  /// The exchange's fraction of an iteration, without overlap.
  double share(const MeasuredExchange& of) const { return of.milliseconds / (compute_milliseconds + of.milliseconds); }
  double images_per_second(const MeasuredExchange& of) const {
    return 1e3 * (of.devices > 0 ? of.devices : ranks) * batchsize / (compute_milliseconds + of.milliseconds);
  }
  /// The unit for all amounts of data: 10^6 bytes if the largest is at least 10^6 bytes, else 10^3.
  struct Unit {
    double bytes;
    const char* name;
  };
  Unit unit() const;
  /// The communicator's name, with the number of devices if that is not the number of ranks.
  std::string shown(const MeasuredExchange& of) const;
  /// "2 ranks on 2 nodes, over a simulated link of 1 Gbit/s, 50 us".
  Text place() const;
};

/// A table for a terminal, one line per communicator, and the conditions of the measurement.
std::string to_text(const ExchangeCosts& costs);
/// A self-contained web page in English and Japanese. `chart_js`: as in comparison.h.
std::string to_page(const ExchangeCosts& costs, const std::string& chart_js);
void to_json(nlohmann::json& json, const ExchangeCosts& costs);

}  // namespace odori
