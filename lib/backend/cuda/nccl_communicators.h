// SPDX-License-Identifier: Apache-2.0
// What this process holds of a NCCL communicator: a handle a GPU, watched as long as it lives.
#pragma once

#include <nccl.h>

#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "backend/cuda/cuda_check.h"
#include "threads/watch.h"

namespace odori::cuda {

/// Throws Error unless the call went well. `doing` goes on after "while": "connecting the ranks".
void check(ncclResult_t result, const char* doing);

/// Errors after NCCL's calls, and work that makes no progress, end the program with a sentence.
class NcclCommunicators {
 public:
  /// Of distinct GPUs of this process, by CUDA's device ids.
  explicit NcclCommunicators(std::span<const int> ordinals);
  /// The one of all ranks, on the calling thread's GPU. Collective; rank 0 has made the id.
  NcclCommunicators(int n_ranks, const ncclUniqueId& id, int rank);
  /// What was queued must be done, or an exception under way: NCCL then drops it.
  ~NcclCommunicators();
  NcclCommunicators(const NcclCommunicators&) = delete;
  NcclCommunicators& operator=(const NcclCommunicators&) = delete;

  /// Queues call(communicator i) for each i, as one group: a call of NCCL may wait for those of the other GPUs, so that
  /// one thread can't make them one after another. Everything then is queued on the streams, `followed` among them.
  void queue(const char* doing, cudaStream_t followed,
             const std::function<ncclResult_t(ncclComm_t, std::size_t)>& call);

 private:
  explicit NcclCommunicators(std::size_t n, const char* work);
  std::string failure();

  std::vector<ncclComm_t> comms_;
  std::mutex mutex_;
  bool connected_ = false;  // the watch may ask the communicators
  // The watch follows what is queued from a stream of its own, so that its host function delays no other work.
  Stream progress_ = new_stream();
  Event queued_ = new_event();
  std::unique_ptr<Watch> watch_;
};

}  // namespace odori::cuda
