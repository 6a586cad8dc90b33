// SPDX-License-Identifier: Apache-2.0
// Arithmetic on n elements of flat vectors, which may be any part of them. n may be 0.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "backend/adam_factors.h"
#include "backend/cuda/kernels/storage.h"

namespace odori::cuda::kernels {

/// y += a * x
void axpy(cudaStream_t stream, float a, const float* x, float* y, std::size_t n);
/// y *= a
void scale(cudaStream_t stream, float a, float* y, std::size_t n);
/// Swaps the elements of x and y.
void swap(cudaStream_t stream, float* x, float* y, std::size_t n);
/// See AdamFactors.
void adam(cudaStream_t stream, float* p, const float* g, float* m, float* v, const AdamFactors& factors, std::size_t n);
/// y = a * (y + the sum of the others, in their order). `others`: n_others device pointers, in host memory.
void add_and_scale(cudaStream_t stream, float a, const float* const* others, int n_others, float* y, std::size_t n);
/// to = from, rounded to the nearest where `to` is narrower. They don't overlap.
void cast(cudaStream_t stream, Storage from_type, const void* from, Storage to_type, void* to, std::size_t n);
/// x = random numbers of [-1, 1), other ones with another seed.
void fill_with_noise(cudaStream_t stream, Storage storage, void* x, std::size_t n, std::uint64_t seed);

}  // namespace odori::cuda::kernels
