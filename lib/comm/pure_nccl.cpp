// pure_nccl: NCCL's all-reduce of the flat vector, from GPU to GPU.
//
//   rank 0 makes the clique's id, MPI brings it to all ranks; each joins with its GPU       (once, at the first use)
//   all-reduce the flat vector in place (mean; NCCL picks ring or tree, and the transport)
//
// The all-reduce is queued on a stream of its own, between what the device was asked before and after: no rank's host
// waits. Bytes a rank sends: at least 2 E (P-1)/P, E the bytes of all gradients (the bound: see naive.cpp).
// Source: ChainerMN's PureNcclCommunicator, which packs into a buffer before.
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <optional>

#include "backend/cuda/device.h"
#include "backend/cuda/nccl_communicators.h"
#include "comm/device_sharing.h"
#include "comm/mpi_communicator.h"
#include "core/error.h"
#include "trace/evidence.h"

namespace odori {
namespace {

/// NCCL refuses two ranks on one GPU of one host. To it, hosts are what NCCL_HOSTID says, which it reads once, before
/// its first call: ranks on one GPU become ranks of several hosts, and speak through sockets.
void play_several_hosts(int position) {
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  constexpr int keep_the_users = 0;
  ::setenv("NCCL_HOSTID", fmt::format("{}-{}", host.data(), position).c_str(), keep_the_users);
}

/// This rank's place in the clique of all ranks, once it is made.
class Clique {
 public:
  Clique(Communicator& ranks, cuda::CudaDevice& device)
      : device_(device), stream_(cuda::new_stream()), nccl_(ranks.size(), bring_id(ranks, device), ranks.rank()) {}
  ~Clique() {
    if (std::uncaught_exceptions() == 0) static_cast<void>(cudaStreamSynchronize(stream_.get()));
  }

  const Device& device() const { return device_; }

  /// Queues a collective between all that the device was asked before and all that it is asked then.
  template <typename Collective>
  void queue(const char* doing, const Collective& collective) {
    cuda::check(cudaEventRecord(before_.get(), device_.stream()), doing);
    cuda::check(cudaStreamWaitEvent(stream_.get(), before_.get()), doing);
    nccl_.queue(doing, stream_.get(), [&](ncclComm_t comm, std::size_t) { return collective(comm, stream_.get()); });
    cuda::check(cudaEventRecord(after_.get(), stream_.get()), doing);
    cuda::check(cudaStreamWaitEvent(device_.stream(), after_.get()), doing);
  }

 private:
  static ncclUniqueId bring_id(Communicator& ranks, const Device& device) {
    const DeviceSharing sharing = find_sharing(ranks, device);
    if (sharing.any) {
      play_several_hosts(sharing.position);
      if (ranks.rank() == 0)
        fmt::print(
            "Ranks share a GPU: NCCL takes them for ranks of several hosts (NCCL_HOSTID), which speak through sockets. "
            "A "
            "speedup measured here is INCONCLUSIVE.\n");
    }
    ncclUniqueId id{};
    if (ranks.rank() == 0) cuda::check(ncclGetUniqueId(&id), "making the id of all ranks");
    ranks.broadcast(std::as_writable_bytes(std::span(id.internal)), 0);
    return id;
  }

  cuda::CudaDevice& device_;
  cuda::Stream stream_;
  cuda::Event before_ = cuda::new_event(), after_ = cuda::new_event();
  cuda::NcclCommunicators nccl_;
};

class PureNcclCommunicator : public MpiCommunicator {
 public:
  std::string name() const override { return "pure_nccl"; }

  void mean(Device& device, Buffer& gradients, std::span<const Range>) override {
    const evidence::Collective call("comm->mean()");
    const trace::Span span("allreduce", gradients.bytes());
    if (gradients.size() == 0) return;
    clique(device).queue("averaging gradients", [&](ncclComm_t comm, cudaStream_t stream) {
      return ncclAllReduce(gradients.data(), gradients.data(), gradients.size(), ncclFloat, ncclAvg, comm, stream);
    });
  }

  using MpiCommunicator::broadcast;
  void broadcast(Device& device, Buffer& values, int root) override {
    const evidence::Collective call("comm->broadcast()");
    const trace::Span span("broadcast", values.bytes());
    if (values.size() == 0) return;
    clique(device).queue("sending parameters", [&](ncclComm_t comm, cudaStream_t stream) {
      return ncclBroadcast(values.data(), values.data(), values.size(), ncclFloat, root, comm, stream);
    });
  }

 private:
  /// Made when it is first needed: programs make their communicator before they choose a device. Collective then.
  Clique& clique(Device& device) {
    require(device.kind() == DeviceKind::cuda,
            "The communicator pure_nccl works on GPUs, but the model of rank {} is on {}. Use --communicator flat.",
            rank(), device.description());
    if (!clique_) {
      device.bind_thread();
      clique_.emplace(*this, static_cast<cuda::CudaDevice&>(device));
    }
    require(&clique_->device() == &device,
            "The communicator pure_nccl stands on {} of rank {}, and was given a model on {}. A rank's models are on "
            "one device.",
            clique_->device().description(), rank(), device.description());
    return *clique_;
  }

  std::optional<Clique> clique_;
};

}  // namespace

std::unique_ptr<Communicator> make_pure_nccl_communicator() { return std::make_unique<PureNcclCommunicator>(); }

}  // namespace odori
