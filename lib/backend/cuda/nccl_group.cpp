// SPDX-License-Identifier: Apache-2.0
#include "backend/nccl_group.h"

#include <exception>

#include "backend/cuda/device.h"
#include "backend/cuda/kernels/half_precision.h"
#include "backend/cuda/nccl_communicators.h"
#include "errors/error.h"
#include "trace/trace.h"

namespace odori::cuda {
namespace {

ncclUniqueId common_id(int rank, const NcclGroup::BroadcastId& broadcast_id) {
  ncclUniqueId id{};
  if (rank == 0) check(ncclGetUniqueId(&id), "making the id of all ranks");
  broadcast_id(std::as_writable_bytes(std::span(id.internal)));
  return id;
}

ncclRedOp_t operation(NcclGroup::ReduceOp op) { return op == NcclGroup::ReduceOp::sum ? ncclSum : ncclAvg; }

/// On a stream of its own, so that it can go on while the device computes.
class CudaNcclGroup : public NcclGroup {
 public:
  CudaNcclGroup(const CudaDevice& device, int size, int rank, const BroadcastId& broadcast_id)
      : size_(size), ordinal_(device.ordinal()), nccl_(size, common_id(rank, broadcast_id), rank) {}
  ~CudaNcclGroup() override {
    if (std::uncaught_exceptions() == 0) static_cast<void>(cudaStreamSynchronize(stream_.get()));
  }

  void all_reduce(Device& device, std::span<float> values, ReduceOp op) override {
    queue(device, values, "averaging gradients", [&](ncclComm_t comm, cudaStream_t stream) {
      return ncclAllReduce(values.data(), values.data(), values.size(), ncclFloat, operation(op), comm, stream);
    });
  }
  // What isn't NCCL's is asked of the device itself, before and behind. The host waits in the end, so that the next
  // call finds the vector unused, whatever device or stream it is of.
  std::int64_t all_reduce_mean_in(Dtype dtype, Device& device, std::span<float> values) override {
    if (values.empty()) return 0;
    constexpr const char* doing = "averaging gradients";
    const cudaStream_t stream = gpu(device).stream();
    if (const std::size_t n = (values.size() + 1) / 2; packed_.size() < n) packed_ = device.allocate(n);
    if (!not_finite_) not_finite_ = allocate_zeros(sizeof(std::uint32_t), "the exchange of gradients", stream);
    auto* const not_finite = reinterpret_cast<std::uint32_t*>(not_finite_.get());

    kernels::pack(stream, dtype, 1.0f / static_cast<float>(size_), values.data(), packed_.data(), values.size());
    queue(device, values, doing, [&](ncclComm_t comm, cudaStream_t nccl) {
      const ncclDataType_t type = dtype == Dtype::fp16 ? ncclHalf : ncclBfloat16;
      return ncclAllReduce(packed_.data(), packed_.data(), values.size(), type, ncclSum, comm, nccl);
    });
    check(cudaMemsetAsync(not_finite, 0, sizeof *not_finite, stream), doing);
    kernels::unpack(stream, dtype, packed_.data(), values.data(), values.size(), not_finite);
    std::uint32_t found = 0;
    check(cudaMemcpyAsync(&found, not_finite, sizeof found, cudaMemcpyDeviceToHost, stream), doing);
    check(cudaStreamSynchronize(stream), doing);
    return found;
  }
  void reduce(Device& device, std::span<float> values, int root) override {
    queue(device, values, "reducing gradients", [&](ncclComm_t comm, cudaStream_t stream) {
      return ncclReduce(values.data(), values.data(), values.size(), ncclFloat, ncclSum, root, comm, stream);
    });
  }
  void broadcast(Device& device, std::span<float> values, int root) override {
    queue(device, values, "broadcasting one rank's values", [&](ncclComm_t comm, cudaStream_t stream) {
      return ncclBroadcast(values.data(), values.data(), values.size(), ncclFloat, root, comm, stream);
    });
  }

  // NCCL's own two take parts of one length. So there is a call for each rank's part, all of them in one group of
  // NCCL's.
  void reduce_scatter(Device& device, std::span<float> values, std::span<const Range> parts, ReduceOp op) override {
    queue_parts(device, values, parts, "averaging gradients",
                [op](float* part, std::size_t n, int owner, ncclComm_t comm, cudaStream_t stream) {
                  return ncclReduce(part, part, n, ncclFloat, operation(op), owner, comm, stream);
                });
  }
  void all_gather(Device& device, std::span<float> values, std::span<const Range> parts) override {
    queue_parts(device, values, parts, "sending each rank's shard",
                [](float* part, std::size_t n, int owner, ncclComm_t comm, cudaStream_t stream) {
                  return ncclBroadcast(part, part, n, ncclFloat, owner, comm, stream);
                });
  }

 private:
  template <typename Call>
  void queue_parts(Device& device, std::span<float> values, std::span<const Range> parts, const char* doing,
                   const Call& call) {
    queue(device, values, doing, [&](ncclComm_t comm, cudaStream_t stream) {
      ncclResult_t result = ncclSuccess;
      for (std::size_t owner = 0; owner < parts.size() && result == ncclSuccess; ++owner)
        if (const Range part = parts[owner]; part.size() > 0)
          result = call(values.data() + part.begin, part.size(), static_cast<int>(owner), comm, stream);
      return result;
    });
  }

  /// Between all that the device was asked before and all that it is asked then.
  template <typename Call>
  void queue(Device& device, std::span<float> values, const char* doing, const Call& call) {
    const cudaStream_t stream = gpu(device).stream();
    if (values.empty()) return;
    check(cudaEventRecord(before_.get(), stream), doing);
    check(cudaStreamWaitEvent(stream_.get(), before_.get()), doing);
    nccl_.queue(doing, stream_.get(), [&](ncclComm_t comm, std::size_t) { return call(comm, stream_.get()); });
    check(cudaEventRecord(after_.get(), stream_.get()), doing);
    check(cudaStreamWaitEvent(stream, after_.get()), doing);
    if (trace::on()) device.synchronize();  // the event stream shows how long it takes
  }

  const CudaDevice& gpu(Device& device) const {
    const auto& gpu = static_cast<const CudaDevice&>(device);
    require(ordinal_ == gpu.ordinal(),
            "This rank has joined the others with GPU {}, and was given a model on {}. A rank's models are on one GPU.",
            ordinal_, device.description());
    device.bind_thread();
    return gpu;
  }

  int size_, ordinal_;
  Buffer packed_;            // for all_reduce_mean_in(): 16-bit elements
  DeviceMemory not_finite_;  // how many of them
  Stream stream_ = new_stream();
  Event before_ = new_event(), after_ = new_event();
  NcclCommunicators nccl_;
};

}  // namespace

std::unique_ptr<NcclGroup> make_nccl_group(Device& device, int size, int rank,
                                           const NcclGroup::BroadcastId& broadcast_id) {
  device.bind_thread();
  return std::make_unique<CudaNcclGroup>(static_cast<const CudaDevice&>(device), size, rank, broadcast_id);
}

}  // namespace odori::cuda
