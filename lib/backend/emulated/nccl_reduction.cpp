// SPDX-License-Identifier: Apache-2.0
// Implements the arithmetic of NCCL's collectives.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstring>

#include "backend/emulated/nccl_communicator.h"

namespace odori::emulator {
namespace {

float to_float(float x) { return x; }
float to_float(__half x) { return __half2float(x); }
float to_float(__nv_bfloat16 x) { return __bfloat162float(x); }
void assign(float& to, float x) { to = x; }
void assign(__half& to, float x) { to = __float2half_rn(x); }
void assign(__nv_bfloat16& to, float x) { to = __float2bfloat16_rn(x); }

template <typename T>
void sum(float factor, std::span<const std::byte* const> inputs, std::size_t count, std::byte* output) {
  for (std::size_t i = 0; i < count; ++i) {
    T sum{}, x{};
    for (const std::byte* const input : inputs) {
      std::memcpy(&x, input + i * sizeof x, sizeof x);
      assign(sum, to_float(sum) + factor * to_float(x));
    }
    std::memcpy(output + i * sizeof sum, &sum, sizeof sum);
  }
}

}  // namespace

void reduce(const NcclOperation& operation, std::span<const std::byte* const> inputs, int n_ranks, std::size_t count,
            std::byte* output) {
  const float factor = operation.op == ncclAvg ? 1.0f / static_cast<float>(n_ranks) : 1.0f;
  const auto sum_of_type = operation.type == ncclFloat  ? sum<float>
                           : operation.type == ncclHalf ? sum<__half>
                                                        : sum<__nv_bfloat16>;
  sum_of_type(factor, inputs, count, output);
}

}  // namespace odori::emulator
