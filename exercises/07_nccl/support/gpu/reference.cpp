// SPDX-License-Identifier: Apache-2.0
#include "reference.h"

#include "memory.h"

namespace odori {

Reference train_on_one_gpu(int ranks, int iterations, float factor) {
  const std::size_t n = Perceptron::Memory::all_parameters();
  cudaStream_t stream = nullptr;
  CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  std::vector<std::unique_ptr<Perceptron>> networks;
  for (int rank = 0; rank < ranks; ++rank) networks.push_back(std::make_unique<Perceptron>(rank, iterations));
  Reference reference;
  reference.losses.resize(static_cast<std::size_t>(ranks * iterations));
  for (int iteration = 0; iteration < iterations; ++iteration) {
    std::vector<float> sum(n);
    for (int rank = 0; rank < ranks; ++rank) {
      Perceptron& network = *networks[static_cast<std::size_t>(rank)];
      network.forward(iteration, stream);
      for (int layer = Perceptron::layers - 1; layer >= 0; --layer) network.backward(layer, stream);
      CUDA_CHECK(cudaStreamSynchronize(stream));
      const std::vector<float> gradients = to_host(network.gradients(0), n);
      for (std::size_t i = 0; i < n; ++i) sum[i] += factor * gradients[i];
      reference.losses[static_cast<std::size_t>(rank * iterations + iteration)] = to_host(network.loss(), 1)[0];
    }
    for (const auto& network : networks) {
      CUDA_CHECK(cudaMemcpy(network->gradients(0), sum.data(), n * sizeof(float), cudaMemcpyHostToDevice));
      network->update(stream);
      CUDA_CHECK(cudaStreamSynchronize(stream));
    }
  }
  reference.weights = to_host(networks.front()->memory().parameters, n);
  CUDA_CHECK(cudaStreamDestroy(stream));
  return reference;
}

}  // namespace odori
