// SPDX-License-Identifier: Apache-2.0
// Arithmetic on n >= 0 elements of flat vectors, from any position.
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
/// y = a * (y + sum of the others, in order). `others`: a host array of n_others device pointers.
void add_and_scale(cudaStream_t stream, float a, const float* const* others, int n_others, float* y, std::size_t n);
/// to = from, rounded to nearest if `to` is narrower. They must not overlap.
void cast(cudaStream_t stream, Storage from_type, const void* from, Storage to_type, void* to, std::size_t n);
/// x = uniform random values in [-1, 1), which depend on the seed.
void fill_with_noise(cudaStream_t stream, Storage storage, void* x, std::size_t n, std::uint64_t seed);

}  // namespace odori::cuda::kernels
