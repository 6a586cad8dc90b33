// SPDX-License-Identifier: Apache-2.0
// Operation logs as ranks showed them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "nccl_cases.h"
#include "nccl_timeline.h"
#include "runner/evidence.h"

namespace odori::grader {

/// The log of one rank, and what nothing orders in it.
struct LogSeen {
  LogSeen(int of_rank, std::vector<emulator::LogEntry> log);

  int rank;
  emulator::OperationGraph graph;
  std::vector<emulator::Conflict> conflicts;
  std::vector<int> begins;  // ids of the iterations' first operations

  const std::vector<emulator::LogEntry>& entries() const { return graph.entries(); }
  /// Counts from 0; -1: before the first one.
  int iteration_of(const emulator::LogEntry& entry) const;
  /// Indices of an iteration's entries for which `is` holds.
  template <typename Is>
  std::vector<std::size_t> in_iteration(int iteration, Is is) const {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < entries().size(); ++i)
      if (iteration_of(entries()[i]) == iteration && is(entries()[i])) found.push_back(i);
    return found;
  }
};

/// Does the stream of entry `second` wait for an event of that of `first`, recorded before `first` was queued?
bool waits_too_early(const LogSeen& log, std::size_t first, std::size_t second);

/// The logs of a phase, of all ranks that showed one.
std::vector<LogSeen> logs_of(const Evidence& evidence, nccl_facts::Phase phase);

/// Of two operations that nothing orders: what they are, the one queued first first.
enum class Pair { gradients_exchange, exchange_update, loss_copy, copy_host, scaling, others };
Pair pair_of(const emulator::LogEntry& first, const emulator::LogEntry& second);

inline bool is_collective(const emulator::LogEntry& e) { return e.kind == emulator::OperationKind::collective; }
inline bool is_copy(const emulator::LogEntry& e) { return e.kind == emulator::OperationKind::copy; }
inline bool is_host_wait(const emulator::LogEntry& e) { return e.kind == emulator::OperationKind::host_wait; }
inline bool is_host_access(const emulator::LogEntry& e) { return e.kind == emulator::OperationKind::host_access; }
inline bool is_update(const emulator::LogEntry& e) { return nccl_timeline::is_kernel(e, "update"); }

}  // namespace odori::grader
