// SPDX-License-Identifier: Apache-2.0
// Implements events.
#include <algorithm>

#include "backend/emulated/stream.h"

namespace odori::emulator {
namespace {

LogEntry wait_for(int record) {
  return {.kind = OperationKind::event_wait, .name = "cudaStreamWaitEvent", .awaited = record};
}
void log_event_wait(const char* call, const EventRecord& record) {
  log_on_host({.kind = OperationKind::host_wait, .name = call}, {record.logged});
}

}  // namespace
}  // namespace odori::emulator

using namespace odori::emulator;

extern "C" {

cudaError_t cudaEventCreate(cudaEvent_t* event) { return cudaEventCreateWithFlags(event, cudaEventDefault); }
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int flags) {
  if (check_machine() != cudaSuccess) return set_last_error(check_machine());
  *event = new CUevent_st{!(flags & cudaEventDisableTiming)};
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete event;
  return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  const std::lock_guard lock(state().mutex);
  const auto record = std::make_shared<EventRecord>();
  record->stream = stream;
  event->record = record;
  if (stream && stream->capture) {
    record->capture = stream->capture;
    record->position = stream->capture->queued[stream];
    return cudaSuccess;
  }
  return enqueue(stream, {[record] { record->done = true, record->time = std::chrono::steady_clock::now(); }},
                 LogEntry{.kind = OperationKind::event_record, .name = "cudaEventRecord"}, &record->logged);
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int) {
  const std::lock_guard lock(state().mutex);
  const std::shared_ptr<EventRecord> record = event->record;
  if (!record) {
    log_queued(stream, wait_for(-1));
    return cudaSuccess;
  }
  if (record->capture) {
    if (stream->capture && stream->capture != record->capture) return set_last_error(cudaErrorStreamCaptureUnsupported);
    stream->capture = record->capture;  // the stream joins the capture
    stream->after_kernel = false;
    std::size_t& joined = record->capture->joined[record->stream];
    joined = std::max(joined, record->position);
    return cudaSuccess;
  }
  // A graph cannot wait for an event outside its capture: it would wait at the first launch only.
  if (stream && stream->capture) return set_last_error(cudaErrorStreamCaptureUnsupported);
  return enqueue(stream, {nullptr, record}, wait_for(record->logged));
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  const std::lock_guard lock(state().mutex);
  if (!event->record) return cudaSuccess;
  if (event->record->capture) return set_last_error(cudaErrorStreamCaptureUnsupported);
  ++state().counts.waits;
  log_event_wait("cudaEventSynchronize", *event->record);
  run_until_done(*event->record);
  return cudaSuccess;
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  const std::lock_guard lock(state().mutex);
  if (!event->record) return cudaSuccess;
  if (event->record->done) {
    log_event_wait("cudaEventQuery", *event->record);
    return cudaSuccess;
  }
  if (event->record->capture) return set_last_error(cudaErrorStreamCaptureUnsupported);
  run_next(event->record->stream);
  return cudaErrorNotReady;
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end) {
  const std::lock_guard lock(state().mutex);
  if (!begin->timed || !end->timed || !begin->record || !end->record)
    return set_last_error(cudaErrorInvalidResourceHandle);
  if (!begin->record->done || !end->record->done) return set_last_error(cudaErrorNotReady);
  *milliseconds = std::chrono::duration<float, std::milli>(end->record->time - begin->record->time).count();
  return cudaSuccess;
}
}
