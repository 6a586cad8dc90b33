// SPDX-License-Identifier: Apache-2.0
// Implements the recording of operations: each entry names the entries that it directly follows.
#include "backend/emulated/operation_recorder.h"

#include <fstream>
#include <map>
#include <thread>
#include <utility>

#include "backend/emulated/stream.h"
#include "errors/error.h"

namespace odori::emulator {
namespace {

/// The last operation of a stream, and how many it has had.
struct Last {
  int id;
  int operations;
  bool blocking;
};

/// Ids count on from one log to the next, so that an event recorded before start_log() is recognised.
struct Recorder {
  bool on = false;
  int rank = 0, first_id = 0, next_id = 0;
  std::vector<LogEntry> entries{};
  std::ofstream file{};
  std::map<std::pair<int, int>, Last> last{};  // by GPU and stream; -1, -1: the host
  std::map<std::thread::id, int> threads{};
};
Recorder& recorder() {
  static Recorder instance;
  return instance;
}

thread_local int pauses = 0;
thread_local Annotation annotation;

const std::pair host{-1, -1};

std::pair<int, int> key_of(cudaStream_t stream) {
  return {stream ? stream->gpu : current_gpu(), stream ? stream->number : 0};
}

int last_of(const std::pair<int, int>& key) {
  const auto found = recorder().last.find(key);
  return found == recorder().last.end() ? -1 : found->second.id;
}

void add_blocking_streams(int gpu, std::vector<int>& after) {
  for (const auto& [key, last] : recorder().last)
    if (key.first == gpu && last.blocking) after.push_back(last.id);
}

void apply_annotation(LogEntry& entry) {
  Annotation given = std::exchange(annotation, {});
  if (!given.name.empty()) entry.name = std::move(given.name);
  entry.reads.insert(entry.reads.end(), given.reads.begin(), given.reads.end());
  entry.writes.insert(entry.writes.end(), given.writes.begin(), given.writes.end());
  if (given.seconds > 0) entry.seconds = given.seconds;
}

/// Adds an entry after the last one of its stream or the host, the host's last one, and those of `after`. Returns its
/// id.
int append(const std::pair<int, int>& key, bool blocking, LogEntry entry, std::vector<int> after) {
  Recorder& r = recorder();
  const int id = r.next_id++;
  after.push_back(last_of(key)), after.push_back(last_of(host));
  for (const int earlier : std::set(after.begin(), after.end()))
    if (earlier >= r.first_id) entry.after.push_back(earlier - r.first_id);
  entry.awaited = entry.awaited >= r.first_id ? entry.awaited - r.first_id : -1;
  Last& last = r.last.emplace(key, Last{id, 0, blocking}).first->second;
  entry.position = last.operations++;
  last.id = id;
  entry.rank = r.rank, entry.id = id - r.first_id;
  entry.thread = r.threads.emplace(std::this_thread::get_id(), static_cast<int>(r.threads.size())).first->second;
  std::tie(entry.gpu, entry.stream) = key;
  if (r.file.is_open()) r.file << to_json(entry) + '\n' << std::flush;
  r.entries.push_back(std::move(entry));
  return id;
}

}  // namespace

void start_log(int rank, const std::filesystem::path& file) {
  const std::lock_guard lock(state().mutex);
  Recorder& r = recorder();
  r = {.on = true, .rank = rank, .first_id = r.next_id, .next_id = r.next_id};
  if (file.empty()) return;
  r.file.open(file, std::ios::trunc);
  require(r.file.is_open(), "The operation log {} cannot be created.", file.string());
}

std::vector<LogEntry> stop_log() {
  const std::lock_guard lock(state().mutex);
  Recorder& r = recorder();
  r.on = false;
  r.file.close();
  return std::exchange(r.entries, {});
}

void annotate(Annotation next) {
  const std::lock_guard lock(state().mutex);
  if (logging()) annotation = std::move(next);
}

void log_host_access(Annotation access) {
  const std::lock_guard lock(state().mutex);
  log_on_host({.kind = OperationKind::host_access,
               .name = std::move(access.name),
               .reads = std::move(access.reads),
               .writes = std::move(access.writes),
               .seconds = access.seconds},
              {});
}

int stream_number(cudaStream_t stream) { return stream ? stream->number : 0; }

bool logging() { return recorder().on && pauses == 0; }

int log_queued(cudaStream_t stream, LogEntry entry) {
  if (!logging() || (stream && !state().streams.contains(stream))) return -1;
  apply_annotation(entry);
  if (stream && stream->capture) {
    LogEntry& graph = stream->capture->logged;
    graph.reads.insert(graph.reads.end(), entry.reads.begin(), entry.reads.end());
    graph.writes.insert(graph.writes.end(), entry.writes.begin(), entry.writes.end());
    graph.seconds += entry.seconds;
    return -1;
  }
  const auto key = key_of(stream);
  std::vector<int> after = {entry.awaited};
  if (!stream) add_blocking_streams(key.first, after);
  if (stream && stream->blocking) after.push_back(last_of({key.first, 0}));
  return append(key, stream && stream->blocking, std::move(entry), std::move(after));
}

void log_on_host(LogEntry entry, std::vector<int> after) {
  if (logging()) append(host, false, std::move(entry), std::move(after));
}

void log_stream_wait(const char* call, cudaStream_t stream) {
  std::vector<int> after = {last_of(key_of(stream))};
  if (!stream) add_blocking_streams(current_gpu(), after);
  log_on_host({.kind = OperationKind::host_wait, .name = call}, std::move(after));
}

void log_gpu_wait(const char* call, int gpu, std::vector<MemoryRange> freed) {
  std::vector<int> after;
  for (const auto& [key, last] : recorder().last)
    if (gpu == all_gpus || key.first == gpu) after.push_back(last.id);
  log_on_host({.kind = freed.empty() ? OperationKind::host_wait : OperationKind::free,
               .name = call,
               .writes = std::move(freed)},
              std::move(after));
}

LogPause::LogPause() { ++pauses; }
LogPause::~LogPause() { --pauses; }

}  // namespace odori::emulator
