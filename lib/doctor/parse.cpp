// SPDX-License-Identifier: Apache-2.0
#include "doctor/parse.h"

#include <algorithm>
#include <regex>

#include "errors/text.h"

namespace odori::doctor {
namespace {

/// Lines or cells, without blanks at either end of each.
std::vector<std::string> parts_of(const std::string& text, char between) {
  std::vector<std::string> parts = split(text, between);
  for (std::string& part : parts) part = std::string(trim(part, " \t\r\n"));
  return parts;
}

/// The first group of the first match, or nothing.
std::optional<std::string> find(const std::string& text, const char* pattern) {
  std::smatch match;
  if (!std::regex_search(text, match, std::regex(pattern))) return {};
  return match[1].str();
}

/// GPU7 -> 7
std::optional<int> gpu_number(const std::string& cell) {
  return cell.starts_with("GPU") ? number_of<int>(cell.substr(3)) : std::nullopt;
}

/// How many numbers "0-3,8" names.
int count_of_list(const std::string& list) {
  int count = 0;
  for (const std::string& part : split(list, ',')) {
    const std::vector<std::string> ends = split(part, '-');
    count += number_of<int>(ends.back()).value_or(0) - number_of<int>(ends.front()).value_or(0) + 1;
  }
  return count;
}

}  // namespace

std::vector<Gpu> parse_gpus(const std::string& text) {
  std::vector<Gpu> gpus;
  for (const std::string& line : parts_of(text, '\n')) {
    const std::vector<std::string> cells = parts_of(line, ',');
    if (cells.size() != 4) continue;
    const auto index = number_of<int>(cells[0]), mebibytes = number_of<int>(cells[2]);
    if (index && mebibytes) gpus.push_back({*index, cells[1], *mebibytes / 1024.0, cells[3]});
  }
  return gpus;
}

std::optional<Driver> parse_driver(const std::string& text) {
  const auto version = find(text, R"(Driver Version: *([0-9.]+))");
  if (!version) return {};
  return Driver{*version, find(text, R"(CUDA (?:UMD )?Version: *([0-9.]+))").value_or("")};
}

Topology parse_topology(const std::string& text) {
  Topology topology;
  // nvidia-smi underlines its head on a terminal.
  const std::string plain = std::regex_replace(text, std::regex("\x1b\\[[0-9;]*m"), "");
  std::vector<std::string> head;
  for (const std::string& line : parts_of(plain, '\n')) {
    std::vector<std::string> cells = parts_of(line, '\t');
    const auto row = gpu_number(cells[0]);
    if (head.empty()) {  // its first cell, the corner, was trimmed away
      if (row) head = cells;
      continue;
    }
    if (!row) continue;
    NearGpu near{*row, "", ""};
    for (std::size_t i = 0; i < head.size() && i + 1 < cells.size(); ++i) {
      const auto column = gpu_number(head[i]);
      if (column && *column > *row) topology.links.push_back({*row, *column, cells[i + 1]});
      if (head[i] == "CPU Affinity") near.cores = cells[i + 1];
      if (head[i] == "NUMA Affinity") near.numa_node = cells[i + 1];
    }
    topology.near.push_back(near);
  }
  return topology;
}

std::vector<Binding> parse_bindings(const std::string& text) {
  std::vector<Binding> bindings;
  for (const std::string& line : parts_of(text, '\n')) {
    const auto rank = find(line, R"([Rr]ank ([0-9]+) (?:is not )?bound)");
    if (!rank) continue;
    Binding binding{std::stoi(*rank), 0};
    static const std::regex core4(R"(\[core [0-9]+\[)"), cores5(R"(\[(?:core|hwt):([0-9,-]+)\])");
    for (std::sregex_iterator match(line.begin(), line.end(), core4); match != std::sregex_iterator(); ++match)
      ++binding.cores;
    for (std::sregex_iterator match(line.begin(), line.end(), cores5); match != std::sregex_iterator(); ++match)
      binding.cores += count_of_list((*match)[1]);
    bindings.push_back(binding);
  }
  std::sort(bindings.begin(), bindings.end(), [](const Binding& a, const Binding& b) { return a.rank < b.rank; });
  return bindings;
}

std::string parse_mpi_version(const std::string& text) {
  const auto version = find(text, R"(Open MPI\)? v?([0-9][0-9.a-z]*))");
  return version ? "Open MPI " + *version : "";
}

std::optional<bool> parse_cuda_aware(const std::string& text) {
  const auto value = find(text, R"(built_with_cuda_support:value:(true|false))");
  if (!value) return {};
  return *value == "true";
}

NcclRun parse_nccl(const std::string& text) {
  NcclRun run;
  run.version = find(text, R"(NCCL version ([0-9.]+))").value_or("");
  static const std::regex way(R"( -> .* via (P2P|SHM|NET/IB|NET/Socket|NET/[A-Za-z]+|COLLNET))");
  static const std::regex warning(R"(NCCL WARN (.*))");
  for (const std::string& line : parts_of(text, '\n')) {
    std::smatch match;
    if (std::regex_search(line, match, way)) ++run.transports[match[1]];
    if (std::regex_search(line, match, warning)) run.warnings.emplace_back(trim(match[1].str()));
  }
  return run;
}

std::vector<GpuCopy> parse_gpu_copies(const std::string& text) {
  static const std::regex copy(R"(GPU (\d+) to GPU (\d+): ([0-9.]+) GB/s, (right|wrong))");
  std::vector<GpuCopy> copies;
  for (std::sregex_iterator match(text.begin(), text.end(), copy); match != std::sregex_iterator(); ++match)
    copies.push_back({std::stoi((*match)[1]), std::stoi((*match)[2]), std::stod((*match)[3]), (*match)[4] == "right"});
  return copies;
}

std::vector<int> parse_percents(const std::string& text) {
  std::vector<int> percents;
  for (const std::string& line : parts_of(text, '\n'))
    if (const auto percent = number_of<int>(line)) percents.push_back(*percent);
  return percents;
}

int major_version(const std::string& version) { return number_of<int>(split(version, '.').front()).value_or(0); }

}  // namespace odori::doctor
