// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/operation.h"

#include <fmt/core.h>

#include "backend/cuda/kernels/vector.h"

namespace odori::cuda {

void* Parameters::gradient_in_storage(const ParameterView& weight) const {
  if (storage_ == Storage::fp32) return gradient(weight);
  return gradients_.get() + weight.offset * bytes_of(storage_);
}

void Parameters::written(const ParameterView& weight, cudaStream_t stream) const {
  if (storage_ == Storage::fp32 || casts_held_back_) return;
  kernels::cast(stream, storage_, gradient_in_storage(weight), Storage::fp32, gradient(weight), weight.size());
}

void Parameters::cast_gradients(cudaStream_t stream) {
  if (casts_missing_)
    for (const ParameterView& weight : in_bf16_) written(weight, stream);
  casts_missing_ = false;
}

void Parameters::finish(cudaStream_t stream) {
  if (storage_ == Storage::fp32) return;
  const std::size_t n = memory_.parameters.size();
  copy_ = allocate_zeros(n * bytes_of(storage_), "the weights' copy in bf16", stream);
  gradients_ = allocate_zeros(n * bytes_of(storage_), "the weights' gradients in bf16", stream);
  std::vector<std::uint32_t> bits(n / 512 + 1);
  for (const ParameterView& weight : in_bf16_)
    for (std::size_t group = weight.offset / 16; group < (weight.offset + weight.size() + 15) / 16; ++group)
      bits[group / 32] |= 1u << group % 32;
  const std::size_t bytes = bits.size() * sizeof bits[0];
  bits_ = allocate_zeros(bytes, "a table of gradients in bf16", stream);
  check(cudaMemcpyAsync(bits_.get(), bits.data(), bytes, cudaMemcpyHostToDevice, stream), "copying to it");
  check(cudaStreamSynchronize(stream), "copying to it");
}

void Parameters::refresh(cudaStream_t stream) {
  if (copy_ && !copied_)
    kernels::cast(stream, Storage::fp32, memory_.parameters.data(), storage_, copy_.get(), memory_.parameters.size());
  copied_ = true;
}

kernels::UpdateVectors Parameters::update_vectors(float* velocities, bool in_storage) const {
  kernels::UpdateVectors vectors{memory_.parameters.data(), velocities, memory_.gradients.data()};
  if (in_storage && storage_ != Storage::fp32) {
    vectors.g_bf16 = gradients_.get();
    vectors.in_bf16 = reinterpret_cast<const std::uint32_t*>(bits_.get());
    vectors.copy = copy_.get();
  }
  return vectors;
}

namespace {

class KernelOperation : public Operation {
 public:
  KernelOperation(const Value& output, std::string line, std::function<void(Mode)> forward,
                  std::function<void()> backward)
      : line_(std::move(line)), forward_(std::move(forward)), backward_(std::move(backward)) {
    output_ = output;
  }
  void forward(Mode mode) override { forward_(mode); }
  void backward() override { backward_(); }
  void describe(std::vector<std::string>& lines) const override { lines.push_back(line_); }

 private:
  std::string line_;
  std::function<void(Mode)> forward_;
  std::function<void()> backward_;
};

}  // namespace

OperationPtr of_kernels(const Value& output, const std::string& name, const std::string& remark,
                        std::function<void(Mode)> forward, std::function<void()> backward) {
  return std::make_unique<KernelOperation>(
      output, fmt::format("{} {} forward and backward: one kernel each{}", name, to_string(output.shape), remark),
      std::move(forward), std::move(backward));
}

}  // namespace odori::cuda
