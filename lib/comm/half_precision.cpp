// SPDX-License-Identifier: Apache-2.0
#include "comm/half_precision.h"

#include <bit>
#include <cmath>
#include <cstring>

#include "backend/cpu/simd.h"
#include "numbers/bf16.h"

namespace odori {
namespace {

// No branches, only choices between numbers: the loops are compiled for wide vectors.

constexpr std::uint32_t infinity = 0x7f800000u, sign = 0x80000000u;

struct Fp16 {
  /// Subnormal halves are made by an addition that leaves their bits at the end of a float.
  static std::uint16_t from(float number) {
    const auto bits = std::bit_cast<std::uint32_t>(number);
    const std::uint32_t size = bits & ~sign;
    constexpr std::uint32_t too_large = (127 + 16) << 23, smallest_normal = (127 - 14) << 23,
                            at_the_end = (127 - 1) << 23;
    const std::uint32_t special = size > infinity ? 0x7e00u : 0x7c00u;
    const std::uint32_t subnormal =
        std::bit_cast<std::uint32_t>(std::bit_cast<float>(size) + std::bit_cast<float>(at_the_end)) - at_the_end;
    const std::uint32_t normal = (size - ((127 - 15) << 23) + 0xfffu + (size >> 13 & 1)) >> 13;
    const std::uint32_t half = size >= too_large ? special : size < smallest_normal ? subnormal : normal;
    return static_cast<std::uint16_t>(half | (bits >> 16 & 0x8000u));
  }
  static float to_float(std::uint16_t half) {
    const std::uint32_t size = half & 0x7fffu;
    // Its exponent as a float's: too small by 112, for subnormal halves as well.
    const float scaled = std::bit_cast<float>(size << 13) * std::bit_cast<float>((127u + 112u) << 23);
    const std::uint32_t bits = size < 0x7c00u ? std::bit_cast<std::uint32_t>(scaled) : infinity | (size & 0x3ffu) << 13;
    return std::bit_cast<float>(bits | (half & 0x8000u) << 16);
  }
};

// `packed` is memory of whatever lies there: its halves are read and written as bytes.
std::uint16_t half_at(const std::byte* packed, std::size_t i) {
  std::uint16_t half = 0;
  std::memcpy(&half, packed + i * sizeof half, sizeof half);
  return half;
}
void set_half(std::byte* packed, std::size_t i, std::uint16_t half) {
  std::memcpy(packed + i * sizeof half, &half, sizeof half);
}

template <typename Half>
inline __attribute__((always_inline)) void pack_all(float factor, const float* values, std::byte* packed,
                                                    std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) set_half(packed, i, Half::from(factor * values[i]));
}
ODORI_SIMD_CLONES void pack_fp16(float factor, const float* __restrict values, std::byte* __restrict packed,
                                 std::size_t n) {
  pack_all<Fp16>(factor, values, packed, n);
}
ODORI_SIMD_CLONES void pack_bf16(float factor, const float* __restrict values, std::byte* __restrict packed,
                                 std::size_t n) {
  pack_all<Bf16>(factor, values, packed, n);
}

template <typename Half>
inline __attribute__((always_inline)) std::int64_t unpack_all(const std::byte* packed, float* values, std::size_t n) {
  std::int64_t not_finite = 0;
  for (std::size_t i = 0; i < n; ++i) {
    values[i] = Half::to_float(half_at(packed, i));
    not_finite += (std::bit_cast<std::uint32_t>(values[i]) & ~sign) >= infinity;
  }
  return not_finite;
}
ODORI_SIMD_CLONES std::int64_t unpack_fp16(const std::byte* __restrict packed, float* __restrict values,
                                           std::size_t n) {
  return unpack_all<Fp16>(packed, values, n);
}
ODORI_SIMD_CLONES std::int64_t unpack_bf16(const std::byte* __restrict packed, float* __restrict values,
                                           std::size_t n) {
  return unpack_all<Bf16>(packed, values, n);
}

template <typename Half>
inline __attribute__((always_inline)) void add_all(const std::byte* from, std::byte* to, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i)
    set_half(to, i, Half::from(Half::to_float(half_at(from, i)) + Half::to_float(half_at(to, i))));
}
ODORI_SIMD_CLONES void add_fp16(const std::byte* __restrict from, std::byte* __restrict to, std::size_t n) {
  add_all<Fp16>(from, to, n);
}
ODORI_SIMD_CLONES void add_bf16(const std::byte* __restrict from, std::byte* __restrict to, std::size_t n) {
  add_all<Bf16>(from, to, n);
}

}  // namespace

void pack(Dtype dtype, float factor, std::span<const float> values, std::span<float> packed) {
  if (packed.empty()) return;
  packed.back() = 0;
  const auto to = std::as_writable_bytes(packed);
  (dtype == Dtype::fp16 ? pack_fp16 : pack_bf16)(factor, values.data(), to.data(), values.size());
}

std::int64_t unpack(Dtype dtype, std::span<const float> packed, std::span<float> values) {
  const auto from = std::as_bytes(packed);
  return (dtype == Dtype::fp16 ? unpack_fp16 : unpack_bf16)(from.data(), values.data(), values.size());
}

void add_packed(Dtype dtype, const void* from, void* to, std::size_t n_packed) {
  (dtype == Dtype::fp16 ? add_fp16 : add_bf16)(static_cast<const std::byte*>(from), static_cast<std::byte*>(to),
                                               2 * n_packed);
}

void add(Dtype dtype, std::span<float> to, std::span<const float> values) {
  if (dtype != Dtype::fp32) return add_packed(dtype, values.data(), to.data(), to.size());
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += values[i];
}

void divide(Dtype dtype, std::span<float> values, int n) {
  if (dtype != Dtype::fp32) return;
  const float share = 1.0f / static_cast<float>(n);
  for (float& value : values) value *= share;
}

}  // namespace odori
