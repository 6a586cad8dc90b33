// SPDX-License-Identifier: Apache-2.0
// Implements communicators of ranks: processes that communicate through shared memory.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "backend/emulated/nccl_communicator.h"
#include "backend/emulated/stream.h"

namespace odori::emulator {
namespace {

constexpr int max_ranks = 16;
constexpr std::size_t chunk_bytes = 1 << 18;

/// The contents of the shared memory, all zero at first.
struct Shared {
  struct Slot {
    std::atomic<int> calls;  // of ncclCommInitRank with this rank
    std::atomic<int> size;   // the number of ranks that it gave
    char host[128];
    int gpu;
    NcclOperation operation;  // the current one
  };
  std::atomic<bool> broken;  // a rank has failed
  std::atomic<unsigned int> arrived, barriers;
  Slot slots[max_ranks];  // of each rank
  std::byte chunks[max_ranks][chunk_bytes];
};

void nap() { std::this_thread::sleep_for(std::chrono::microseconds(100)); }

/// Returns what NCCL identifies this process's host by. Like NCCL, reads NCCL_HOSTID at the first call only.
const std::string& host_id() {
  static const std::string id = [] {
    if (const char* variable = std::getenv("NCCL_HOSTID")) return std::string(variable);
    char name[100] = "";
    ::gethostname(name, sizeof name - 1);
    return std::string(name);
  }();
  return id;
}

/// Returns the fault of ODORI_EMULATED_NCCL_FAULT if it applies to this collective of this rank, or "".
std::string injected_fault(int rank, int collective) {
  const char* variable = std::getenv("ODORI_EMULATED_NCCL_FAULT");
  char fault[16] = "";
  int fault_rank = -1, fault_collective = -1;
  if (!variable || std::sscanf(variable, "%15[a-z]:%d:%d", fault, &fault_rank, &fault_collective) != 3) return {};
  return rank == fault_rank && collective == fault_collective ? fault : "";
}

class RankCommunicator : public EmulatedCommunicator {
 public:
  RankCommunicator(ncclComm_t comm, const ncclUniqueId& id, Shared* shared)
      : EmulatedCommunicator(id),
        comm_(comm),
        shared_(shared),
        progress_([this](const std::stop_token& stop) { make_progress(stop); }) {}
  ~RankCommunicator() override {
    progress_.request_stop();
    progress_.join();
    {
      const std::lock_guard lock(state().mutex);
      while (done_ < queued_) run_next(stream_);
    }
    ::munmap(shared_, sizeof(Shared));
  }
  std::size_t local_members() const override { return 1; }

  void abort() override {
    aborted_ = true;  // without the mutex: a thread may hold it inside run()
    shared_->broken = true;
  }

  ncclResult_t queue(std::span<const NcclCall> calls) override {
    const std::lock_guard lock(state().mutex);
    NcclCall call = calls.front();
    const std::string fault = injected_fault(comm_->rank, ++queued_);
    stream_ = call.stream;
    last_call_ = std::chrono::steady_clock::now();
    if (fault == "differ") ++call.operation.count;
    emulator::queue(call.stream, [this, call, fault] {
      if (fault == "async") comm_->async_error = ncclSystemError, shared_->broken = true;
      while (fault == "hang" && !aborted_) nap();
      // Like a kernel of NCCL, a failed collective never completes: its output is invalid.
      if (!run(call))
        while (!aborted_) nap();
      ++done_;
    });
    return ncclSuccess;
  }

 private:
  /// Waits for all ranks. Returns false if a rank has failed or the communicator was aborted.
  bool barrier() {
    const unsigned int before = shared_->barriers;
    if (shared_->arrived.fetch_add(1) + 1 == static_cast<unsigned int>(comm_->size)) {
      shared_->arrived = 0;
      ++shared_->barriers;
    }
    while (shared_->barriers == before && !shared_->broken && !aborted_) nap();
    if (shared_->barriers != before) return true;
    if (comm_->async_error == ncclSuccess) comm_->async_error = ncclRemoteError;
    return false;
  }

  bool run(const NcclCall& call) {
    const NcclOperation& operation = call.operation;
    shared_->slots[comm_->rank].operation = operation;
    if (!barrier()) return false;
    for (int rank = 1; rank < comm_->size; ++rank)
      if (shared_->slots[rank].operation != shared_->slots[0].operation) {
        comm_->async_error = ncclInvalidUsage;  // NCCL itself would block forever or return wrong values
        return false;
      }
    for (std::size_t begin = 0; begin < operation.bytes(); begin += chunk_bytes) {
      const std::size_t bytes = std::min(chunk_bytes, operation.bytes() - begin);
      if (call.sends()) std::copy_n(call.input + begin, bytes, shared_->chunks[comm_->rank]);
      if (!barrier()) return false;
      std::vector<const std::byte*> inputs;
      for (int rank = 0; rank < comm_->size; ++rank)
        if (operation.sends(rank)) inputs.push_back(shared_->chunks[rank]);
      if (call.receives())
        reduce(operation, inputs, comm_->size, bytes / operation.element_bytes(), call.output + begin);
      if (!barrier()) return false;
    }
    return true;
  }

  /// Runs queued collectives 10 ms after the last call, because a GPU does not need its host to make progress: other
  /// ranks may wait for them while this process's host does not.
  void make_progress(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      const std::lock_guard lock(state().mutex);
      if (std::chrono::steady_clock::now() - last_call_ < std::chrono::milliseconds(10)) continue;
      while (done_ < queued_) run_next(stream_);
    }
  }

  ncclComm_t comm_;
  Shared* shared_;
  std::atomic<bool> aborted_ = false;
  cudaStream_t stream_ = nullptr;  // of the last call
  int queued_ = 0, done_ = 0;      // collectives
  std::chrono::steady_clock::time_point last_call_;
  std::jthread progress_;
};

/// Joins the communicator and waits for all its ranks. Returns why that fails, or "".
std::string wait_for_ranks(const ncclComm& comm, Shared& shared) {
  Shared::Slot& own = shared.slots[comm.rank];
  if (own.calls++ == 0) {
    std::strncpy(own.host, host_id().c_str(), sizeof own.host - 1);
    own.gpu = physical_gpu(comm.gpu), own.size = comm.size;
  }
  const char* variable = std::getenv("ODORI_EMULATED_NCCL_TIMEOUT");
  const std::chrono::duration<double> limit(variable ? std::atof(variable) : 60);
  const auto start = std::chrono::steady_clock::now();
  const std::string of_size = " of " + std::to_string(comm.size);
  for (bool last_look = false;; nap()) {
    std::string missing;
    for (int rank = 0; rank < max_ranks; ++rank) {
      const Shared::Slot& slot = shared.slots[rank];
      if (slot.calls > 1)
        return "rank " + std::to_string(rank) + of_size + " has called " + std::to_string(slot.calls) +
               " times with one id; each process needs its own rank";
      if (slot.size != 0 && slot.size != comm.size)
        return "rank " + std::to_string(rank) + " calls with " + std::to_string(slot.size) + " ranks, rank " +
               std::to_string(comm.rank) + " with " + std::to_string(comm.size);
      if (rank < comm.size && slot.size == 0) missing += (missing.empty() ? "" : ", ") + std::to_string(rank);
    }
    if (missing.empty()) return {};
    if (last_look)
      return "no call with this id from rank " + missing + of_size + "; all ranks must call, with the id of one rank";
    last_look = std::chrono::steady_clock::now() - start > limit;
  }
}

}  // namespace

std::shared_ptr<EmulatedCommunicator> connect_ranks(ncclComm_t comm, const ncclUniqueId& id, ncclResult_t* result) {
  if (id.internal[0] == '\0') {
    *result = nccl_error(ncclInvalidArgument, "the id is empty: ncclGetUniqueId has not made it");
    return nullptr;
  }
  const int file = ::shm_open(id.internal, O_RDWR | O_CREAT, 0600);
  void* memory = file >= 0 && ::ftruncate(file, sizeof(Shared)) == 0
                     ? ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)
                     : MAP_FAILED;
  if (file >= 0) ::close(file);
  if (memory == MAP_FAILED || comm->size > max_ranks) {
    *result = nccl_error(ncclSystemError, "shared memory cannot be created, or there are more than " +
                                              std::to_string(max_ranks) + " ranks");
    return nullptr;
  }
  auto* shared = static_cast<Shared*>(memory);
  const std::string problem = wait_for_ranks(*comm, *shared);
  if (comm->rank == 0 || !problem.empty()) ::shm_unlink(id.internal);
  if (!problem.empty()) {
    ::munmap(shared, sizeof(Shared));
    *result = nccl_error(ncclInvalidUsage, "ncclCommInitRank: " + problem);
    return nullptr;
  }
  auto communicator = std::make_shared<RankCommunicator>(comm, id, shared);
  for (int a = 0; a < comm->size; ++a)
    for (int b = a + 1; b < comm->size; ++b)
      if (shared->slots[a].gpu == shared->slots[b].gpu && !std::strcmp(shared->slots[a].host, shared->slots[b].host))
        *result = nccl_error(ncclInvalidUsage, "Duplicate GPU detected : rank " + std::to_string(a) + " and rank " +
                                                   std::to_string(b) + " both on one CUDA device");
  return communicator;
}

}  // namespace odori::emulator

using namespace odori::emulator;

extern "C" ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  static std::atomic<int> ids = 0;
  host_id();
  // With the time: a process that was killed leaves its memory, and its process number is used again.
  std::snprintf(id->internal, sizeof id->internal, "/odori_nccl.%d.%d.%lld", ::getpid(), ++ids,
                static_cast<long long>(std::chrono::system_clock::now().time_since_epoch().count()));
  return ncclSuccess;
}
