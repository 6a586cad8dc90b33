// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>

#include "backend/emulated/emulator.h"
#include "backend/emulated/machine.h"
#include "backend/emulated/operation_recorder.h"
#include "gpus.h"
#include "nccl_cases.h"
#include "test_cases.h"

namespace odori::gpus {

bool are_emulated() { return true; }

void prepare(const Communicator& comm) {
  // Ranks of nodes that are played on one machine use different GPUs. A learner does not wait long for ranks that never
  // call.
  ::setenv("NCCL_HOSTID", ("node" + std::to_string(comm.inter_rank())).c_str(), 1);
  ::setenv("ODORI_EMULATED_NCCL_TIMEOUT", "6", 0);
  const NcclCase given = test_cases().is_null() ? NcclCase() : test_cases().get<NcclCase>();
  const bool chosen = std::getenv("ODORI_EMULATED_GPUS") || std::getenv("CUDA_VISIBLE_DEVICES");
  if (chosen && test_cases().is_null()) return;
  emulator::Machine machine{.gpus = given.gpus > 0 ? given.gpus : comm.intra_size(),
                            .seed = static_cast<std::uint64_t>(given.seed + comm.rank())};
  if (given.one_each) machine.gpus = 1, machine.physical = {comm.intra_rank()};
  emulator::set_machine(machine);
}

int physical(int gpu) { return emulator::physical_gpu(gpu); }

void start_log(int rank) { emulator::start_log(rank); }
std::vector<LogEntry> stop_log() { return emulator::stop_log(); }

void describe(std::string name, std::vector<MemoryRange> reads, std::vector<MemoryRange> writes, double seconds) {
  emulator::annotate({std::move(name), std::move(reads), std::move(writes), seconds});
}
void host_reads(std::string name, MemoryRange memory) {
  emulator::log_host_access({.name = std::move(name), .reads = {memory}});
}

}  // namespace odori::gpus
