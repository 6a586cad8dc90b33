#include "backend/emulated/stream.h"

#include <algorithm>

namespace odori::emulator {
namespace {

thread_local std::weak_ptr<Capture> my_capture;  // the one that this thread began

/// Runs what is queued, at random: a third of the time nothing, a third of it one item, and so on.
void take_chances() {
  while (state().random() % 3 != 0) {
    std::vector<cudaStream_t> busy;
    for (const cudaStream_t stream : state().streams)
      if (!stream->items.empty()) busy.push_back(stream);
    if (busy.empty()) return;
    run_one(busy[state().random() % busy.size()]);
    if (state().random() % 2 == 0) return;
  }
}

cudaError_t new_stream(cudaStream_t* stream, unsigned int flags) {
  const std::lock_guard lock(state().mutex);
  if (check_machine() != cudaSuccess) return failed(check_machine());
  *stream = new CUstream_st{current_gpu(), !(flags & cudaStreamNonBlocking)};
  state().streams.insert(*stream);
  return cudaSuccess;
}

}  // namespace

cudaError_t queue_item(cudaStream_t stream, Item item) {
  if (!stream) complain("something is queued on the default stream, which other streams don't wait for.");
  if (!state().streams.contains(stream)) return failed(cudaErrorInvalidResourceHandle);
  if (stream->capture) {
    if (stream->capture->invalidated) return failed(cudaErrorStreamCaptureInvalidated);
    ++stream->capture->queued[stream];
    if (item.work) stream->capture->work.push_back(std::move(item.work));
    return cudaSuccess;
  }
  stream->items.push_back(std::move(item));
  take_chances();
  return cudaSuccess;
}

cudaError_t queue(cudaStream_t stream, Work work) {
  const std::lock_guard lock(state().mutex);
  return queue_item(stream, {std::move(work), nullptr});
}

cudaError_t queue_launch(cudaStream_t stream, std::function<void(bool backwards)> work) {
  const std::lock_guard lock(state().mutex);
  if (stream && state().streams.contains(stream) && stream->gpu != current_gpu())
    return failed(cudaErrorInvalidResourceHandle);  // its GPU has to be the thread's current one
  if (stream && !stream->capture) ++state().counts.launches;
  return queue_item(stream, {[work = std::move(work)] { work(state().random() % 2 != 0); }, nullptr});
}

void run_one(cudaStream_t stream) {
  const Item item = std::move(stream->items.front());
  stream->items.pop_front();
  if (item.awaited) run_until(*item.awaited);
  if (item.work) item.work();
}

void run_all(cudaStream_t stream) {
  while (!stream->items.empty()) run_one(stream);
}

void run_until(const Record& record) {
  while (!record.done) run_one(record.stream);
}

void run_everything(int gpu) {
  for (const cudaStream_t stream : state().streams)
    if (gpu < 0 || stream->gpu == gpu) run_all(stream);
}

void run_before_default() {
  for (const cudaStream_t stream : state().streams)
    if (stream->gpu == current_gpu() && stream->waits_for_default) run_all(stream);
}

cudaError_t check_waiting(cudaStream_t stream) {
  std::shared_ptr<Capture> broken = stream ? stream->capture : my_capture.lock();
  if (!broken)
    for (const cudaStream_t other : state().streams)
      if (!stream && other->capture && !other->capture->for_this_thread_alone) broken = other->capture;
  if (!broken) return cudaSuccess;
  broken->invalidated = true;
  return failed(cudaErrorStreamCaptureUnsupported);
}

}  // namespace odori::emulator

using namespace odori::emulator;

extern "C" {

// ---- Streams

cudaError_t cudaStreamCreate(cudaStream_t* stream) { return new_stream(stream, cudaStreamDefault); }
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned int flags) { return new_stream(stream, flags); }
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned int flags, int) {
  return new_stream(stream, flags);
}
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  *least = 0, *greatest = -5;
  return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  const std::lock_guard lock(state().mutex);
  if (!state().streams.contains(stream)) return failed(cudaErrorInvalidResourceHandle);
  run_all(stream);
  state().streams.erase(stream);
  delete stream;
  return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  const std::lock_guard lock(state().mutex);
  if (!state().streams.contains(stream)) return failed(cudaErrorInvalidResourceHandle);
  if (check_waiting(stream) != cudaSuccess) return cudaErrorStreamCaptureUnsupported;
  ++state().counts.waits;
  run_all(stream);
  check_guards();
  return cudaSuccess;
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
  const std::lock_guard lock(state().mutex);
  if (!state().streams.contains(stream)) return failed(cudaErrorInvalidResourceHandle);
  if (check_waiting(stream) != cudaSuccess) return cudaErrorStreamCaptureUnsupported;
  if (stream->items.empty()) return cudaSuccess;
  run_one(stream);
  return cudaErrorNotReady;
}

cudaError_t cudaDeviceSynchronize() {
  const std::lock_guard lock(state().mutex);
  if (check_machine() != cudaSuccess) return failed(check_machine());
  if (check_waiting(nullptr) != cudaSuccess) return cudaErrorStreamCaptureUnsupported;
  ++state().counts.waits;
  run_everything(current_gpu());
  check_guards();
  return cudaSuccess;
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t work, void* argument) {
  return queue(stream, [=] { work(argument); });
}

// ---- Events

cudaError_t cudaEventCreate(cudaEvent_t* event) { return cudaEventCreateWithFlags(event, cudaEventDefault); }
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int flags) {
  if (check_machine() != cudaSuccess) return failed(check_machine());
  *event = new CUevent_st{!(flags & cudaEventDisableTiming)};
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete event;
  return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  const std::lock_guard lock(state().mutex);
  const auto record = std::make_shared<Record>();
  record->stream = stream;
  event->record = record;
  if (stream && stream->capture) {
    record->capture = stream->capture;
    record->position = stream->capture->queued[stream];
    return cudaSuccess;
  }
  return queue_item(stream, {[record] { record->done = true, record->when = std::chrono::steady_clock::now(); }, {}});
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int) {
  const std::lock_guard lock(state().mutex);
  const std::shared_ptr<Record> record = event->record;
  if (!record) return cudaSuccess;
  if (record->capture) {
    if (stream->capture && stream->capture != record->capture) return failed(cudaErrorStreamCaptureUnsupported);
    stream->capture = record->capture;  // from now on it is recorded too
    std::size_t& joined = record->capture->joined[record->stream];
    joined = std::max(joined, record->position);
    return cudaSuccess;
  }
  if (stream && stream->capture) return failed(cudaErrorStreamCaptureUnsupported);  // the graph would not wait again
  return queue_item(stream, {nullptr, record});
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  const std::lock_guard lock(state().mutex);
  if (!event->record) return cudaSuccess;
  if (event->record->capture) return failed(cudaErrorStreamCaptureUnsupported);
  ++state().counts.waits;
  run_until(*event->record);
  return cudaSuccess;
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  const std::lock_guard lock(state().mutex);
  if (!event->record || event->record->done) return cudaSuccess;
  if (event->record->capture) return failed(cudaErrorStreamCaptureUnsupported);
  run_one(event->record->stream);
  return cudaErrorNotReady;
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end) {
  const std::lock_guard lock(state().mutex);
  if (!begin->timed || !end->timed || !begin->record || !end->record) return failed(cudaErrorInvalidResourceHandle);
  if (!begin->record->done || !end->record->done) return failed(cudaErrorNotReady);
  *milliseconds = std::chrono::duration<float, std::milli>(end->record->when - begin->record->when).count();
  return cudaSuccess;
}

// ---- Graphs

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  const std::lock_guard lock(state().mutex);
  if (!state().streams.contains(stream)) return failed(cudaErrorInvalidResourceHandle);
  if (stream->capture) return failed(cudaErrorStreamCaptureUnsupported);
  stream->capture = std::make_shared<Capture>();
  stream->capture->origin = stream;
  stream->capture->for_this_thread_alone = mode != cudaStreamCaptureModeGlobal;
  if (mode != cudaStreamCaptureModeRelaxed) my_capture = stream->capture;
  return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  const std::lock_guard lock(state().mutex);
  *graph = nullptr;
  const std::shared_ptr<Capture> capture = stream->capture;
  if (!capture || capture->origin != stream) return failed(cudaErrorInvalidValue);
  bool unjoined = false;
  for (const cudaStream_t other : state().streams) {
    if (other->capture != capture) continue;
    other->capture = nullptr;
    unjoined = unjoined || (other != stream && capture->queued[other] > capture->joined[other]);
  }
  my_capture.reset();
  if (capture->invalidated) return failed(cudaErrorStreamCaptureInvalidated);
  if (unjoined) return failed(cudaErrorStreamCaptureUnjoined);
  *graph = new CUgraph_st{std::move(capture->work)};
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
  *executable = new CUgraphExec_st{std::make_shared<const std::vector<Work>>(graph->work)};
  return cudaSuccess;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
  const std::lock_guard lock(state().mutex);
  ++state().counts.graphs;
  return queue_item(stream, {[all = executable->work] {
                               for (const Work& work : *all) work();
                             },
                             nullptr});
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
