// SPDX-License-Identifier: Apache-2.0
// Support code of exercise 09: layers of which a rank has a shard, and the training run with the learner's functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "comm/communicator.h"
#include "comm/process_group.h"
#include "flags/arguments.h"
#include "mlp.h"
#include "numbers/range.h"

namespace odori {

/// This rank's groups.
struct Groups {
  ProcessGroup tensor;  // the ranks that hold the shards of one copy of the network
  ProcessGroup data;    // the ranks that hold the same shard of each copy
};

/// y = x W + bias: a layer, or a rank's shard of one.
struct Linear {
  std::size_t in = 0, out = 0;
  std::vector<float> weights, bias;    // [in, out], [out]
  std::vector<float> dweights, dbias;  // their gradients

  /// x [n, in]. Returns x W + bias, [n, out]; x W if `bias` is empty.
  std::vector<float> forward(std::span<const float> x, std::span<const float> bias) const;
  /// dy [n, out]: the gradient with respect to y. Adds the gradients of weights and bias, and returns dx [n, in].
  std::vector<float> backward(std::span<const float> x, std::span<const float> dy);
  /// weights and bias -= learning_rate * their gradients.
  void update(float learning_rate);
};

/// One rank's part of the network.
struct SplitNetwork {
  Linear first;  // the whole layer
  Linear a;      // columns of A, with their elements of the bias
  Linear b;      // rows of B; the bias is that of all rows
  void zero_gradients();
};

/// `a`: columns of A's matrix [A.in + 1, A.out]. `b`: as many rows of B, [rows, B.out]. The first layer, and the bias
/// of B, are added here. Throws Error if the sizes do not fit.
SplitNetwork assemble(const mlp::Layer& first, const mlp::Layer& A, const mlp::Layer& B, const std::vector<float>& a,
                      const std::vector<float>& b, std::uint64_t seed);

/// Activations of n images, kept from forward to backward.
struct Activations {
  std::vector<float> x;  // [n, width], after the ReLU
  std::vector<float> h;  // [n, columns of A on this rank], after the ReLU
  std::vector<float> y;  // [n, classes]
};

/// Images [range.begin, range.end) of a batch. Throws Error if the batch has fewer, or if there are none.
mlp::Images part_of(const mlp::Images& batch, Range range);

/// The learner's functions, and the sizes of what they train.
struct TensorParallel {
  Groups (*make_groups)(const Communicator&);
  SplitNetwork (*make_network)(const mlp::Layer& first, const mlp::Layer& A, const mlp::Layer& B,
                               const ProcessGroup& tensor, std::uint64_t seed);
  Activations (*forward)(const SplitNetwork&, const Groups&, std::span<const float> images);
  void (*backward)(SplitNetwork&, const Groups&, std::span<const float> images, const Activations&,
                   std::span<const float> dy);
  void (*average_gradients)(Linear&, const Groups&);
  double (*update)(SplitNetwork&, const Groups&, const mlp::Images& batch, float learning_rate);
  int batch = 64, width = 64, hidden = 256;
};

/// Compares the network with one process, counts the bytes that a rank sends, and trains; rank 0 prints. With test
/// cases of the grader it tries the functions on these instead. Collective. Throws Error unless every node has the same
/// number of ranks and this number of nodes divides the batch.
void train_tensor_parallel(const TensorParallel& program, const Arguments& args, Communicator& comm);

}  // namespace odori
