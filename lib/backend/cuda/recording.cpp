#include "backend/cuda/recording.h"

#include <fmt/core.h>

#include "core/error.h"

namespace odori::cuda {

void Recording::run(cudaStream_t stream, bool record, const std::function<void()>& work) {
  if (record && warm_ && !graph_ && failure_.empty() && !try_to_record(stream, work)) {
    cudaGetLastError();  // it ends here: the work is queued as it is
    fmt::print(stderr, "Warning: a pass can't be recorded as a CUDA graph, and is slower without: {}\n", failure_);
  }
  if (record && graph_)
    check(cudaGraphLaunch(graph_.get(), stream), "starting a recorded pass");
  else
    work();
  warm_ = true;
}

/// This thread's calls alone are watched: other devices' threads allocate, copy and wait as they like.
bool Recording::try_to_record(cudaStream_t stream, const std::function<void()>& work) {
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
  cudaGraph_t recorded = nullptr;  // the end comes in any case: the stream would stay useless without it
  cudaError_t error = cudaStreamEndCapture(stream, &recorded);
  const Owned<cudaGraph_t, cudaGraphDestroy> owner(recorded);
  cudaGraphExec_t graph = nullptr;
  if (error == cudaSuccess && failure_.empty()) error = cudaGraphInstantiate(&graph, recorded, 0);
  graph_.reset(graph);
  if (error != cudaSuccess && failure_.empty()) failure_ = cudaGetErrorString(error);
  return failure_.empty();
}

std::string Recording::state() const {
  if (graph_) return "recorded";
  return failure_.empty() ? "not recorded yet" : "not recorded: " + failure_;
}

}  // namespace odori::cuda
