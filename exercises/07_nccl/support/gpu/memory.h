// SPDX-License-Identifier: Apache-2.0
// A network's memory on its GPU, for support code.
#pragma once

#include <array>
#include <vector>

#include "layers.h"
#include "nccl_support.h"

namespace odori {

struct Perceptron::Memory {
  static constexpr int images_of_batch = 8;
  static constexpr std::array widths{16, 24, 40, 64, 10};  // from an image's elements to the classes
  static constexpr float rate = 0.1f;

  Memory(int rank, int n_iterations);
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  gpus::Layer layer(int i) const;
  std::size_t begin(int layer) const;  // of its parameters and gradients, in elements
  static std::size_t all_parameters();
  /// The input of a layer, as elements of `activations`, and its output: the next layer's.
  float* input(int layer) const { return activations + input_at[static_cast<std::size_t>(layer)]; }

  int device = 0, iteration = 0;  // the current one
  const int iterations;
  float *parameters = nullptr, *gradients = nullptr;
  float *images = nullptr, *activations = nullptr, *dactivations = nullptr, *loss = nullptr;
  int* labels = nullptr;
  std::array<std::size_t, layers + 1> input_at{};
  std::vector<float> reported_losses;
};

/// Copies from the GPU, and waits for all its work.
std::vector<float> to_host(const float* memory, std::size_t length);

}  // namespace odori
