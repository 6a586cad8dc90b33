// Communicators of ranks: processes that exchange through shared memory.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <thread>

#include "backend/emulated/nccl.h"
#include "backend/emulated/stream.h"

namespace odori::emulator {
namespace {

constexpr int most_ranks = 16;
constexpr std::size_t chunk = 1 << 18;  // bytes

/// What lies in shared memory; all of it zero at first.
struct Shared {
  struct Seat {
    char host[128];
    int gpu;
    Collective what;
    std::size_t count;
    ncclDataType_t type;
    ncclRedOp_t op;
    int root;
  };
  std::atomic<int> joined, left;
  std::atomic<bool> broken;  // somebody has failed
  std::atomic<unsigned int> arrived, rounds;
  Seat seats[most_ranks];
  std::byte values[most_ranks][chunk];
};

void nap() { std::this_thread::sleep_for(std::chrono::microseconds(100)); }

/// What NCCL takes for this process's host: read once, at the first call.
const std::string& host_id() {
  static const std::string id = [] {
    if (const char* given = std::getenv("NCCL_HOSTID")) return std::string(given);
    char name[100] = "";
    ::gethostname(name, sizeof name - 1);
    return std::string(name);
  }();
  return id;
}

/// ODORI_EMULATED_NCCL_FAULT for this collective of this rank: "async", "hang", "differ", or nothing.
std::string fault(int rank, int number) {
  const char* variable = std::getenv("ODORI_EMULATED_NCCL_FAULT");
  char what[16] = "";
  int its_rank = -1, its_number = -1;
  if (!variable || std::sscanf(variable, "%15[a-z]:%d:%d", what, &its_rank, &its_number) != 3) return {};
  return rank == its_rank && number == its_number ? what : "";
}

class RankCommunicator : public EmulatedCommunicator {
 public:
  RankCommunicator(ncclComm_t comm, Shared* shared)
      : comm_(comm), shared_(shared), gpu_goes_on_([this](const std::stop_token& stop) { go_on(stop); }) {}
  ~RankCommunicator() override {
    gpu_goes_on_.request_stop();
    gpu_goes_on_.join();
    {
      const std::lock_guard lock(state().mutex);
      while (done_ < queued_) run_one(stream_);
    }
    ::munmap(shared_, sizeof(Shared));
  }
  std::size_t members_here() const override { return 1; }

  void abort(ncclComm_t) override {
    aborted_ = true;  // without the lock: somebody may hold it inside of run()
    shared_->broken = true;
  }

  ncclResult_t queue(std::span<const NcclCall> calls) override {
    const std::lock_guard lock(state().mutex);
    NcclCall call = calls.front();
    const std::string wrong = fault(comm_->rank, ++queued_);
    stream_ = call.stream;
    last_ = std::chrono::steady_clock::now();
    if (wrong == "differ") ++call.count;
    emulator::queue(call.stream, [this, call, wrong] {
      if (wrong == "async") comm_->async = ncclSystemError, shared_->broken = true;
      while (wrong == "hang" && !aborted_) nap();
      // As NCCL's kernels, what has failed doesn't end: its memory is of no use.
      if (!run(call))
        while (!aborted_) nap();
      ++done_;
    });
    return ncclSuccess;
  }

  /// Waits for all ranks; false if there is nothing to wait for any more.
  bool meet() {
    const unsigned int round = shared_->rounds;
    if (shared_->arrived.fetch_add(1) + 1 == static_cast<unsigned int>(comm_->size)) {
      shared_->arrived = 0;
      ++shared_->rounds;
    }
    while (shared_->rounds == round && !shared_->broken && !aborted_) nap();
    if (shared_->rounds != round) return true;
    if (comm_->async == ncclSuccess) comm_->async = ncclRemoteError;
    return false;
  }

 private:
  bool run(const NcclCall& call) {
    const int rank = comm_->rank;
    Shared::Seat& seat = shared_->seats[rank];
    seat.what = call.what, seat.count = call.count, seat.type = call.type, seat.op = call.op, seat.root = call.root;
    if (!meet()) return false;
    const Shared::Seat& first = shared_->seats[0];
    for (int r = 1; r < comm_->size; ++r) {
      const Shared::Seat& other = shared_->seats[r];
      if (other.what == first.what && other.count == first.count && other.type == first.type && other.op == first.op &&
          other.root == first.root)
        continue;
      comm_->async = ncclInvalidUsage;  // NCCL would wait for ever, or take what comes
      return false;
    }
    for (std::size_t at = 0; at < call.bytes(); at += chunk) {
      const std::size_t n = std::min(chunk, call.bytes() - at);
      if (call.gives(rank)) std::copy_n(call.from + at, n, shared_->values[rank]);
      if (!meet()) return false;
      std::vector<const std::byte*> given;
      for (int r = 0; r < comm_->size; ++r)
        if (call.gives(r)) given.push_back(shared_->values[r]);
      if (call.takes(rank)) combine(call, given, comm_->size, n / call.bytes_of_one(), call.to + at);
      if (!meet()) return false;
    }
    return true;
  }

  /// A GPU goes on by itself: what others wait for doesn't stay queued until this process's host waits for it.
  void go_on(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      const std::lock_guard lock(state().mutex);
      if (std::chrono::steady_clock::now() - last_ < std::chrono::milliseconds(10)) continue;
      while (done_ < queued_) run_one(stream_);
    }
  }

  ncclComm_t comm_;
  Shared* shared_;
  std::atomic<bool> aborted_ = false;
  cudaStream_t stream_ = nullptr;
  int queued_ = 0, done_ = 0;
  std::chrono::steady_clock::time_point last_;
  std::jthread gpu_goes_on_;
};

}  // namespace

std::shared_ptr<EmulatedCommunicator> join_ranks(ncclComm_t comm, const ncclUniqueId& id, ncclResult_t* result) {
  const int file = ::shm_open(id.internal, O_RDWR | O_CREAT, 0600);
  void* memory = file >= 0 && ::ftruncate(file, sizeof(Shared)) == 0
                     ? ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)
                     : MAP_FAILED;
  if (file >= 0) ::close(file);
  if (memory == MAP_FAILED || comm->size > most_ranks) {
    *result = nccl_failed(ncclSystemError, "no shared memory");
    return nullptr;
  }
  auto* shared = static_cast<Shared*>(memory);
  std::strncpy(shared->seats[comm->rank].host, host_id().c_str(), sizeof shared->seats->host - 1);
  shared->seats[comm->rank].gpu = comm->gpu;
  ++shared->joined;
  while (shared->joined < comm->size) nap();
  if (comm->rank == 0) ::shm_unlink(id.internal);
  auto communicator = std::make_shared<RankCommunicator>(comm, shared);
  for (int a = 0; a < comm->size; ++a)
    for (int b = a + 1; b < comm->size; ++b)
      if (shared->seats[a].gpu == shared->seats[b].gpu && !std::strcmp(shared->seats[a].host, shared->seats[b].host))
        *result = nccl_failed(ncclInvalidUsage, "Duplicate GPU detected : rank " + std::to_string(a) + " and rank " +
                                                    std::to_string(b) + " both on one CUDA device");
  return communicator;
}

}  // namespace odori::emulator

using namespace odori::emulator;

extern "C" ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  static std::atomic<int> number = 0;
  host_id();
  std::snprintf(id->internal, sizeof id->internal, "/odori_nccl.%d.%d", ::getpid(), ++number);
  return ncclSuccess;
}
