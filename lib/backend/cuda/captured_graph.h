// SPDX-License-Identifier: Apache-2.0
// Captures repeated work as a CUDA graph, so that one call replaces about a hundred launches.
#pragma once

#include <functional>
#include <string>

#include "backend/cuda/cuda_check.h"

namespace odori::cuda {

/// The first run queues the work without capture, so that libraries can initialise; the second captures it; later runs
/// launch the graph. Everything that changes between runs must be in GPU memory (kernels/step.h).
class CapturedGraph {
 public:
  /// `work` queues the work on the stream. With `capture` = false it is called each time.
  void run(cudaStream_t stream, bool capture, const std::function<void()>& work);
  /// "captured", "not captured yet", or the reason why it cannot be captured.
  std::string state() const;

 private:
  bool try_to_capture(cudaStream_t stream, const std::function<void()>& work);

  bool warm_ = false;
  Owned<cudaGraphExec_t, cudaGraphExecDestroy> graph_;
  std::string failure_;
};

}  // namespace odori::cuda
