// SPDX-License-Identifier: Apache-2.0
// Element type of activations and their gradients in GPU memory. Sums are always fp32.
#pragma once

#include <cstddef>

namespace odori::cuda {

enum class Storage { fp32, bf16 };

constexpr std::size_t bytes_of(Storage storage) { return storage == Storage::fp32 ? 4 : 2; }

}  // namespace odori::cuda
