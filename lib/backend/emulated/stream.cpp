// SPDX-License-Identifier: Apache-2.0
// Implements streams: queues that run when a call waits for them, or at random before.
#include "backend/emulated/stream.h"

#include "backend/emulated/machine.h"

namespace odori::emulator {
namespace {

void run(const Operation& operation) {
  if (operation.awaited) run_until_done(*operation.awaited);
  if (operation.work) operation.work();
}

/// Begins kernels that may begin before the one before them has ended, or lets it be, at random. Returns what is left
/// of the last of them. One that has ended without a wait for the kernel before lets the next one run, although that
/// kernel has not ended: as on a GPU, a kernel waits for the one directly before it alone.
Work begin_some(std::deque<Operation>& operations) {
  bool ended = false;
  while (!operations.empty() && operations.front().begin && state().random() % 3 == 0) {
    const Operation next = std::move(operations.front());
    operations.pop_front();
    ++state().counts.begun_early;
    if (ended)
      next.work();
    else if (Work rest = next.begin())
      return rest;
    ended = true;
  }
  return {};
}

/// Runs operations of random streams: none with probability 1/3, exactly one with probability 1/3, and so on.
void run_some() {
  while (state().random() % 3 != 0) {
    std::vector<cudaStream_t> busy;
    for (const cudaStream_t stream : state().streams)
      if (!stream->operations.empty()) busy.push_back(stream);
    if (busy.empty()) return;
    run_next(busy[state().random() % busy.size()]);
    if (state().random() % 2 == 0) return;
  }
}

}  // namespace

cudaError_t enqueue(cudaStream_t stream, Operation operation, std::optional<LogEntry> entry, int* logged) {
  if (!stream && !logging()) fatal("work is queued on the default stream, which non-blocking streams do not wait for.");
  if (stream && !state().streams.contains(stream)) return set_last_error(cudaErrorInvalidResourceHandle);
  if (stream && stream->capture && stream->capture->invalidated)
    return set_last_error(cudaErrorStreamCaptureInvalidated);
  if (entry) {
    const int id = log_queued(stream, std::move(*entry));
    if (logged) *logged = id;
  }
  if (!stream) {
    run_blocking_streams();
    run(operation);
    return cudaSuccess;
  }
  if (!stream->after_kernel || (stream->capture && stream->capture->last != stream)) operation.begin = nullptr;
  stream->after_kernel = operation.kernel;
  if (stream->capture) {
    ++stream->capture->queued[stream];
    stream->capture->last = stream;
    if (operation.work) stream->capture->operations.push_back(std::move(operation));
    return cudaSuccess;
  }
  stream->operations.push_back(std::move(operation));
  run_some();
  return cudaSuccess;
}

cudaError_t queue(cudaStream_t stream, Work work) {
  const std::lock_guard lock(state().mutex);
  return enqueue(stream, {std::move(work)});
}

cudaError_t queue_launch(cudaStream_t stream, Work kernel, std::function<Work()> begin) {
  const std::lock_guard lock(state().mutex);
  if (stream && state().streams.contains(stream) && stream->gpu != current_gpu())
    return set_last_error(cudaErrorInvalidResourceHandle);  // the stream must belong to the thread's current GPU
  if (stream && !stream->capture) ++state().counts.launches;
  if (begin) ++state().counts.dependent_launches;
  return enqueue(stream, {std::move(kernel), {}, true, std::move(begin)},
                 LogEntry{.kind = OperationKind::kernel, .name = "kernel"});
}

void run_first(std::deque<Operation>& operations) {
  Operation operation = std::move(operations.front());
  operations.pop_front();
  while (operation.work || operation.awaited) {
    Work rest = begin_some(operations);
    run(operation);
    operation = {std::move(rest)};
  }
}

void run_next(cudaStream_t stream) { run_first(stream->operations); }

void run_all(cudaStream_t stream) {
  while (!stream->operations.empty()) run_next(stream);
}

void run_until_done(const EventRecord& record) {
  while (!record.done) run_next(record.stream);
}

void run_gpu(int gpu) {
  for (const cudaStream_t stream : state().streams)
    if (gpu == all_gpus || stream->gpu == gpu) run_all(stream);
}

void run_blocking_streams() {
  for (const cudaStream_t stream : state().streams)
    if (stream->gpu == current_gpu() && stream->blocking) run_all(stream);
}

}  // namespace odori::emulator

using namespace odori::emulator;

extern "C" {

cudaError_t cudaStreamCreate(cudaStream_t* stream) { return cudaStreamCreateWithFlags(stream, cudaStreamDefault); }
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned int flags) {
  const std::lock_guard lock(state().mutex);
  if (check_machine() != cudaSuccess) return set_last_error(check_machine());
  static int created = 0;
  *stream = new CUstream_st{current_gpu(), !(flags & cudaStreamNonBlocking), ++created};
  state().streams.insert(*stream);
  return cudaSuccess;
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned int flags, int) {
  return cudaStreamCreateWithFlags(stream, flags);
}
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  *least = 0, *greatest = -5;
  return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  const std::lock_guard lock(state().mutex);
  if (!state().streams.contains(stream)) return set_last_error(cudaErrorInvalidResourceHandle);
  run_all(stream);
  state().streams.erase(stream);
  delete stream;
  return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  const std::lock_guard lock(state().mutex);
  const bool of_default = !stream && logging();
  if (!of_default && !state().streams.contains(stream)) return set_last_error(cudaErrorInvalidResourceHandle);
  if (check_may_wait(stream) != cudaSuccess) return cudaErrorStreamCaptureUnsupported;
  ++state().counts.waits;
  log_stream_wait("cudaStreamSynchronize", stream);
  if (of_default)
    run_blocking_streams();
  else
    run_all(stream);
  check_guards();
  return cudaSuccess;
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
  const std::lock_guard lock(state().mutex);
  if (!state().streams.contains(stream)) return set_last_error(cudaErrorInvalidResourceHandle);
  if (check_may_wait(stream) != cudaSuccess) return cudaErrorStreamCaptureUnsupported;
  if (stream->operations.empty()) {
    log_stream_wait("cudaStreamQuery", stream);
    return cudaSuccess;
  }
  run_next(stream);
  return cudaErrorNotReady;
}

cudaError_t cudaDeviceSynchronize() {
  const std::lock_guard lock(state().mutex);
  if (check_machine() != cudaSuccess) return set_last_error(check_machine());
  if (check_may_wait(nullptr) != cudaSuccess) return cudaErrorStreamCaptureUnsupported;
  ++state().counts.waits;
  log_gpu_wait("cudaDeviceSynchronize", current_gpu());
  run_gpu(current_gpu());
  check_guards();
  return cudaSuccess;
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* argument) {
  const std::lock_guard lock(state().mutex);
  return enqueue(stream, {[=] { function(argument); }},
                 LogEntry{.kind = OperationKind::host_function, .name = "cudaLaunchHostFunc"});
}
}
