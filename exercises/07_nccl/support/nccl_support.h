// SPDX-License-Identifier: Apache-2.0
// Support code of exercise 07: checks of CUDA's and NCCL's errors, a network whose layers queue work on a stream, and
// comparisons with a reference. Built for emulated GPUs and, if CUDA is found, for real ones.
#pragma once

#include <cuda_runtime_api.h>
#include <nccl.h>

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "backend/device_pool.h"
#include "comm/communicator.h"

namespace odori {

/// Throws Error if the call failed: the call, its result, and possible causes.
void check_cuda(cudaError_t result, const char* call);
void check_nccl(ncclResult_t result, const char* call);
#define CUDA_CHECK(call) odori::check_cuda((call), #call)
#define NCCL_CHECK(call) odori::check_nccl((call), #call)

/// Copies `bytes` bytes at `data` from rank `root` to all ranks (MPI_Bcast). Collective.
void broadcast(void* data, std::size_t bytes, int root, Communicator& comm);

/// Returns the number of GPUs that this process sees. Rank 0 prints whether they are real. Throws UsageError if they do
/// not match --device (cpu: emulated), and Error if there is none.
int visible_gpus(const Communicator& comm, DeviceRequest request);

/// Rank 0 prints each rank's node and GPU: the current one. Collective.
void report_gpus(Communicator& comm);

/// A network of four fully connected layers, and random images of a rank, on the current GPU. Its functions queue work
/// on a stream and return. All ranks begin with the same weights.
class Perceptron {
 public:
  static constexpr int layers = 4;
  /// Has batches for that many iterations.
  Perceptron(int rank, int iterations);
  ~Perceptron();
  Perceptron(const Perceptron&) = delete;
  Perceptron& operator=(const Perceptron&) = delete;

  /// Computes the outputs and the loss of a batch.
  void forward(int iteration, cudaStream_t stream);
  /// Writes the gradients of a layer, 0 <= layer < layers. The last layer comes first.
  void backward(int layer, cudaStream_t stream);
  /// Multiplies the gradients of a layer.
  void scale_gradients(int layer, float factor, cudaStream_t stream);
  /// Subtracts the gradients, times the learning rate, from the weights.
  void update(cudaStream_t stream);

  /// GPU memory: `length(layer)` gradients, those of layer 0 first in one array; and the loss.
  float* gradients(int layer) const;
  std::size_t length(int layer) const;
  const float* loss() const;

  /// Reads the loss of an iteration from pinned host memory.
  void report_loss(int iteration, const float* host_loss);

  struct Memory;  // for support code
  Memory& memory() { return *memory_; }

 private:
  std::unique_ptr<Memory> memory_;
};

/// Runs `train`, and compares weights and losses with those of one GPU that computes all ranks' batches. Rank 0 prints
/// the result, and with emulated GPUs a timeline of its streams. Throws Error if NCCL reports a failure. Collective.
using Train = void (*)(Perceptron& network, ncclComm_t nccl, int iterations);
void train_and_compare(Perceptron& network, ncclComm_t nccl, Communicator& comm, Train train);

/// One of several GPUs of this process.
struct Gpu {
  int device = 0;
  float* gradients = nullptr;
  std::size_t length = 0;  // elements
  ncclComm_t nccl = nullptr;
  cudaStream_t compute = nullptr, communication = nullptr;
  cudaEvent_t exchanged = nullptr;
};

/// On rank 0: computes gradients on all GPUs that it sees, averages them by `all_reduce`, updates, and compares the
/// weights. Prints the result. Collective.
using AllReduceInOneProcess = void (*)(std::span<const Gpu> gpus);
void try_one_process(Communicator& comm, AllReduceInOneProcess all_reduce);

}  // namespace odori
