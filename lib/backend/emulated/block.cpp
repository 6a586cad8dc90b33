// SPDX-License-Identifier: Apache-2.0
// Runs kernels: the blocks of a grid one after another, in ascending or descending order, the threads of a block on
// fibers that switch at barriers, and where they wait for the kernel before.
#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <memory>
#include <vector>

#include "backend/emulated/stream.h"
#include "threads/fiber.h"

constinit uint3 threadIdx, blockIdx;
constinit dim3 blockDim, gridDim;

namespace odori::emulator {
namespace {

constexpr unsigned int warp_size = 32;
constexpr std::size_t stack_bytes = 256 * 1024;  // of a thread

enum class Status { runnable, at_block_barrier, at_warp_barrier, returned, waits_for_kernel };

struct Thread {
  Fiber* fiber = nullptr;                      // set when the thread first stops
  Status status = Status::returned;            // so it stays if it never stops
  int line = 0;                                // of the barrier
  unsigned int mask = 0;                       // lanes that take part in the warp's barrier
  std::array<std::uint64_t, 2> shuffled = {};  // values of its last two shuffles; older ones are no longer read
  unsigned int shuffles = 0;
};

/// Of this host thread: its own stack, and the fibers that no block uses.
thread_local Fiber host;
thread_local std::vector<std::unique_ptr<Fiber>> free_fibers;
/// The block that runs.
class Block* current = nullptr;

/// A block of threads, run by one host thread.
class Block {
 public:
  Block(const std::function<void()>& kernel, unsigned int threads, bool descending)
      : kernel_(kernel), threads_(threads), descending_(descending) {}
  /// Fibers that were stopped within a kernel are not used again.
  ~Block() {
    if (count(Status::returned) == threads_.size()) free(fibers_);
  }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  /// Makes it the next block of its grid, once all threads have returned.
  void restart() {
    if (stopped_) std::fill(threads_.begin(), threads_.end(), Thread{});
    free(fibers_);
    started_ = 0, past_barrier_ = stopped_ = false;
  }
  /// Runs the threads until all have returned: true. With `early`, the kernel before has not ended: false when no
  /// thread can go on that does not wait for it. The next call then continues.
  bool run(bool early) {
    early_ = early;
    while (started_ < threads_.size()) host.switch_to(*(fiber_ = take_fiber()));
    if (!stopped_) return true;
    for (Thread& thread : threads_)
      if (!early && thread.status == Status::waits_for_kernel) thread.status = Status::runnable;
    for (;;) {
      for (unsigned int i = 0; i < threads_.size(); ++i)
        if (const unsigned int t = in_order(i); threads_[t].status == Status::runnable) resume(t);
      if (count(Status::returned) == threads_.size()) return true;
      if (release_warps() || release_block())
        past_barrier_ = true;
      else if (early && count(Status::waits_for_kernel) > 0)
        return false;
      else
        report_barrier();
    }
  }
  /// Stops the running thread until all threads have reached the barrier. Called on a fiber.
  void wait(Status barrier, int line, unsigned int mask) {
    Thread& thread = threads_[running_];
    thread.fiber = fiber_;
    stopped_ = true;
    thread.status = barrier, thread.line = line, thread.mask = mask;
    fiber_->switch_to(host);
  }
  /// Stops the running thread until the kernel before has ended. Called on a fiber.
  void wait_for_kernel() {
    if (!early_) return;
    if (past_barrier_)
      fatal(
          "a kernel waits for the kernel before it after a barrier. Let it wait first: an emulated GPU keeps no shared "
          "memory of a kernel that begins early.");
    wait(Status::waits_for_kernel, 0, 0);
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
    if (threads_.size() == blockDim.x)
      threadIdx = {t, 0, 0};
    else
      threadIdx = {t % blockDim.x, t / blockDim.x % blockDim.y, t / blockDim.x / blockDim.y};
  }
  /// Starts the threads that have not started, one after another, until one stops. Resumed later, the fiber may belong
  /// to another block: nothing of this one is used after the switch.
  void start_rest() {
    while (started_ < threads_.size()) {
      set_running(in_order(started_++));
      kernel_();
    }
    fiber_->switch_to(host);
  }
  void resume(unsigned int t) {
    set_running(t);
    threads_[t].status = Status::returned;  // unless it stops again
    fiber_ = threads_[t].fiber;
    host.switch_to(*fiber_);
  }
  static void free(std::vector<std::unique_ptr<Fiber>>& fibers) {
    std::move(fibers.begin(), fibers.end(), std::back_inserter(free_fibers));
    fibers.clear();
  }
  Fiber* take_fiber() {
    const auto start_threads = []() -> Fiber& {
      for (;;) current->start_rest();
    };
    if (free_fibers.empty()) free_fibers.push_back(std::make_unique<Fiber>(start_threads, stack_bytes));
    fibers_.push_back(std::move(free_fibers.back()));
    free_fibers.pop_back();
    return fibers_.back().get();
  }
  std::size_t count(Status status) const {
    return static_cast<std::size_t>(
        std::count_if(threads_.begin(), threads_.end(), [=](const Thread& t) { return t.status == status; }));
  }
  /// Make the threads runnable whose barrier is complete. False if there are none.
  bool release_warps();
  bool release_block();
  /// Aborts: no barrier is complete.
  [[noreturn]] void report_barrier() const;

  const std::function<void()>& kernel_;
  std::vector<Thread> threads_;
  bool descending_, early_ = false, past_barrier_ = false, stopped_ = false;  // stopped_: any thread has
  unsigned int started_ = 0, running_ = 0;
  std::vector<std::unique_ptr<Fiber>> fibers_{};  // done when the block is, so that others can use them
  Fiber* fiber_ = nullptr;
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

void Block::report_barrier() const {
  for (unsigned int t = 0; t < threads_.size(); ++t)
    if (threads_[t].status != threads_[0].status || threads_[t].line != threads_[0].line)
      fatal(
          "not all threads of block (%u, %u) reach the same barrier: thread 0 is at line %d, thread %u is at line "
          "%d; %zu wait for the block, %zu wait for their warp, %zu have returned.",
          blockIdx.x, blockIdx.y, threads_[0].line, t, threads_[t].line, count(Status::at_block_barrier),
          count(Status::at_warp_barrier), count(Status::returned));
  fatal("the threads of block (%u, %u) wait at line %d for lanes that do not exist.", blockIdx.x, blockIdx.y,
        threads_[0].line);
}

/// A launched kernel.
class Grid {
 public:
  Grid(dim3 grid, dim3 block, const std::function<void()>& kernel, bool descending)
      : grid_(grid),
        threads_(block),
        kernel_(kernel),
        descending_(descending),
        block_(kernel_, block.x * block.y * block.z, descending) {}
  Grid(const Grid&) = delete;
  Grid& operator=(const Grid&) = delete;

  /// Runs blocks while the kernel before has not ended, from a random one on, until one waits for that kernel. True if
  /// all have returned.
  bool begin() {
    first_ = state().random() % blocks();
    for (; ended_ < blocks() && !waits_; ended_ += !waits_) waits_ = !run((first_ + ended_) % blocks(), true);
    return !waits_;
  }
  /// Runs the rest.
  void run() {
    if (waits_) run((first_ + ended_++) % blocks(), false);
    for (std::uint64_t i = 0; i < blocks(); ++i) {
      const std::uint64_t index = descending_ ? blocks() - 1 - i : i;
      if ((index + blocks() - first_) % blocks() >= ended_) run(index, false);
    }
  }

 private:
  std::uint64_t blocks() const { return std::uint64_t{grid_.x} * grid_.y * grid_.z; }
  bool run(std::uint64_t index, bool early) {
    gridDim = grid_, blockDim = threads_;
    blockIdx = {static_cast<unsigned int>(index % grid_.x), static_cast<unsigned int>(index / grid_.x % grid_.y),
                static_cast<unsigned int>(index / grid_.x / grid_.y)};
    current = &block_;
    const bool all_returned = block_.run(early);
    current = nullptr;
    if (all_returned) block_.restart();
    return all_returned;
  }

  dim3 grid_, threads_;
  std::function<void()> kernel_;
  bool descending_;
  Block block_;                          // that which runs or waits
  std::uint64_t first_ = 0, ended_ = 0;  // those that have returned early, of which first_ was the first
  bool waits_ = false;                   // the one after them has begun, and waits for the kernel before
};

}  // namespace

void synchronize_threads(int line) { current->wait(Status::at_block_barrier, line, 0); }

void wait_for_kernel_before() { current->wait_for_kernel(); }

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

cudaError_t queue_kernel(const cudaLaunchConfig_t& config, std::function<void()> kernel) {
  const dim3 grid = config.gridDim, block = config.blockDim;
  const std::uint64_t threads = std::uint64_t{block.x} * block.y * block.z;
  if (grid.x == 0 || grid.x > 0x7fffffff || grid.y == 0 || grid.y > 65535 || grid.z == 0 || grid.z > 65535 ||
      threads == 0 || threads > 1024 || block.z > 64)
    return cudaErrorInvalidConfiguration;
  bool may_begin_early = false;
  for (unsigned int i = 0; i < config.numAttrs; ++i)
    if (config.attrs[i].id == cudaLaunchAttributeProgrammaticStreamSerialization)
      may_begin_early = config.attrs[i].val.programmaticStreamSerializationAllowed != 0;
  const auto new_grid = [=, kernel = std::move(kernel)] {
    return std::make_shared<Grid>(grid, block, kernel, state().random() % 2 != 0);
  };
  std::function<Work()> begin;
  if (may_begin_early)
    begin = [new_grid]() -> Work {
      const std::shared_ptr<Grid> begun = new_grid();
      if (begun->begin()) return {};
      return [begun] { begun->run(); };
    };
  return queue_launch(
      config.stream, [new_grid] { new_grid()->run(); }, std::move(begin));
}

}  // namespace odori::emulator
