// SPDX-License-Identifier: Apache-2.0
// Errors of CUDA and NCCL as sentences. Those that the grader describes have a name (observe/refusal.h).
#include <string_view>

#include "nccl_cases.h"
#include "nccl_support.h"
#include "observe/refusal.h"

namespace odori {
namespace {

bool contains(std::string_view text, std::string_view words) { return text.find(words) != std::string_view::npos; }

/// Of the emulated NCCL's sentences (lib/backend/emulated).
const char* refusal_of(std::string_view call, std::string_view said) {
  if (contains(said, "Duplicate GPU")) return nccl_facts::one_gpu_twice;
  if (contains(said, "no call with this id")) return nccl_facts::ranks_missing;
  if (contains(said, "one group")) return nccl_facts::no_group;
  if (contains(call, "ncclCommInitRank")) return nccl_facts::init_refused;
  if (contains(call, "ncclAllReduce") || contains(call, "ncclGroupEnd")) return nccl_facts::all_reduce_refused;
  return nccl_facts::nccl_failed;
}

}  // namespace

void check_cuda(cudaError_t result, const char* call) {
  const bool no_such_gpu = result == cudaErrorInvalidDevice && contains(call, "cudaSetDevice");
  int gpus = 0;
  if (no_such_gpu) static_cast<void>(cudaGetDeviceCount(&gpus));
  refusal::require(nccl_facts::no_such_gpu, !no_such_gpu, "{} failed: this process sees {} GPUs, which count from 0.",
                   call, gpus);
  refusal::require(nccl_facts::cuda_failed, result == cudaSuccess, "{} failed: {} ({}).", call,
                   cudaGetErrorString(result), cudaGetErrorName(result));
}

void check_nccl(ncclResult_t result, const char* call) {
  if (result == ncclSuccess) return;
  const std::string said = ncclGetLastError(nullptr);
  refusal::require(refusal_of(call, said), false, "{} failed: {}. {}{}", call, ncclGetErrorString(result), said,
                   said.empty() || said.ends_with('.') ? "" : ".");
}

}  // namespace odori
