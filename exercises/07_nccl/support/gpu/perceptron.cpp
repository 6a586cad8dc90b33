// SPDX-License-Identifier: Apache-2.0
// A network's memory, and its work on a stream.
#include <cmath>
#include <exception>

#include "errors/error.h"
#include "gpus.h"
#include "memory.h"
#include "nccl_cases.h"
#include "numbers/random.h"
#include "test_cases.h"

namespace odori {
namespace {

std::uint64_t seed() {
  return static_cast<std::uint64_t>(test_cases().is_null() ? NcclCase().seed : test_cases().get<NcclCase>().seed);
}

template <typename T>
T* to_gpu(const std::vector<T>& values) {
  void* memory = nullptr;
  const std::size_t bytes = values.size() * sizeof(T);
  CUDA_CHECK(cudaMalloc(&memory, bytes));
  CUDA_CHECK(cudaMemcpy(memory, values.data(), bytes, cudaMemcpyHostToDevice));
  return static_cast<T*>(memory);
}

gpus::MemoryRange range(const float* memory, std::size_t length) { return {memory, length * sizeof(float)}; }

}  // namespace

Perceptron::Memory::Memory(int rank, int n_iterations) : iterations(n_iterations) {
  CUDA_CHECK(cudaGetDevice(&device));
  RandomSequence weights(seed(), RandomUse::initial_weights);
  std::vector<float> first(all_parameters());
  for (int i = 0; i < layers; ++i) {
    const float bound = std::sqrt(6.0f / static_cast<float>(layer(i).in));
    for (std::size_t k = 0; k < static_cast<std::size_t>(layer(i).in * layer(i).out); ++k)
      first[begin(i) + k] = bound * (2 * weights.uniform() - 1);
  }
  RandomSequence data(seed(), RandomUse::synthetic_data, static_cast<std::uint32_t>(rank));
  const auto batches = static_cast<std::size_t>(iterations * images_of_batch);
  std::vector<float> pixels(batches * widths.front());
  std::vector<int> classes(batches);
  for (float& pixel : pixels) pixel = 2 * data.uniform() - 1;
  for (int& label : classes) label = static_cast<int>(data.below(widths.back()));

  std::size_t end = 0;
  for (std::size_t i = 0; i < input_at.size(); ++i) {
    input_at[i] = end;
    end += static_cast<std::size_t>(images_of_batch * widths[i]);
  }
  parameters = to_gpu(first);
  gradients = to_gpu(std::vector<float>(all_parameters()));
  images = to_gpu(pixels);
  labels = to_gpu(classes);
  activations = to_gpu(std::vector<float>(end));
  dactivations = to_gpu(std::vector<float>(end));
  loss = to_gpu(std::vector<float>(1));
  CUDA_CHECK(cudaDeviceSynchronize());
}

/// cudaFree waits for work that may never end if a rank has failed.
Perceptron::Memory::~Memory() {
  if (std::uncaught_exceptions() > 0) return;
  for (void* memory : {static_cast<void*>(parameters), static_cast<void*>(gradients), static_cast<void*>(images),
                       static_cast<void*>(labels), static_cast<void*>(activations), static_cast<void*>(dactivations),
                       static_cast<void*>(loss)})
    static_cast<void>(cudaFree(memory));
}

gpus::Layer Perceptron::Memory::layer(int i) const {
  const auto k = static_cast<std::size_t>(i);
  return {.images = images_of_batch, .in = widths[k], .out = widths[k + 1], .relu = i + 1 < layers};
}
std::size_t Perceptron::Memory::begin(int layer) const {
  std::size_t sum = 0;
  for (int i = 0; i < layer; ++i) sum += static_cast<std::size_t>(this->layer(i).parameters());
  return sum;
}
std::size_t Perceptron::Memory::all_parameters() {
  std::size_t sum = 0;
  for (std::size_t i = 0; i + 1 < widths.size(); ++i) sum += static_cast<std::size_t>((widths[i] + 1) * widths[i + 1]);
  return sum;
}

Perceptron::Perceptron(int rank, int iterations) : memory_(std::make_unique<Memory>(rank, iterations)) {}
Perceptron::~Perceptron() = default;

void Perceptron::forward(int iteration, cudaStream_t stream) {
  Memory& m = *memory_;
  m.iteration = iteration;
  const auto first = static_cast<std::size_t>(iteration * Memory::images_of_batch);
  for (int i = 0; i < layers; ++i) {
    const gpus::Layer layer = m.layer(i);
    const auto inputs = static_cast<std::size_t>(layer.images * layer.in);
    const auto outputs = static_cast<std::size_t>(layer.images * layer.out);
    const float* const x = i == 0 ? m.images + first * static_cast<std::size_t>(layer.in) : m.input(i);
    const float* const parameters = m.parameters + m.begin(i);
    gpus::describe(fmt::format("forward {}", i), {range(x, inputs), range(parameters, length(i))},
                   {range(m.input(i + 1), outputs)}, nccl_times::forward * layer.parameters());
    CUDA_CHECK(gpus::layer_forward(layer, x, parameters, m.input(i + 1), stream));
  }
  const auto logits = static_cast<std::size_t>(Memory::images_of_batch * Memory::widths.back());
  float* const dlogits = m.dactivations + m.input_at[layers];
  gpus::describe("loss", {range(m.input(layers), logits)}, {range(m.loss, 1), range(dlogits, logits)},
                 nccl_times::loss);
  CUDA_CHECK(gpus::loss_forward(Memory::images_of_batch, Memory::widths.back(), m.input(layers), m.labels + first,
                                m.loss, dlogits, stream));
}

void Perceptron::backward(int i, cudaStream_t stream) {
  Memory& m = *memory_;
  require(i >= 0 && i < layers, "Perceptron::backward: there is no layer {} of {}. They count from 0.", i, +layers);
  const gpus::Layer layer = m.layer(i);
  const auto inputs = static_cast<std::size_t>(layer.images * layer.in);
  const auto outputs = static_cast<std::size_t>(layer.images * layer.out);
  const auto first = static_cast<std::size_t>(m.iteration * Memory::images_of_batch);
  const float* const x = i == 0 ? m.images + first * static_cast<std::size_t>(layer.in) : m.input(i);
  const float* const parameters = m.parameters + m.begin(i);
  const float* const dy = m.dactivations + m.input_at[static_cast<std::size_t>(i) + 1];
  float* const dx = i == 0 ? nullptr : m.dactivations + m.input_at[static_cast<std::size_t>(i)];
  std::vector<gpus::MemoryRange> written{range(gradients(i), length(i))};
  if (dx) written.push_back(range(dx, inputs));
  gpus::describe(fmt::format("backward {}", i),
                 {range(x, inputs), range(parameters, length(i)), range(m.input(i + 1), outputs), range(dy, outputs)},
                 std::move(written), nccl_times::backward * layer.parameters());
  CUDA_CHECK(gpus::layer_backward(layer, x, parameters, m.input(i + 1), dy, gradients(i), dx, stream));
}

void Perceptron::scale_gradients(int layer, float factor, cudaStream_t stream) {
  gpus::describe(fmt::format("scale {}", layer), {}, {range(gradients(layer), length(layer))}, 0);
  CUDA_CHECK(gpus::scale(gradients(layer), static_cast<int>(length(layer)), factor, stream));
}

void Perceptron::update(cudaStream_t stream) {
  Memory& m = *memory_;
  const std::size_t n = Memory::all_parameters();
  gpus::describe("update", {range(m.gradients, n)}, {range(m.parameters, n)},
                 nccl_times::update * static_cast<double>(n));
  CUDA_CHECK(gpus::sgd(m.parameters, m.gradients, static_cast<int>(n), Memory::rate, stream));
}

float* Perceptron::gradients(int layer) const { return memory_->gradients + memory_->begin(layer); }
std::size_t Perceptron::length(int layer) const { return static_cast<std::size_t>(memory_->layer(layer).parameters()); }
const float* Perceptron::loss() const { return memory_->loss; }

void Perceptron::report_loss(int iteration, const float* host_loss) {
  gpus::host_reads("report_loss()", range(host_loss, 1));
  memory_->reported_losses.resize(static_cast<std::size_t>(iteration) + 1);
  memory_->reported_losses.back() = *host_loss;
}

std::vector<float> to_host(const float* memory, std::size_t length) {
  std::vector<float> values(length);
  CUDA_CHECK(cudaDeviceSynchronize());
  CUDA_CHECK(cudaMemcpy(values.data(), memory, length * sizeof(float), cudaMemcpyDeviceToHost));
  return values;
}

}  // namespace odori
