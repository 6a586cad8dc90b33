// SPDX-License-Identifier: Apache-2.0
// The type of activations and their gradients in a GPU's memory. All sums are fp32 whatever it is.
#pragma once

#include <cstddef>

namespace odori::cuda {

enum class Storage { fp32, bf16 };

constexpr std::size_t bytes_of(Storage storage) { return storage == Storage::fp32 ? 4 : 2; }

}  // namespace odori::cuda
