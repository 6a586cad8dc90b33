// SPDX-License-Identifier: Apache-2.0
// Iterations in a rank's operation log, and the same log with one event after all of backward. No program includes
// this.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "backend/emulated/operation_log.h"
#include "nccl_cases.h"

namespace odori::nccl_timeline {

using emulator::LogEntry, emulator::OperationKind;

inline bool is_kernel(const LogEntry& entry, const std::string& name) {
  return entry.kind == OperationKind::kernel && entry.name == name;
}
inline bool is_backward(const LogEntry& entry) {
  return entry.kind == OperationKind::kernel && entry.name.starts_with("backward");
}

/// The id at which each iteration begins: that of its first kernel of forward.
inline std::vector<int> iteration_begins(const std::vector<LogEntry>& rank_log) {
  std::vector<int> begins;
  for (const LogEntry& entry : rank_log)
    if (is_kernel(entry, "forward 0")) begins.push_back(entry.id);
  return begins;
}

/// Moves each iteration's all-reduces, with all that their streams hold before them, after its last backward, and makes
/// them wait for it.
inline std::vector<LogEntry> with_one_event(std::vector<LogEntry> log) {
  struct Moved {
    double key;   // the order of queueing
    int awaited;  // the id of the last backward; -1: not moved
    LogEntry entry;
  };
  const std::vector<int> begins = iteration_begins(log);
  std::vector<Moved> moved;
  for (LogEntry& entry : log) {
    const auto next = std::ranges::upper_bound(begins, entry.id);
    const int begin = next == begins.begin() ? 0 : *(next - 1);
    const int end = next == begins.end() ? 1 << 30 : *next;
    int last = -1;
    bool communicates = false;
    for (const LogEntry& other : log) {
      if (other.id < begin || other.id >= end) continue;
      if (is_backward(other)) last = other.id;
      communicates |= other.kind == OperationKind::collective && other.stream == entry.stream;
    }
    const bool moves = communicates && entry.id < last && !is_backward(entry);
    moved.push_back({moves ? last + 0.5 : entry.id, moves ? last : -1, entry});
  }
  std::ranges::stable_sort(moved, {}, &Moved::key);
  std::map<int, int> ids;
  for (const Moved& one : moved) ids.emplace(one.entry.id, static_cast<int>(ids.size()));
  std::vector<LogEntry> changed;
  for (Moved& one : moved) {
    if (one.awaited >= 0) one.entry.after.push_back(one.awaited);
    std::erase_if(one.entry.after, [&](int& id) { return (id = ids.at(id)) >= ids.at(one.entry.id); });
    one.entry.id = ids.at(one.entry.id);
    if (one.entry.awaited >= 0) one.entry.awaited = ids.at(one.entry.awaited);
    changed.push_back(std::move(one.entry));
  }
  return changed;
}

/// Virtual seconds from the last iteration's begin to the end of its update; 0 without one.
inline double seconds_of_iteration(const std::vector<LogEntry>& rank_log) {
  const emulator::OperationGraph graph(rank_log);
  const auto times = graph.timeline({.collective = nccl_times::all_reduce_bytes});
  double begin = 0, end = 0;
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (is_kernel(graph.entries()[i], "forward 0")) begin = times[i].start;
    if (is_kernel(graph.entries()[i], "update")) end = times[i].end;
  }
  return std::max(end - begin, 0.0);
}

}  // namespace odori::nccl_timeline
