// SPDX-License-Identifier: Apache-2.0
// Defines the operation log of emulated GPUs: what a program queued, which operations are ordered, and when they run in
// virtual time. operation_recorder.h writes logs. This header needs neither CUDA nor emulated GPUs.
//
//   const OperationGraph graph(read_log({"rank0.jsonl", "rank1.jsonl"}));
//   for (const Conflict& c : graph.conflicts())
//     report("{} and {} are not ordered", graph.entries()[c.first].name, graph.entries()[c.second].name);
//
// Order. Operation a is ordered before b if a path of these edges leads from the end of a to the start of b:
// - Stream: an operation follows those queued before it on its stream.
// - Event: cudaStreamWaitEvent follows the cudaEventRecord that preceded the call. Without one it follows nothing.
// - Default stream: its operations follow those of its GPU's blocking streams, and the later ones of these follow it.
//   Streams created with cudaStreamNonBlocking take no part.
// - Host: what the host queues or accesses follows each wait of the host that has returned: cudaStreamSynchronize,
//   cudaEventSynchronize, cudaDeviceSynchronize, cudaFree, blocking copies, queries that returned cudaSuccess. A
//   cudaMemcpy between device memories and cudaMemset do not block the host.
// - Collective: the end of each member that receives follows the start of each member that sends, on all ranks.
// Everything else may run in any order in another run. The threads of a process count as one host: the log does not
// find races between them.
//
// A conflict: two operations of one process access overlapping memory, at least one writes, and neither is ordered
// first. The memory of copies, fills and collectives is known; annotate() gives that of kernels, log_host_access() that
// of the host. Within a captured graph no conflicts are found: its launch is one operation.
//
// Virtual time. Each operation starts when all that it follows has ended. Operations of different streams do not slow
// each other down, and queueing takes no time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace odori::emulator {

enum class OperationKind {
  kernel,
  copy,
  fill,  // cudaMemset
  collective,
  event_record,
  event_wait,  // cudaStreamWaitEvent
  graph_launch,
  host_function,  // cudaLaunchHostFunc
  host_wait,
  host_access,
  free,
};

/// Bytes of a process's memory.
struct MemoryRange {
  std::uintptr_t begin = 0, end = 0;
  MemoryRange() = default;
  MemoryRange(const void* memory, std::size_t bytes)
      : begin(reinterpret_cast<std::uintptr_t>(memory)), end(begin + bytes) {}
  bool operator==(const MemoryRange&) const = default;
};

/// The k-th collective of a communicator.
struct CollectiveId {
  std::string communicator;  // equal on all members, different for each communicator
  int number = 0;            // from 1
  int rank = 0, size = 0;    // of the communicator
  auto operator<=>(const CollectiveId&) const = default;
};

struct LogEntry {
  OperationKind kind{};
  std::string name{};  // of the kernel, or of the call
  std::vector<MemoryRange> reads{}, writes{};
  std::size_t bytes = 0;                     // copied, filled, or of a collective's buffer
  double seconds = 0;                        // duration; 0: bytes / bandwidth
  std::optional<CollectiveId> collective{};  // of kind collective
  int awaited = -1;                          // of kind event_wait: id of the event_record; -1: not recorded in this log
  // Set by the recorder.
  int rank = 0, thread = 0;  // thread: of the process, from 0, in order of their first operations
  int id = 0;                // of this process, from 0, in the order of queueing
  int gpu = -1;              // index in this process; -1: the host
  int stream = -1;           // see stream_number(); 0: the GPU's default stream; -1: the host
  int position = 0;          // on its stream, or in the host's order, from 0
  std::vector<int> after{};  // ids of this process that it directly follows
  bool operator==(const LogEntry&) const = default;
};

/// The missing synchronization of a conflict.
enum class Missing {
  event,         // one recorded after the first, which the second's stream waits for
  later_record,  // the second's stream waits for an event of the first's stream, recorded before the first was queued
  event_record,  // the second's stream waits for an event that had not been recorded
  host_wait,     // a wait of the host between the first and the second: one of them is the host's
};

/// Indices of two entries of one process, `first` queued earlier, and the first bytes that they share.
struct Conflict {
  std::size_t first, second;
  MemoryRange overlap;
  Missing missing;
};

/// Bytes per second. 0: takes no time.
struct Bandwidths {
  double copy = 0, fill = 0, collective = 0;
};

/// Seconds of virtual time. Of a collective: includes the wait for the other members.
struct Interval {
  double start = 0, end = 0;
};

class OperationGraph {
 public:
  /// `entries`: the logs of all processes, each complete. Throws Error if an entry follows an unknown one, or if the
  /// collectives wait for each other in a circle because ranks queued them in different orders.
  explicit OperationGraph(std::vector<LogEntry> entries);

  /// By rank, then in the order of queueing.
  const std::vector<LogEntry>& entries() const { return entries_; }
  /// True if entry `a` has ended before entry `b` starts, in every run.
  bool ordered(std::size_t a, std::size_t b) const;
  /// Returns all conflicts, by first and second.
  std::vector<Conflict> conflicts() const;
  /// Returns when each entry runs in virtual time.
  std::vector<Interval> timeline(const Bandwidths& bandwidths) const;

 private:
  // Each entry has two nodes, 2 * i for its start and 2 * i + 1 for its end.
  std::vector<LogEntry> entries_;                 // by rank and id
  std::vector<std::vector<std::size_t>> before_;  // direct predecessors of each node
  std::vector<std::size_t> order_;                // of the nodes: topological
  std::vector<std::size_t> chain_;                // of each entry: the stream or host that it belongs to
  std::vector<std::vector<int>> ended_;           // at each node: how many operations of each chain have ended

  void add_edges();
  void sort();
  void count_ended();
  Missing what_is_missing(const LogEntry& first, const LogEntry& second) const;
};

/// Converts an entry to and from one line of JSON.
std::string to_json(const LogEntry& entry);
LogEntry entry_from_json(const std::string& line);
/// Reads logs of several processes. Ignores an incomplete last line: the process may have been killed. Throws Error if
/// a file cannot be read or is no log.
std::vector<LogEntry> read_log(std::span<const std::filesystem::path> files);

}  // namespace odori::emulator
