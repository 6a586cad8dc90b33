// SPDX-License-Identifier: Apache-2.0
// Defines streams, events and graphs as queues of closures, and the functions that queue and run them.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "backend/emulated/machine.h"
#include "backend/emulated/operation_recorder.h"

namespace odori::emulator {

using Work = std::function<void()>;

struct EventRecord;

/// An operation of a stream: work, or a wait for an event.
struct Operation {
  Work work;
  std::shared_ptr<EventRecord> awaited{};
  bool kernel = false;
  /// Starts a kernel with programmatic dependent launch before the previous kernel has ended, and returns the rest of
  /// its work, to run after that kernel. Empty work: the kernel has ended.
  std::function<Work()> begin{};
};

/// A stream capture in progress. Work queued on its streams is added to the graph and does not run.
struct Capture {
  cudaStream_t origin;
  bool global;  // cudaStreamCaptureModeGlobal
  bool invalidated = false;
  std::deque<Operation> operations{};
  cudaStream_t last{};                           // the last operation's stream
  LogEntry logged{};                             // the memory that the work reads and writes, and its seconds
  std::map<cudaStream_t, std::size_t> queued{};  // operations on each stream
  std::map<cudaStream_t, std::size_t> joined{};  // of these, how many another stream waits for
};

/// One recording of an event. Recording the event again creates another.
struct EventRecord {
  cudaStream_t stream;
  bool done = false;
  std::chrono::steady_clock::time_point time{};
  std::shared_ptr<Capture> capture{};  // null outside a capture
  std::size_t position = 0;            // in a capture: operations on the stream before it
  int logged = -1;                     // id of its log entry
};

}  // namespace odori::emulator

struct CUstream_st {
  int gpu;
  bool blocking;  // created without cudaStreamNonBlocking: synchronizes with the default stream
  int number;     // from 1, in order of creation
  std::deque<odori::emulator::Operation> operations{};
  std::shared_ptr<odori::emulator::Capture> capture{};
  bool after_kernel = false;  // what is queued next follows a kernel directly
};
struct CUevent_st {
  bool timed;
  std::shared_ptr<odori::emulator::EventRecord> record{};
};
struct CUgraph_st {
  std::deque<odori::emulator::Operation> operations;
  odori::emulator::LogEntry logged;
};
struct CUgraphExec_st {
  std::shared_ptr<const std::deque<odori::emulator::Operation>> operations;
  odori::emulator::LogEntry logged;
};

namespace odori::emulator {

/// Appends an operation to a stream, or to the graph that captures the stream. Then runs a random part, possibly none,
/// of what any stream has queued. enqueue() needs the mutex locked; queue() and queue_launch() lock it. enqueue() logs
/// `entry`, and stores its id in `logged` if that is not null.
cudaError_t enqueue(cudaStream_t stream, Operation operation, std::optional<LogEntry> entry = {},
                    int* logged = nullptr);
cudaError_t queue(cudaStream_t stream, Work work);
/// Queues a kernel. `begin`, if not empty: Operation::begin.
cudaError_t queue_launch(cudaStream_t stream, Work kernel, std::function<Work()> begin = {});

/// Runs the first operation, and what it waits for on other streams. Kernels after it that may begin early do so at
/// random, and are run as well.
void run_first(std::deque<Operation>& operations);
void run_next(cudaStream_t stream);
void run_all(cudaStream_t stream);
void run_until_done(const EventRecord& record);
constexpr int all_gpus = -1;
/// Runs everything queued on the streams of a GPU.
void run_gpu(int gpu);
/// Runs the streams of the current GPU that the default stream synchronizes with.
void run_blocking_streams();

/// Checks a call that waits for `stream`, or (null) that no thread may make during a capture. Returns cudaSuccess, or
/// invalidates the capture that forbids the call.
cudaError_t check_may_wait(cudaStream_t stream);

}  // namespace odori::emulator
