// SPDX-License-Identifier: Apache-2.0
// Implements communicators of the GPUs of one process.
#include <utility>
#include <vector>

#include "backend/emulated/nccl_communicator.h"
#include "backend/emulated/stream.h"

namespace odori::emulator {
namespace {

/// Copies a member's input when its stream reaches the collective, so that the stream can continue.
class GpuCommunicator : public EmulatedCommunicator {
 public:
  GpuCommunicator(std::size_t size, const ncclUniqueId& id) : EmulatedCommunicator(id), size_(size) {}
  std::size_t local_members() const override { return size_; }
  void abort() override {}

  ncclResult_t queue(std::span<const NcclCall> calls) override {
    const auto inputs = std::make_shared<std::vector<std::vector<std::byte>>>(size_);
    std::vector<cudaEvent_t> copied;
    for (const NcclCall& call : calls) {
      if (!call.sends()) continue;
      const auto rank = static_cast<std::size_t>(call.comm->rank);
      emulator::queue(call.stream, [inputs, call, rank] {
        (*inputs)[rank].assign(call.input, call.input + call.operation.bytes());
      });
      cudaEventCreate(&copied.emplace_back());
      cudaEventRecord(copied.back(), call.stream);
    }
    for (const NcclCall& call : calls) {
      if (!call.receives()) continue;
      for (const cudaEvent_t event : copied) cudaStreamWaitEvent(call.stream, event);
      emulator::queue(call.stream, [inputs, call, size = call.comm->size] {
        std::vector<const std::byte*> sent;
        for (int rank = 0; rank < size; ++rank)
          if (call.operation.sends(rank)) sent.push_back((*inputs)[static_cast<std::size_t>(rank)].data());
        reduce(call.operation, sent, size, call.operation.count, call.output);
      });
    }
    for (const cudaEvent_t event : copied) cudaEventDestroy(event);
    return ncclSuccess;
  }

 private:
  std::size_t size_;
};

}  // namespace

std::shared_ptr<EmulatedCommunicator> connect_gpus(std::size_t size, const ncclUniqueId& id) {
  return std::make_shared<GpuCommunicator>(size, id);
}

}  // namespace odori::emulator
