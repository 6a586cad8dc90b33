// Streams, events and graphs of the emulated GPUs: closures in a row.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "backend/emulated/machine.h"

namespace odori::emulator {

using Work = std::function<void()>;

/// A recording under way: what is queued on its streams goes into the graph.
struct Capture {
  cudaStream_t origin;
  std::vector<Work> work;
  bool for_this_thread_alone, invalidated = false;
  std::map<cudaStream_t, std::size_t> queued, joined;  // how much on each stream; how much of it others wait for
};

/// An event as it was recorded once: recording it anew makes another.
struct Record {
  cudaStream_t stream;
  bool done = false;
  std::chrono::steady_clock::time_point when{};
  std::shared_ptr<Capture> capture;  // null outside one
  std::size_t position = 0;          // in the capture's stream
};

/// Work, or something to wait for.
struct Item {
  Work work;
  std::shared_ptr<Record> awaited;
};

}  // namespace odori::emulator

struct CUstream_st {
  int gpu;
  bool waits_for_default;  // created without cudaStreamNonBlocking
  std::deque<odori::emulator::Item> items{};
  std::shared_ptr<odori::emulator::Capture> capture{};
};
struct CUevent_st {
  bool timed;
  std::shared_ptr<odori::emulator::Record> record{};
};
struct CUgraph_st {
  std::vector<odori::emulator::Work> work;
};
struct CUgraphExec_st {
  std::shared_ptr<const std::vector<odori::emulator::Work>> work;
};

namespace odori::emulator {

/// Puts an item at the stream's end, or into the graph that is recorded on it; then some of what is queued anywhere may
/// run, or nothing.
cudaError_t queue_item(cudaStream_t stream, Item item);
/// Runs the first item of a stream, and whatever it waits for on others.
void run_one(cudaStream_t stream);
void run_all(cudaStream_t stream);
void run_until(const Record& record);
/// Work that CUDA would do at once, on the default stream.
void run_before_default();

}  // namespace odori::emulator
