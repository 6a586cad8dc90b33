// SPDX-License-Identifier: Apache-2.0
#include "log_seen.h"

#include <algorithm>
#include <utility>

namespace odori::grader {

using emulator::LogEntry, emulator::OperationKind;

LogSeen::LogSeen(int of_rank, std::vector<LogEntry> log)
    : rank(of_rank),
      graph(std::move(log)),
      conflicts(graph.conflicts()),
      begins(nccl_timeline::iteration_begins(graph.entries())) {}

int LogSeen::iteration_of(const LogEntry& entry) const {
  return static_cast<int>(std::ranges::upper_bound(begins, entry.id) - begins.begin()) - 1;
}

std::vector<LogSeen> logs_of(const Evidence& evidence, nccl_facts::Phase phase) {
  std::vector<LogSeen> logs;
  for (std::size_t rank = 0; rank < evidence.ranks.size(); ++rank) {
    std::vector<LogEntry> entries;
    bool is_phase = false, is_any = false;
    for (const facts::Event& event : evidence.ranks[rank].events) {
      if (event.what == nccl_facts::log)
        is_phase = event.about == std::vector<std::int64_t>{phase}, is_any |= is_phase;
      else if (is_phase && event.what.starts_with('{'))
        entries.push_back(emulator::entry_from_json(event.what));
    }
    if (is_any) logs.emplace_back(static_cast<int>(rank), std::move(entries));
  }
  return logs;
}

bool waits_too_early(const LogSeen& log, std::size_t first, std::size_t second) {
  const std::vector<LogEntry>& entries = log.entries();
  return std::ranges::any_of(entries, [&](const LogEntry& wait) {
    if (wait.gpu != entries[second].gpu || wait.stream != entries[second].stream || wait.awaited < 0) return false;
    const LogEntry& record = entries[static_cast<std::size_t>(wait.awaited)];  // ids count from 0
    return record.gpu == entries[first].gpu && record.stream == entries[first].stream && record.id < entries[first].id;
  });
}

Pair pair_of(const LogEntry& first, const LogEntry& second) {
  const auto scales = [](const LogEntry& e) { return e.kind == OperationKind::kernel && e.name.starts_with("scale"); };
  const auto is_loss = [](const LogEntry& e) { return nccl_timeline::is_kernel(e, "loss"); };
  if (scales(first) || scales(second)) return Pair::scaling;
  if (is_collective(second)) return Pair::gradients_exchange;
  if (is_collective(first)) return Pair::exchange_update;
  if (is_loss(first) && is_copy(second)) return Pair::loss_copy;
  if (is_copy(first) && (is_host_access(second) || is_loss(second) || is_copy(second))) return Pair::copy_host;
  if (is_host_access(first) || is_host_access(second)) return Pair::copy_host;
  return Pair::others;
}

}  // namespace odori::grader
