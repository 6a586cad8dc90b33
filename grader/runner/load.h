// How busy this machine is, where that may be why it couldn't do something.
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>
#include <thread>
#include <utility>

#include "blanks/finding.h"

namespace odori::grader {

/// Of a machine that could not run the answer of the kit, or start a sandbox: with a note, where its load is far above
/// its cores.
inline Finding with_load(Finding finding, double load, unsigned cores) {
  constexpr std::array<std::string_view, 4> can_be_busy{"no_start", "kit_fails", "no_namespaces", "sandbox_too_slow"};
  if (std::ranges::find(can_be_busy, finding.key) != can_be_busy.end() && load > 2 * cores) {
    finding.values.try_emplace("note", "machine_busy");
    finding.values["load"] = fmt::format("{:.0f}", load);
    finding.values["cores"] = std::to_string(cores);
  }
  return finding;
}

/// By the load of now.
inline Finding with_load(Finding finding) {
  double load = 0;
  if (getloadavg(&load, 1) != 1) load = 0;
  return with_load(std::move(finding), load, std::thread::hardware_concurrency());
}

}  // namespace odori::grader
