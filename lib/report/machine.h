// SPDX-License-Identifier: Apache-2.0
// The machine and the time of a measurement.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace odori {

struct Machine {
  std::string cpu;        // "AMD EPYC 7742 64-Core Processor"
  int cores = 0;          // usable_cores()
  double memory_gib = 0;  // installed, in 2^30 bytes
  std::string os;         // "Debian GNU/Linux 12 (bookworm)"
};

/// Unknown texts are "unknown".
Machine this_machine();
/// Returns "AMD EPYC 7742, 2 cores, 8 GiB, Debian GNU/Linux 12 (bookworm)".
std::string describe(const Machine& machine);
/// {"cpu":, "cores":, "memory_gib":, "os":}
void to_json(nlohmann::json& json, const Machine& machine);

/// Local date and time: "2026-01-31 14:05".
std::string now();

}  // namespace odori
