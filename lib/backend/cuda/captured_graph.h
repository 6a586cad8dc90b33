// SPDX-License-Identifier: Apache-2.0
// Work that is queued in the same way each time, as a CUDA graph: one call then replaces a hundred launches.
#pragma once

#include <functional>
#include <string>

#include "backend/cuda/cuda_check.h"

namespace odori::cuda {

/// The first run queues the work as it is, so that libraries can load what they need; the second captures it; from then
/// on the graph is queued. Whatever changes from run to run has to be in the GPU's memory (kernels/step.h).
class CapturedGraph {
 public:
  /// `work` queues the work on the stream. With `capture` false it is called each time.
  void run(cudaStream_t stream, bool capture, const std::function<void()>& work);
  /// "captured", "not captured yet", or why not.
  std::string state() const;

 private:
  bool try_to_capture(cudaStream_t stream, const std::function<void()>& work);

  bool warm_ = false;
  Owned<cudaGraphExec_t, cudaGraphExecDestroy> graph_;
  std::string failure_;
};

}  // namespace odori::cuda
