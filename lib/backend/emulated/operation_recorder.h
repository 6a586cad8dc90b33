// SPDX-License-Identifier: Apache-2.0
// Records the operation log (operation_log.h) of this process. Off until start_log(). While it is on, the default
// stream can be used: its operations run when they are queued. Otherwise queueing on it ends the program.
#pragma once

#include <cuda_runtime_api.h>

#include "backend/emulated/operation_log.h"

namespace odori::emulator {

/// Starts a new log. With `file`, each entry is also appended to this file when it is queued, so that the log of a
/// process that hangs or crashes can be read. Throws Error if the file cannot be created.
void start_log(int rank = 0, const std::filesystem::path& file = {});
/// Ends the log and returns its entries. Without a log: none.
std::vector<LogEntry> stop_log();

/// Describes the next operation that this thread queues, usually a kernel. Empty fields and zeros change nothing.
struct Annotation {
  std::string name{};
  std::vector<MemoryRange> reads{}, writes{};
  double seconds = 0;
};
/// Does nothing while the log is off.
void annotate(Annotation annotation);
/// Logs that the host reads and writes memory now, such as pinned memory that copies use.
void log_host_access(Annotation access);

/// Returns the stream's number in the log: 1 for the first that this process created. 0: the default stream.
int stream_number(cudaStream_t stream);

// ---- For the emulator. All need the machine's mutex locked.

bool logging();
/// Adds an entry that is queued on `stream`, or, if the stream is captured, adds its memory to the graph's. Applies the
/// thread's annotation. Returns the entry's id; -1 while the log is off, and in a capture.
int log_queued(cudaStream_t stream, LogEntry entry);
/// Adds an entry of the host, which follows those with the ids `after`.
void log_on_host(LogEntry entry, std::vector<int> after);
/// Adds a wait of the host for a stream. Null: for the current GPU's default stream, and its blocking streams.
void log_stream_wait(const char* call, cudaStream_t stream);
/// Adds a wait of the host for all streams of a GPU, or of all GPUs (-1). `freed`: memory that the call frees.
void log_gpu_wait(const char* call, int gpu, std::vector<MemoryRange> freed = {});

/// While it exists, this thread's calls are not logged: the emulator itself makes them.
class LogPause {
 public:
  LogPause();
  ~LogPause();
  LogPause(const LogPause&) = delete;
  LogPause& operator=(const LogPause&) = delete;
};

}  // namespace odori::emulator
