// SPDX-License-Identifier: Apache-2.0
// This process's handles of an NCCL communicator, one per GPU, with a watchdog that ends the program if a collective
// fails or hangs.
#pragma once

#include <nccl.h>

#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "backend/cuda/cuda_check.h"
#include "backend/nccl_group.h"
#include "threads/watchdog.h"

namespace odori::cuda {

/// Throws Error unless the call succeeded: "NCCL failed while " and `doing` ("connecting the ranks").
void check(ncclResult_t result, const char* doing);

/// Errors that a call returns are thrown. Asynchronous errors, and operations that make no progress, end the program
/// with a sentence.
class NcclCommunicators {
 public:
  /// A communicator of distinct GPUs of this process (ncclCommInitAll), by CUDA's device ids.
  explicit NcclCommunicators(std::span<const int> ordinals);
  /// The communicator of all ranks (ncclCommInitRank), on the calling thread's GPU. Collective; rank 0 created the id.
  NcclCommunicators(int n_ranks, const ncclUniqueId& id, int rank);
  /// Queued operations must be done. During an exception they need not be: then the communicators are aborted.
  ~NcclCommunicators();
  NcclCommunicators(const NcclCommunicators&) = delete;
  NcclCommunicators& operator=(const NcclCommunicators&) = delete;

  /// Queues call(communicator i) for each i, between ncclGroupStart and ncclGroupEnd: one thread cannot make them one
  /// after another, since a call may wait for those of the other GPUs. `followed`: one of the streams that `call` uses,
  /// whose progress the watchdog follows.
  void queue(const char* doing, cudaStream_t followed,
             const std::function<ncclResult_t(ncclComm_t, std::size_t)>& call);

 private:
  NcclCommunicators(std::size_t n, const Text& work);
  std::string failure();

  std::vector<ncclComm_t> comms_;
  std::mutex mutex_;
  bool connected_ = false;  // the watchdog may query the communicators
  // The watchdog's host function runs on a separate stream, so that it delays no other work.
  Stream progress_ = new_stream();
  Event queued_ = new_event();
  std::unique_ptr<Watchdog> watch_;
};

std::unique_ptr<NcclGroup> make_nccl_group(Device& device, int size, int rank,
                                           const NcclGroup::BroadcastId& broadcast_id);

}  // namespace odori::cuda
