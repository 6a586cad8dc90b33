// SPDX-License-Identifier: Apache-2.0
// Runs kernels: the blocks of a grid one after another, in ascending or descending order, the threads of a block on
// fibers that switch at barriers.
#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <deque>
#include <vector>

#include "backend/emulated/fiber.h"
#include "backend/emulated/stream.h"

constinit thread_local uint3 threadIdx, blockIdx;
constinit thread_local dim3 blockDim, gridDim;

namespace odori::emulator {
namespace {

constexpr unsigned int warp_size = 32;

enum class Status { runnable, at_block_barrier, at_warp_barrier, returned };

struct Thread {
  Fiber* fiber = nullptr;  // set when the thread first stops at a barrier
  Status status = Status::runnable;
  int line = 0;                                // of the barrier
  unsigned int mask = 0;                       // lanes that take part in the warp's barrier
  std::array<std::uint64_t, 2> shuffled = {};  // values of its last two shuffles; older ones are no longer read
  unsigned int shuffles = 0;
};

/// A block of threads, run by one host thread.
class Block {
 public:
  Block(const std::function<void()>& kernel, bool descending)
      : kernel_(kernel), threads_(blockDim.x * blockDim.y * blockDim.z), descending_(descending) {}

  void run() {
    start_all();
    while (
        !std::all_of(threads_.begin(), threads_.end(), [](const Thread& t) { return t.status == Status::returned; })) {
      release();
      for (unsigned int i = 0; i < threads_.size(); ++i) {
        const unsigned int t = in_order(i);
        if (threads_[t].status == Status::runnable) resume(t);
      }
    }
  }
  /// Stops the running thread until all threads have reached the barrier. Called on a fiber.
  void wait(Status barrier, int line, unsigned int mask) {
    Thread& thread = threads_[running_];
    thread.fiber = fiber_;
    thread.status = barrier, thread.line = line, thread.mask = mask;
    fiber_->yield();
  }
  Thread& running_thread() { return threads_[running_]; }
  int running_lane() const { return static_cast<int>(running_ % warp_size); }
  /// Returns a thread of the running thread's warp, or null if the block has none.
  const Thread* find_lane(int lane) const {
    const unsigned int t = running_ / warp_size * warp_size + static_cast<unsigned int>(lane);
    return t < threads_.size() ? &threads_[t] : nullptr;
  }

 private:
  unsigned int in_order(unsigned int i) const {
    return descending_ ? static_cast<unsigned int>(threads_.size()) - 1 - i : i;
  }
  void set_running(unsigned int t) {
    running_ = t;
    threadIdx = {t % blockDim.x, t / blockDim.x % blockDim.y, t / blockDim.x / blockDim.y};
  }
  /// Starts the threads one after another on one fiber, and takes another fiber each time that a thread stops.
  void start_all() {
    start_rest_ = [this] {
      while (started_ < threads_.size()) {
        set_running(in_order(started_++));
        kernel_();
        threads_[running_].status = Status::returned;
      }
    };
    while (started_ < threads_.size()) {
      fiber_ = take_fiber();
      fiber_->run(start_rest_);
    }
  }
  void resume(unsigned int t) {
    set_running(t);
    fiber_ = threads_[t].fiber;
    static const std::function<void()> none;
    fiber_->run(none);
  }
  /// Fibers are done when their block is, so the next block reuses them.
  Fiber* take_fiber() {
    static thread_local std::deque<Fiber> pool;
    if (fibers_taken_ == pool.size()) pool.emplace_back();
    return &pool[fibers_taken_++];
  }
  /// Makes the threads runnable whose barrier is complete. Aborts if there are none.
  void release();
  bool release_warps();
  bool release_block();

  const std::function<void()>& kernel_;
  std::vector<Thread> threads_;
  bool descending_;
  unsigned int started_ = 0, running_ = 0;
  std::size_t fibers_taken_ = 0;
  Fiber* fiber_ = nullptr;
  std::function<void()> start_rest_;  // a member, since stopped fibers return into it after start_all()
};

bool Block::release_warps() {
  const auto size = static_cast<unsigned int>(threads_.size());
  std::vector<unsigned int> released;
  for (unsigned int t = 0; t < size; ++t) {
    const Thread& thread = threads_[t];
    if (thread.status != Status::at_warp_barrier) continue;
    const unsigned int begin = t / warp_size * warp_size, end = std::min(begin + warp_size, size);
    bool complete = true;
    for (unsigned int other = begin; other < end; ++other)
      if (thread.mask >> (other - begin) & 1)
        complete = complete && threads_[other].status == Status::at_warp_barrier &&
                   threads_[other].line == thread.line && threads_[other].mask == thread.mask;
    if (complete) released.push_back(t);
  }
  for (const unsigned int t : released) threads_[t].status = Status::runnable;
  return !released.empty();
}

bool Block::release_block() {
  for (const Thread& thread : threads_)
    if (thread.status != Status::at_block_barrier || thread.line != threads_[0].line) return false;
  for (Thread& thread : threads_) thread.status = Status::runnable;
  return true;
}

void Block::release() {
  if (release_warps() || release_block()) return;
  std::array<unsigned int, 4> n = {};
  for (const Thread& thread : threads_) ++n[static_cast<std::size_t>(thread.status)];
  for (unsigned int t = 0; t < threads_.size(); ++t)
    if (threads_[t].status != threads_[0].status || threads_[t].line != threads_[0].line)
      fatal(
          "not all threads of block (%u, %u) reach the same barrier: thread 0 is at line %d, thread %u is at line "
          "%d; %u wait for the block, %u wait for their warp, %u have returned.",
          blockIdx.x, blockIdx.y, threads_[0].line, t, threads_[t].line, n[1], n[2], n[3]);
  fatal("the threads of block (%u, %u) wait at line %d for lanes that do not exist.", blockIdx.x, blockIdx.y,
        threads_[0].line);
}

thread_local Block* current = nullptr;

void run_grid(dim3 grid, dim3 block, const std::function<void()>& kernel, bool descending) {
  gridDim = grid, blockDim = block;
  for (blockIdx.z = 0; blockIdx.z < grid.z; ++blockIdx.z)
    for (blockIdx.y = 0; blockIdx.y < grid.y; ++blockIdx.y)
      for (unsigned int x = 0; x < grid.x; ++x) {
        blockIdx.x = descending ? grid.x - 1 - x : x;
        Block running(kernel, descending);
        current = &running;
        running.run();
      }
  current = nullptr;
}

}  // namespace

void synchronize_threads(int line) { current->wait(Status::at_block_barrier, line, 0); }

int lane_of_thread() { return current->running_lane(); }

std::uint64_t exchange_in_warp(unsigned int mask, std::uint64_t bits, int lane, int line) {
  Thread& thread = current->running_thread();
  const unsigned int slot = thread.shuffles++ % 2;
  thread.shuffled[slot] = bits;
  current->wait(Status::at_warp_barrier, line, mask);
  const Thread* source = lane >= 0 && lane < 32 && mask >> lane & 1 ? current->find_lane(lane) : nullptr;
  if (!source)
    fatal("a thread reads lane %d of its warp, which does not take part in the shuffle at line %d.", lane, line);
  return source->shuffled[slot];
}

cudaError_t queue_kernel(dim3 grid, dim3 block, cudaStream_t stream, std::function<void()> kernel) {
  const std::uint64_t threads = std::uint64_t{block.x} * block.y * block.z;
  if (grid.x == 0 || grid.x > 0x7fffffff || grid.y == 0 || grid.y > 65535 || grid.z == 0 || grid.z > 65535 ||
      threads == 0 || threads > 1024 || block.z > 64)
    return cudaErrorInvalidConfiguration;
  return queue_launch(stream,
                      [=, kernel = std::move(kernel)](bool descending) { run_grid(grid, block, kernel, descending); });
}

}  // namespace odori::emulator
