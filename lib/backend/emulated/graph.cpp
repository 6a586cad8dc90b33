// SPDX-License-Identifier: Apache-2.0
// Implements stream capture and graphs. A graph repeats the arguments it was captured with.
#include "backend/emulated/stream.h"

namespace odori::emulator {
namespace {

thread_local std::weak_ptr<Capture> capture_of_thread;  // begun by this thread, unless in relaxed mode

}  // namespace

cudaError_t check_may_wait(cudaStream_t stream) {
  std::shared_ptr<Capture> forbidding = stream ? stream->capture : capture_of_thread.lock();
  if (!forbidding)
    for (const cudaStream_t other : state().streams)
      if (!stream && other->capture && other->capture->global) forbidding = other->capture;
  if (!forbidding) return cudaSuccess;
  forbidding->invalidated = true;
  return set_last_error(cudaErrorStreamCaptureUnsupported);
}

}  // namespace odori::emulator

using namespace odori::emulator;

extern "C" {

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  const std::lock_guard lock(state().mutex);
  if (!state().streams.contains(stream)) return set_last_error(cudaErrorInvalidResourceHandle);
  if (stream->capture) return set_last_error(cudaErrorStreamCaptureUnsupported);
  stream->capture = std::make_shared<Capture>(stream, mode == cudaStreamCaptureModeGlobal);
  stream->after_kernel = false;
  if (mode != cudaStreamCaptureModeRelaxed) capture_of_thread = stream->capture;
  return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  const std::lock_guard lock(state().mutex);
  *graph = nullptr;
  const std::shared_ptr<Capture> capture = stream->capture;
  if (!capture || capture->origin != stream) return set_last_error(cudaErrorInvalidValue);
  bool unjoined = false;
  for (const cudaStream_t other : state().streams) {
    if (other->capture != capture) continue;
    other->capture = nullptr;
    other->after_kernel = false;
    unjoined = unjoined || (other != stream && capture->queued[other] > capture->joined[other]);
  }
  capture_of_thread.reset();
  if (capture->invalidated) return set_last_error(cudaErrorStreamCaptureInvalidated);
  if (unjoined) return set_last_error(cudaErrorStreamCaptureUnjoined);
  *graph = new CUgraph_st{std::move(capture->operations), std::move(capture->logged)};
  return cudaSuccess;
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  const std::lock_guard lock(state().mutex);
  *status = !stream || !stream->capture    ? cudaStreamCaptureStatusNone
            : stream->capture->invalidated ? cudaStreamCaptureStatusInvalidated
                                           : cudaStreamCaptureStatusActive;
  return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long) {
  *executable = new CUgraphExec_st{std::make_shared<const std::deque<Operation>>(graph->operations), graph->logged};
  return cudaSuccess;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
  const std::lock_guard lock(state().mutex);
  ++state().counts.graphs;
  LogEntry entry = executable->logged;
  entry.kind = OperationKind::graph_launch, entry.name = "cudaGraphLaunch";
  return enqueue(stream, {[all = executable->operations] {
                   std::deque<Operation> operations = *all;
                   while (!operations.empty()) run_first(operations);
                 }},
                 std::move(entry));
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete graph;
  return cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  delete executable;
  return cudaSuccess;
}
}
