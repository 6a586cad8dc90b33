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
  if (stream->capture) {
    ++stream->capture->queued[stream];
    if (operation.work) stream->capture->work.push_back(std::move(operation.work));
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

cudaError_t queue_launch(cudaStream_t stream, std::function<void(bool descending)> kernel) {
  const std::lock_guard lock(state().mutex);
  if (stream && state().streams.contains(stream) && stream->gpu != current_gpu())
    return set_last_error(cudaErrorInvalidResourceHandle);  // the stream must belong to the thread's current GPU
  if (stream && !stream->capture) ++state().counts.launches;
  return enqueue(stream, {[kernel = std::move(kernel)] { kernel(state().random() % 2 != 0); }},
                 LogEntry{.kind = OperationKind::kernel, .name = "kernel"});
}

void run_next(cudaStream_t stream) {
  const Operation operation = std::move(stream->operations.front());
  stream->operations.pop_front();
  run(operation);
}

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
