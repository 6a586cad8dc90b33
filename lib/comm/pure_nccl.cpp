// pure_nccl: NCCL's all-reduce of the flat vector, from GPU to GPU.
//
//   rank 0 makes NCCL's id, MPI brings it to all ranks; each joins with its GPU       (once, at the first use)
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
#include "comm/collective.h"
#include "comm/device_sharing.h"
#include "comm/mpi_communicator.h"
#include "core/error.h"

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

/// This rank's place in NCCL's communicator of all ranks, once it is made.
class NcclRank {
 public:
  /// On the calling thread's GPU, the device's. Collective.
  NcclRank(Communicator& ranks, const cuda::CudaDevice& device)
      : ordinal_(device.ordinal()), nccl_(ranks.size(), bring_id(ranks, device), ranks.rank()) {}
  ~NcclRank() {
    if (std::uncaught_exceptions() == 0) static_cast<void>(cudaStreamSynchronize(stream_.get()));
  }

  int ordinal() const { return ordinal_; }

  /// Queues a collective between all that the device was asked before and all that it is asked then.
  template <typename Collective>
  void queue(const cuda::CudaDevice& device, const char* doing, const Collective& collective) {
    cuda::check(cudaEventRecord(before_.get(), device.stream()), doing);
    cuda::check(cudaStreamWaitEvent(stream_.get(), before_.get()), doing);
    nccl_.queue(doing, stream_.get(), [&](ncclComm_t comm, std::size_t) { return collective(comm, stream_.get()); });
    cuda::check(cudaEventRecord(after_.get(), stream_.get()), doing);
    cuda::check(cudaStreamWaitEvent(device.stream(), after_.get()), doing);
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

  int ordinal_;
  cuda::Stream stream_ = cuda::new_stream();
  cuda::Event before_ = cuda::new_event(), after_ = cuda::new_event();
  cuda::NcclCommunicators nccl_;
};

class PureNcclCommunicator : public MpiCommunicator {
 public:
  PureNcclCommunicator() {
    if (!link().empty())
      throw UsageError(
          "The communicator pure_nccl can't send over a simulated link (ODORI_LINK): NCCL takes ways of its own. Use "
          "another one, such as hierarchical, or unset ODORI_LINK.");
  }
  std::string name() const override { return "pure_nccl"; }

  void all_reduce_mean(Device& device, Buffer& gradients, std::span<const Range> pieces) override {
    const Collective call("comm->all_reduce_mean()");
    const Range range = range_of(gradients, pieces);
    const trace::Span span("allreduce", range.size() * sizeof(float));
    if (range.size() == 0) return;
    float* const numbers = gradients.data() + range.begin;
    queue(device, "averaging gradients", [&](ncclComm_t comm, cudaStream_t stream) {
      return ncclAllReduce(numbers, numbers, range.size(), ncclFloat, ncclAvg, comm, stream);
    });
  }

  // NCCL's own two take parts of one length.
  void reduce_scatter_mean(Device& device, Buffer& gradients) override {
    const Collective call("comm->reduce_scatter_mean()");
    const trace::Span span("reduce", gradients.bytes());
    queue_parts(device, "averaging gradients", gradients,
                [](float* part, std::size_t n, int owner, ncclComm_t comm, cudaStream_t stream) {
                  return ncclReduce(part, part, n, ncclFloat, ncclAvg, owner, comm, stream);
                });
  }

  void all_gather_parts(Device& device, Buffer& values) override {
    const Collective call("comm->all_gather_parts()");
    const trace::Span span("allgather", values.bytes());
    queue_parts(device, "sending parameters", values,
                [](float* part, std::size_t n, int owner, ncclComm_t comm, cudaStream_t stream) {
                  return ncclBroadcast(part, part, n, ncclFloat, owner, comm, stream);
                });
  }

  using MpiCommunicator::broadcast;
  void broadcast(Device& device, Buffer& values, int root) override {
    const Collective call("comm->broadcast()");
    const trace::Span span("broadcast", values.bytes());
    if (values.size() == 0) return;
    queue(device, "sending parameters", [&](ncclComm_t comm, cudaStream_t stream) {
      return ncclBroadcast(values.data(), values.data(), values.size(), ncclFloat, root, comm, stream);
    });
  }

 private:
  /// A call for each rank's part, all of them in one group of NCCL's.
  template <typename Call>
  void queue_parts(Device& device, const char* doing, Buffer& values, const Call& call) {
    queue(device, doing, [&](ncclComm_t comm, cudaStream_t stream) {
      ncclResult_t result = ncclSuccess;
      for (int owner = 0; owner < size() && result == ncclSuccess; ++owner) {
        const Range part = world().range_of(values.size(), owner);
        if (part.size() > 0) result = call(values.data() + part.begin, part.size(), owner, comm, stream);
      }
      return result;
    });
  }

  /// It is made when it is first needed: programs make their communicator before they choose a device.
  template <typename Collective>
  void queue(Device& device, const char* doing, const Collective& collective) {
    require(device.kind() == DeviceKind::cuda,
            "The communicator pure_nccl works on GPUs, but the model of rank {} is on {}. Use --communicator flat.",
            rank(), device.description());
    const auto& gpu = static_cast<const cuda::CudaDevice&>(device);
    device.bind_thread();
    if (!nccl_) nccl_.emplace(*this, gpu);
    require(
        nccl_->ordinal() == gpu.ordinal(),
        "The communicator pure_nccl of rank {} stands on GPU {}, and was given a model on {}. A rank's models are on "
        "one GPU.",
        rank(), nccl_->ordinal(), device.description());
    nccl_->queue(gpu, doing, collective);
    if (trace::on()) device.synchronize();  // the event stream shows how long it takes
  }

  std::optional<NcclRank> nccl_;
};

}  // namespace

// For the plug-in (backend/cuda/gpus.cpp).
std::unique_ptr<Communicator> make_pure_nccl_communicator() { return std::make_unique<PureNcclCommunicator>(); }

}  // namespace odori
