// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/kernels/momentum_sgd.h"
#include "backend/cuda/kernels/numbers.h"

namespace odori::cuda::kernels {
namespace {

constexpr int group_log2 = 4;  // a bit of in_bf16 stands for 2^4 elements, as an element of `groups` does

/// `with_bf16`: the vectors of bf16 are there. `changing`: null, or the factors to use in place of `given`.
template <bool with_bf16, int V>
__global__ void momentum_sgd_kernel(UpdateVectors x, MomentumFactors given, const MomentumFactors* changing,
                                    std::size_t n) {
  wait_for_previous_kernel();
  const MomentumFactors of_all = changing ? *changing : given;
  for_my_numbers<V>(n, [&](auto width, std::size_t i) {
    constexpr int W = decltype(width)::value;
    const auto gradient = [&] {
      if constexpr (with_bf16) {
        const std::size_t group = i >> group_log2;
        if (x.in_bf16[group / 32] >> (group % 32) & 1) return read<W>(static_cast<const __nv_bfloat16*>(x.g_bf16) + i);
      }
      return read<W>(x.g + i);
    };
    const MomentumFactors f = x.groups ? changing[x.groups[i >> group_log2]] : of_all;
    auto g = gradient();
    auto velocity = read<W>(x.v + i);
    auto parameter = read<W>(x.p + i);
    for (int k = 0; k < W; ++k) {
      // The same multiply-adds as in axpy and a kernel after it, whatever the compiler would choose.
      if (f.decay != 0) g[k] = fmaf(f.decay, parameter[k], g[k]);
      velocity[k] = fmaf(f.momentum, velocity[k], f.g_to_v * g[k]);
      if (f.g_to_p != 0) parameter[k] = fmaf(f.g_to_p, g[k], parameter[k]);
      parameter[k] = fmaf(f.v_to_p, velocity[k], parameter[k]);
    }
    write(x.v + i, velocity);
    write(x.p + i, parameter);
    if constexpr (with_bf16) write(static_cast<__nv_bfloat16*>(x.copy) + i, parameter);
  });
}

template <bool with_bf16, int V>
void launch_update(cudaStream_t stream, const UpdateVectors& vectors, const MomentumFactors& given,
                   const MomentumFactors* changing, std::size_t n) {
  launch("momentum SGD", momentum_sgd_kernel<with_bf16, V>, stream, blocks_for<V>(n), threads_per_block, vectors, given,
         changing, n);
}

void update(cudaStream_t stream, const UpdateVectors& x, const MomentumFactors& given, const MomentumFactors* changing,
            std::size_t n) {
  const bool lie_well = aligned(x.p, x.v, x.g);
  if (x.g_bf16) {
    const bool all = lie_well && aligned(static_cast<const float*>(x.g_bf16), static_cast<const float*>(x.copy));
    (all ? launch_update<true, 8> : launch_update<true, 1>)(stream, x, given, changing, n);
  } else {
    (lie_well ? launch_update<false, 4> : launch_update<false, 1>)(stream, x, given, changing, n);
  }
}

template <int V>
__global__ void look_ahead_kernel(float* slow, float* fast, void* copy, float keep, std::size_t n) {
  wait_for_previous_kernel();
  const float take = 1 - keep;
  for_my_numbers<V>(n, [&](auto width, std::size_t i) {
    constexpr int W = decltype(width)::value;
    auto average = read<W>(slow + i);
    const auto current = read<W>(fast + i);
    for (int k = 0; k < W; ++k) average[k] = fmaf(keep, average[k], take * current[k]);
    write(slow + i, average);
    write(fast + i, average);
    if (copy) write(static_cast<__nv_bfloat16*>(copy) + i, average);
  });
}

}  // namespace

void momentum_sgd(cudaStream_t stream, const UpdateVectors& vectors, const MomentumGroups& groups, Range range) {
  groups.for_parts(range, [&](Range part, const MomentumFactors& factors) {
    const std::size_t at = part.begin - range.begin;
    update(stream, {vectors.p + at, vectors.v + at, vectors.g + at}, factors, nullptr, part.size());
  });
}

void momentum_sgd(cudaStream_t stream, const UpdateVectors& vectors, const MomentumFactors* factors, std::size_t n) {
  update(stream, vectors, {}, factors, n);
}

void look_ahead(cudaStream_t stream, float* slow, float* fast, void* copy, float keep, std::size_t n) {
  const bool lie_well = aligned(slow, fast, static_cast<const float*>(copy));
  const auto start = [&](auto kernel, dim3 blocks) {
    launch("lookahead", kernel, stream, blocks, threads_per_block, slow, fast, copy, keep, n);
  };
  lie_well ? start(look_ahead_kernel<8>, blocks_for<8>(n)) : start(look_ahead_kernel<1>, blocks_for<1>(n));
}

}  // namespace odori::cuda::kernels
