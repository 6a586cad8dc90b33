// SPDX-License-Identifier: Apache-2.0
#include "report/machine.h"

#include <fmt/chrono.h>
#include <sys/sysinfo.h>

#include <cmath>
#include <ctime>
#include <nlohmann/json.hpp>
#include <string_view>

#include "errors/text.h"
#include "files/file.h"
#include "threads/cores.h"

namespace odori {
namespace {

/// What stands behind `separator` in the first line of `path` that begins with `key`, without quotes and
/// blanks.
std::string value_in(const char* path, std::string_view key, char separator) {
  for (const std::string& line : split_lines(read_file(path))) {
    const auto at = line.find(separator);
    if (!line.starts_with(key) || at == std::string::npos) continue;
    if (const auto value = trim(std::string_view(line).substr(at + 1), " \t\""); !value.empty())
      return std::string(value);
    break;
  }
  return "unknown";
}

double installed_gib() {
  struct sysinfo info;
  if (sysinfo(&info) != 0) return 0;
  return static_cast<double>(info.totalram) * info.mem_unit / (1 << 30);
}

}  // namespace

Machine this_machine() {
  return {value_in("/proc/cpuinfo", "model name", ':'), usable_cores(), installed_gib(),
          value_in("/etc/os-release", "PRETTY_NAME", '=')};
}

std::string describe(const Machine& machine) {
  return fmt::format("{}, {} {}, {:.0f} GiB, {}", machine.cpu, machine.cores, machine.cores == 1 ? "core" : "cores",
                     machine.memory_gib, machine.os);
}

void to_json(nlohmann::json& json, const Machine& machine) {
  json = {{"cpu", machine.cpu},
          {"cores", machine.cores},
          {"memory_gib", std::round(machine.memory_gib * 10) / 10},
          {"os", machine.os}};
}

std::string now() {
  const std::time_t t = std::time(nullptr);
  return fmt::format("{:%Y-%m-%d %H:%M}", fmt::localtime(t));
}

}  // namespace odori
