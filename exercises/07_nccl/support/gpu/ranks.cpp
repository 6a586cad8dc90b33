// SPDX-License-Identifier: Apache-2.0
// Ranks and their GPUs.
#include <unistd.h>

#include <array>
#include <span>

#include "errors/error.h"
#include "gpus.h"
#include "nccl_cases.h"
#include "nccl_support.h"
#include "observe/hooks.h"

namespace odori {

void broadcast(void* data, std::size_t bytes, int root, Communicator& comm) {
  observe::on_event(nccl_facts::broadcast, {static_cast<std::int64_t>(bytes), root});
  comm.broadcast(std::span(static_cast<std::byte*>(data), bytes), root);
}

int visible_gpus(const Communicator& comm, DeviceRequest request) {
  if (request == DeviceRequest::cuda && gpus::are_emulated())
    throw UsageError(
        "--device cuda: this program was built against emulated GPUs. ./odori run starts the other one where "
        "CUDA and a GPU are found.");
  if (request == DeviceRequest::cpu && !gpus::are_emulated())
    throw UsageError("--device cpu: this program was built against CUDA. ./odori run starts the other one.");
  gpus::prepare(comm);
  int count = 0;
  const cudaError_t result = cudaGetDeviceCount(&count);
  require(result == cudaSuccess && count > 0,
          "This process sees no GPU ({}). CUDA_VISIBLE_DEVICES selects GPUs; without a GPU, ./odori run uses emulated "
          "ones.",
          cudaGetErrorString(result));
  if (comm.rank() == 0)
    fmt::print("{} GPUs: each process sees {}\n", gpus::are_emulated() ? "Emulated" : "Real", count);
  return count;
}

void report_gpus(Communicator& comm) {
  struct Place {
    int node, device;
    std::array<char, 32> address;
  };
  Place own{comm.inter_rank(), 0, {}};
  int visible = 0;
  CUDA_CHECK(cudaGetDevice(&own.device));
  CUDA_CHECK(cudaGetDeviceCount(&visible));
  CUDA_CHECK(cudaDeviceGetPCIBusId(own.address.data(), static_cast<int>(own.address.size()), own.device));
  observe::on_event(nccl_facts::gpu, {own.device, gpus::physical(own.device), visible});
  const std::vector<Place> all = comm.all_gather(own);
  if (comm.rank() == 0)
    for (std::size_t rank = 0; rank < all.size(); ++rank)
      fmt::print("  rank {} on node {}: GPU {}, at {}\n", rank, all[rank].node, all[rank].device,
                 all[rank].address.data());
}

}  // namespace odori
