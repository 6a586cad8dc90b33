// Kernels: the threads of a block, one after another on fibers.
#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <deque>
#include <memory>
#include <vector>

#include "backend/emulated/emulator.h"
#include "backend/emulated/fiber.h"
#include "backend/emulated/machine.h"

constinit thread_local uint3 threadIdx, blockIdx;
constinit thread_local dim3 blockDim, gridDim;

namespace odori::emulator {
namespace {

constexpr unsigned int warp = 32;

/// Where a thread has stopped.
enum class Stop { none, block, warp, end };

struct Thread {
  Fiber* fiber = nullptr;  // of its own once it has stopped
  Stop stop = Stop::none;
  int line = 0;
  unsigned int mask = 0;                   // lanes that it waits for
  std::array<std::uint64_t, 2> gave = {};  // of the last two exchanges: nobody reads what is older
  unsigned int exchanges = 0;
};

/// The block that this thread of the host runs.
class Block {
 public:
  Block(const std::function<void()>& body, bool backwards)
      : body_(body), threads_(blockDim.x * blockDim.y * blockDim.z), backwards_(backwards) {}

  void run() {
    begin_all();
    while (!std::all_of(threads_.begin(), threads_.end(), [](const Thread& t) { return t.stop == Stop::end; })) {
      release();
      for (unsigned int i = 0; i < threads_.size(); ++i) {
        const unsigned int t = in_order(i);
        if (threads_[t].stop == Stop::none) go_on(t);
      }
    }
  }
  /// Called on a fiber.
  void stop(Stop why, int line, unsigned int mask) {
    Thread& me = threads_[running_];
    me.fiber = fiber_;
    me.stop = why, me.line = line, me.mask = mask;
    fiber_->yield();
  }
  Thread& me() { return threads_[running_]; }
  Thread& lane(int number) { return threads_[running_ / warp * warp + static_cast<unsigned int>(number)]; }
  int my_lane() const { return static_cast<int>(running_ % warp); }
  bool has_lane(int number) const {
    return running_ / warp * warp + static_cast<unsigned int>(number) < threads_.size();
  }

 private:
  unsigned int in_order(unsigned int i) const {
    return backwards_ ? static_cast<unsigned int>(threads_.size()) - 1 - i : i;
  }
  void become(unsigned int t) {
    running_ = t;
    threadIdx = {t % blockDim.x, t / blockDim.x % blockDim.y, t / blockDim.x / blockDim.y};
  }
  /// One fiber does for all threads that don't stop on their way.
  void begin_all() {
    rest_ = [this] {
      while (begun_ < threads_.size()) {
        become(in_order(begun_++));
        body_();
        threads_[running_].stop = Stop::end;
      }
    };
    while (begun_ < threads_.size()) {
      fiber_ = take_fiber();
      fiber_->run(rest_);
    }
  }
  void go_on(unsigned int t) {
    become(t);
    fiber_ = threads_[t].fiber;
    static const std::function<void()> none;
    fiber_->run(none);
  }
  /// All are done when a block is, and serve the next one.
  Fiber* take_fiber() {
    static thread_local std::deque<Fiber> pool;
    if (taken_ == pool.size()) pool.emplace_back();
    return &pool[taken_++];
  }
  void release();
  bool release_warps();
  bool release_block();

  const std::function<void()>& body_;
  std::vector<Thread> threads_;
  bool backwards_;
  unsigned int begun_ = 0, running_ = 0;
  std::size_t taken_ = 0;
  Fiber* fiber_ = nullptr;
  std::function<void()> rest_;  // outlives begin_all(): fibers that stop come back to it
};

bool Block::release_warps() {
  bool any = false;
  for (unsigned int begin = 0; begin < threads_.size(); begin += warp) {
    const unsigned int end = std::min<unsigned int>(begin + warp, static_cast<unsigned int>(threads_.size()));
    const auto arrived = [&](unsigned int line, unsigned int mask) {
      for (unsigned int t = begin; t < end; ++t)
        if (mask >> (t - begin) & 1 &&
            (threads_[t].stop != Stop::warp || threads_[t].line != static_cast<int>(line) || threads_[t].mask != mask))
          return false;
      return true;
    };
    std::vector<unsigned int> ready;
    for (unsigned int t = begin; t < end; ++t)
      if (threads_[t].stop == Stop::warp && arrived(static_cast<unsigned int>(threads_[t].line), threads_[t].mask))
        ready.push_back(t);
    for (const unsigned int t : ready) threads_[t].stop = Stop::none;
    any = any || !ready.empty();
  }
  return any;
}

bool Block::release_block() {
  for (const Thread& thread : threads_)
    if (thread.stop != Stop::block || thread.line != threads_[0].line) return false;
  for (Thread& thread : threads_) thread.stop = Stop::none;
  return true;
}

void Block::release() {
  if (release_warps() || release_block()) return;
  std::array<unsigned int, 4> n = {};
  for (const Thread& thread : threads_) ++n[static_cast<std::size_t>(thread.stop)];
  for (unsigned int t = 0; t < threads_.size(); ++t)
    if (threads_[t].stop != threads_[0].stop || threads_[t].line != threads_[0].line)
      complain(
          "not all threads of block (%u, %u) come to the same barrier: thread 0 is at line %d, thread %u at line "
          "%d; %u wait for the block, %u for their warp, %u have returned.",
          blockIdx.x, blockIdx.y, threads_[0].line, t, threads_[t].line, n[1], n[2], n[3]);
  complain("the threads of block (%u, %u) wait for lanes that are not there, line %d.", blockIdx.x, blockIdx.y,
           threads_[0].line);
}

thread_local Block* current = nullptr;

void run_grid(dim3 grid, dim3 block, const std::function<void()>& body, bool backwards) {
  gridDim = grid, blockDim = block;
  for (blockIdx.z = 0; blockIdx.z < grid.z; ++blockIdx.z)
    for (blockIdx.y = 0; blockIdx.y < grid.y; ++blockIdx.y)
      for (blockIdx.x = 0; blockIdx.x < grid.x; ++blockIdx.x) {
        Block running(body, backwards);
        current = &running;
        running.run();
      }
  current = nullptr;
}

}  // namespace

void synchronize_threads(int line) { current->stop(Stop::block, line, 0); }

int lane_of_thread() { return current->my_lane(); }

std::uint64_t exchange_in_warp(unsigned int mask, std::uint64_t bits, int lane, int line) {
  Thread& me = current->me();
  const unsigned int exchange = me.exchanges++ % 2;
  me.gave[exchange] = bits;
  current->stop(Stop::warp, line, mask);
  if (lane < 0 || lane >= 32 || !(mask >> lane & 1) || !current->has_lane(lane))
    complain("a thread reads lane %d of its warp, which takes no part in the exchange in line %d.", lane, line);
  return current->lane(lane).gave[exchange];
}

cudaError_t queue_kernel(dim3 grid, dim3 block, cudaStream_t stream, const void*, std::function<void()> thread) {
  const std::uint64_t threads = std::uint64_t{block.x} * block.y * block.z;
  if (grid.x == 0 || grid.x > 0x7fffffff || grid.y == 0 || grid.y > 65535 || grid.z == 0 || grid.z > 65535 ||
      threads == 0 || threads > 1024 || block.z > 64)
    return cudaErrorInvalidConfiguration;
  return queue_launch(stream,
                      [=, body = std::move(thread)](bool backwards) { run_grid(grid, block, body, backwards); });
}

}  // namespace odori::emulator
