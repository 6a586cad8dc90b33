// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/operation.h"

#include <fmt/core.h>

#include "backend/cuda/kernels/vector.h"

namespace odori::cuda {

void Parameters::finish(cudaStream_t stream) {
  if (storage_ != Storage::fp32)
    copy_ = allocate_zeros(memory_.parameters.size() * bytes_of(storage_), "the weights' copy in bf16", stream);
}

void Parameters::refresh(cudaStream_t stream) const {
  if (copy_)
    kernels::cast(stream, Storage::fp32, memory_.parameters.data(), storage_, copy_.get(), memory_.parameters.size());
}

std::string to_string(const Shape& shape) { return fmt::format("{}x{}x{}x{}", shape.n, shape.c, shape.h, shape.w); }

}  // namespace odori::cuda
