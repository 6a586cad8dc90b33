// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/captured_graph.h"

#include <fmt/core.h>

#include "errors/error.h"

namespace odori::cuda {

void CapturedGraph::run(cudaStream_t stream, bool capture, const std::function<void()>& work) {
  if (capture && warm_ && !graph_ && failure_.empty() && !try_to_capture(stream, work)) {
    cudaGetLastError();  // it ends here: the work is queued as it is
    fmt::print(stderr, "Warning: a pass can't be captured as a CUDA graph, and is slower without: {}\n", failure_);
  }
  if (capture && graph_)
    check(cudaGraphLaunch(graph_.get(), stream), "starting a captured pass");
  else
    work();
  warm_ = true;
}

/// This thread's calls alone are watched: other devices' threads allocate, copy and wait as they like.
bool CapturedGraph::try_to_capture(cudaStream_t stream, const std::function<void()>& work) {
  if (const cudaError_t error = cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
      error != cudaSuccess) {
    failure_ = cudaGetErrorString(error);
    return false;
  }
  try {
    work();
  } catch (const Error& error) {
    failure_ = error.what();
  }
  cudaGraph_t captured = nullptr;  // the end comes in any case: the stream would stay useless without it
  cudaError_t error = cudaStreamEndCapture(stream, &captured);
  const Owned<cudaGraph_t, cudaGraphDestroy> owner(captured);
  cudaGraphExec_t graph = nullptr;
  if (error == cudaSuccess && failure_.empty()) error = cudaGraphInstantiate(&graph, captured, 0);
  graph_.reset(graph);
  if (error != cudaSuccess && failure_.empty()) failure_ = cudaGetErrorString(error);
  return failure_.empty();
}

std::string CapturedGraph::state() const {
  if (graph_) return "captured";
  return failure_.empty() ? "not captured yet" : "not captured: " + failure_;
}

}  // namespace odori::cuda
