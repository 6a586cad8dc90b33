// SPDX-License-Identifier: Apache-2.0
// Conversion of gradients to and from 16 bits for messages, as comm/half_precision.h does in host memory. n may be 0.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "numbers/dtype.h"

namespace odori::cuda::kernels {

/// Packs factor * x for each element x, rounded to nearest. `dtype`: fp16 or bf16.
void pack(cudaStream_t stream, Dtype dtype, float factor, const float* values, void* packed, std::size_t n);
/// Converts back to fp32. Adds the number of infinite or NaN elements to *not_finite, in GPU memory.
void unpack(cudaStream_t stream, Dtype dtype, const void* packed, float* values, std::size_t n,
            std::uint32_t* not_finite);

}  // namespace odori::cuda::kernels
