// SPDX-License-Identifier: Apache-2.0
// Gradients of 16 bits, in which ranks exchange them: what comm/half_precision.h does in host memory. n may be 0.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "numbers/dtype.h"

namespace odori::cuda::kernels {

/// packed = factor * number, for each, rounded to the nearest. `dtype`: fp16 or bf16.
void pack(cudaStream_t stream, Dtype dtype, float factor, const float* numbers, void* packed, std::size_t n);
/// Back to fp32. Adds to *not_finite, in the GPU's memory, how many of the elements are infinite or nan.
void unpack(cudaStream_t stream, Dtype dtype, const void* packed, float* numbers, std::size_t n,
            std::uint32_t* not_finite);

}  // namespace odori::cuda::kernels
