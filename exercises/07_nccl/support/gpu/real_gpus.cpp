// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime_api.h>

#include <cstdlib>

#include "gpus.h"

namespace odori::gpus {

bool are_emulated() { return false; }

/// Where ranks share a GPU, NCCL takes them for ranks of several hosts (as in lib/comm/pure_nccl.cpp).
void prepare(const Communicator& comm) {
  int n = 0;
  if (cudaGetDeviceCount(&n) != cudaSuccess || n == 0 || n >= comm.intra_size() || std::getenv("CUDA_VISIBLE_DEVICES"))
    return;
  const std::string host = "node" + std::to_string(comm.inter_rank()) + "-" + std::to_string(comm.intra_rank() / n);
  ::setenv("NCCL_HOSTID", host.c_str(), 0);
}

int physical(int /*gpu*/) { return -1; }
void start_log(int /*rank*/) {}
std::vector<LogEntry> stop_log() { return {}; }
void describe(std::string /*name*/, std::vector<MemoryRange> /*reads*/, std::vector<MemoryRange> /*writes*/,
              double /*seconds*/) {}
void host_reads(std::string /*name*/, MemoryRange /*memory*/) {}

}  // namespace odori::gpus
