// SPDX-License-Identifier: Apache-2.0
// Implements the order of logged operations by vector clocks, conflicts, virtual time, and JSON.
#include "backend/emulated/operation_log.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>

#include "errors/error.h"
#include "files/json.h"

namespace odori::emulator {
namespace {

constexpr std::size_t start_of(std::size_t entry) { return 2 * entry; }
constexpr std::size_t end_of(std::size_t entry) { return 2 * entry + 1; }

bool of_host(const LogEntry& entry) { return entry.stream < 0; }

/// Returns the first bytes that a range of `a` and one of `b` share, if any.
std::optional<MemoryRange> overlap(std::span<const MemoryRange> a, std::span<const MemoryRange> b) {
  for (const MemoryRange& x : a)
    for (const MemoryRange& y : b) {
      MemoryRange shared;
      shared.begin = std::max(x.begin, y.begin), shared.end = std::min(x.end, y.end);
      if (shared.begin < shared.end) return shared;
    }
  return std::nullopt;
}

std::optional<MemoryRange> conflicting_bytes(const LogEntry& a, const LogEntry& b) {
  if (const auto shared = overlap(a.writes, b.reads)) return shared;
  if (const auto shared = overlap(a.writes, b.writes)) return shared;
  return overlap(a.reads, b.writes);
}

double duration(const LogEntry& entry, const Bandwidths& bandwidths) {
  if (entry.seconds > 0) return entry.seconds;
  const double bytes_per_second = entry.kind == OperationKind::copy         ? bandwidths.copy
                                  : entry.kind == OperationKind::fill       ? bandwidths.fill
                                  : entry.kind == OperationKind::collective ? bandwidths.collective
                                                                            : 0;
  return bytes_per_second > 0 ? static_cast<double>(entry.bytes) / bytes_per_second : 0;
}

}  // namespace

OperationGraph::OperationGraph(std::vector<LogEntry> entries) : entries_(std::move(entries)) {
  std::sort(entries_.begin(), entries_.end(),
            [](const LogEntry& a, const LogEntry& b) { return std::tie(a.rank, a.id) < std::tie(b.rank, b.id); });
  add_edges();
  sort();
  count_ended();
}

void OperationGraph::add_edges() {
  before_.resize(2 * entries_.size());
  std::map<std::pair<int, int>, std::size_t> of_id;  // by rank and id
  std::map<std::pair<std::string, int>, std::vector<std::size_t>> collectives;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const LogEntry& entry = entries_[i];
    for (const int id : entry.after) {
      const auto found = of_id.find({entry.rank, id});
      require(found != of_id.end(), "Entry {} of rank {} follows entry {}, which the log does not hold before it.",
              entry.id, entry.rank, id);
      before_[start_of(i)].push_back(end_of(found->second));
    }
    before_[end_of(i)].push_back(start_of(i));
    require(of_id.emplace(std::pair(entry.rank, entry.id), i).second, "Two entries of rank {} have the id {}.",
            entry.rank, entry.id);
    if (entry.collective) collectives[{entry.collective->communicator, entry.collective->number}].push_back(i);
  }
  for (const auto& [id, members] : collectives)
    for (const std::size_t sender : members)
      for (const std::size_t receiver : members)
        if (sender != receiver && !entries_[sender].reads.empty() && !entries_[receiver].writes.empty())
          before_[end_of(receiver)].push_back(start_of(sender));
}

void OperationGraph::sort() {
  std::vector<std::vector<std::size_t>> next(before_.size());
  std::vector<std::size_t> awaited(before_.size());
  for (std::size_t node = 0; node < before_.size(); ++node) {
    awaited[node] = before_[node].size();
    if (before_[node].empty()) order_.push_back(node);
    for (const std::size_t earlier : before_[node]) next[earlier].push_back(node);
  }
  for (std::size_t i = 0; i < order_.size(); ++i)
    for (const std::size_t node : next[order_[i]])
      if (--awaited[node] == 0) order_.push_back(node);
  for (std::size_t i = 0; i < entries_.size(); ++i)
    require(
        awaited[end_of(i)] == 0 || !entries_[i].collective,
        "The collectives wait for each other in a circle: {} of rank {} (its collective {}) never ends. All ranks must "
        "queue the collectives of a stream in the same order.",
        entries_[i].name, entries_[i].rank, entries_[i].collective ? entries_[i].collective->number : 0);
}

void OperationGraph::count_ended() {
  std::map<std::tuple<int, int, int>, std::size_t> chains;  // by rank, GPU and stream
  for (const LogEntry& e : entries_)
    chain_.push_back(chains.emplace(std::tuple(e.rank, e.gpu, e.stream), chains.size()).first->second);
  ended_.assign(before_.size(), std::vector<int>(chains.size()));
  for (const std::size_t node : order_) {
    std::vector<int>& counts = ended_[node];
    for (const std::size_t earlier : before_[node])
      for (std::size_t chain = 0; chain < counts.size(); ++chain)
        counts[chain] = std::max(counts[chain], ended_[earlier][chain]);
    const std::size_t entry = node / 2;
    if (node == end_of(entry)) counts[chain_[entry]] = entries_[entry].position + 1;
  }
}

bool OperationGraph::ordered(std::size_t a, std::size_t b) const {
  return ended_[start_of(b)][chain_[a]] > entries_[a].position;
}

Missing OperationGraph::what_is_missing(const LogEntry& first, const LogEntry& second) const {
  if (of_host(first) || of_host(second)) return Missing::host_wait;
  Missing missing = Missing::event;
  for (const LogEntry& wait : entries_) {
    if (wait.kind != OperationKind::event_wait || wait.rank != second.rank || wait.gpu != second.gpu ||
        wait.stream != second.stream || wait.id > second.id)
      continue;
    if (wait.awaited < 0) {
      if (wait.id > first.id) missing = Missing::event_record;
      continue;
    }
    const auto record =
        std::lower_bound(entries_.begin(), entries_.end(), std::pair(wait.rank, wait.awaited),
                         [](const LogEntry& e, const std::pair<int, int>& id) { return std::pair(e.rank, e.id) < id; });
    if (wait.id > first.id && record->gpu == first.gpu && record->stream == first.stream && record->id < first.id)
      return Missing::later_record;
  }
  return missing;
}

std::vector<Conflict> OperationGraph::conflicts() const {
  std::vector<Conflict> found;
  for (std::size_t first = 0; first < entries_.size(); ++first)
    for (std::size_t second = first + 1; second < entries_.size() && entries_[second].rank == entries_[first].rank;
         ++second)
      if (const auto shared = conflicting_bytes(entries_[first], entries_[second]);
          shared && !ordered(first, second) && !ordered(second, first))
        found.push_back({first, second, *shared, what_is_missing(entries_[first], entries_[second])});
  return found;
}

std::vector<Interval> OperationGraph::timeline(const Bandwidths& bandwidths) const {
  std::vector<double> times(before_.size());
  std::vector<Interval> intervals(entries_.size());
  for (const std::size_t node : order_) {
    for (const std::size_t earlier : before_[node]) times[node] = std::max(times[node], times[earlier]);
    const std::size_t entry = node / 2;
    if (node == end_of(entry)) {
      times[node] += duration(entries_[entry], bandwidths);
      intervals[entry] = {times[start_of(entry)], times[node]};
    }
  }
  return intervals;
}

// ---- JSON

namespace {

constexpr std::array kinds = {"kernel",       "copy",          "fill",      "collective",  "event_record", "event_wait",
                              "graph_launch", "host_function", "host_wait", "host_access", "free"};

}  // namespace

void to_json(nlohmann::json& json, const MemoryRange& range) { json = {range.begin, range.end}; }
void from_json(const nlohmann::json& json, MemoryRange& range) {
  json.at(0).get_to(range.begin), json.at(1).get_to(range.end);
}
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CollectiveId, communicator, number, rank, size)
// All but the kind and the collective.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LogEntry, name, rank, thread, id, gpu, stream, position, after, awaited, reads,
                                   writes, bytes, seconds)

std::string to_json(const LogEntry& e) {
  nlohmann::json json = e;
  json["kind"] = kinds.at(static_cast<std::size_t>(e.kind));
  if (e.collective) json["collective"] = *e.collective;
  return json_text(json, -1, NotUtf8::replaced);
}

LogEntry entry_from_json(const std::string& line) try {
  const nlohmann::json json = parse_json(line);
  auto e = json.get<LogEntry>();
  const auto kind = std::find(kinds.begin(), kinds.end(), json.at("kind").get<std::string>());
  require(kind != kinds.end(), "An operation log has an entry of the unknown kind {}.", json_text(json.at("kind")));
  e.kind = static_cast<OperationKind>(kind - kinds.begin());
  if (json.contains("collective")) e.collective = json.at("collective").get<CollectiveId>();
  return e;
} catch (const nlohmann::json::exception& error) {
  fail("This is no entry of an operation log: {} ({})", line, error.what());
}

std::vector<LogEntry> read_log(std::span<const std::filesystem::path> files) {
  std::vector<LogEntry> entries;
  for (const std::filesystem::path& path : files) {
    std::ifstream file(path);
    require(file.is_open(), "The operation log {} cannot be opened.", path.string());
    for (std::string line; std::getline(file, line) && !file.eof();) entries.push_back(entry_from_json(line));
  }
  return entries;
}

}  // namespace odori::emulator
