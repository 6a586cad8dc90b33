// SPDX-License-Identifier: Apache-2.0
// Horovod's API on the library's optimizers and communicators. lib/NAMES.md compares the names.
//
//   const horovod::Horovod hvd = horovod::init(args.communicator);      import horovod.torch as hvd; hvd.init()
//   hvd.rank(), hvd.local_rank(), hvd.size()                            the same
//   auto optimizer = hvd.DistributedOptimizer(...);                     the same
//
// MpiSession initialises and finalises MPI; there is no global state to shut down. Source: A. Sergeev and M. Del Balso,
// 2018, "Horovod: fast and easy distributed deep learning in TensorFlow" (arXiv 1802.05799).
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <type_traits>

#include "comm/communicator.h"
#include "model/classifier.h"
#include "numbers/dtype.h"
#include "optim/optimizer.h"
#include "train/extension.h"

namespace odori::horovod {

/// The type of gradients in messages.
namespace Compression {
inline constexpr Dtype none = Dtype::fp32, fp16 = Dtype::fp16, bf16 = Dtype::bf16;
}  // namespace Compression

enum ReduceOp { Average, Sum };

struct DistributedOptions {
  Dtype compression = Compression::none;
  /// Batches of this rank per update, which uses their mean gradient; Horovod with PyTorch uses the sum.
  int backward_passes_per_step = 1;
};

class Horovod {
 public:
  explicit Horovod(std::unique_ptr<Communicator> communicator) : comm_(std::move(communicator)) {}

  int rank() const { return comm_->rank(); }
  int size() const { return comm_->size(); }
  int local_rank() const { return comm_->intra_rank(); }
  int local_size() const { return comm_->intra_size(); }
  int cross_rank() const { return comm_->inter_rank(); }
  int cross_size() const { return comm_->inter_size(); }
  Communicator& communicator() const { return *comm_; }

  /// Wraps an optimizer: each update uses the mean gradient over all ranks. `exchange`: settings that Horovod reads
  /// from its environment, such as bucket_mib for HOROVOD_FUSION_THRESHOLD. This object must outlive the optimizer.
  std::unique_ptr<Optimizer> DistributedOptimizer(std::unique_ptr<Optimizer> optimizer,
                                                  const DistributedOptions& options = {},
                                                  ExchangeOptions exchange = {}) const;
  /// Replaces parameters and statistics on every rank by the root's. Collective.
  void broadcast_parameters(Classifier& model, int root_rank = 0) const;
  /// Replaces optimizer state, number of updates and learning rate on every rank by the root's. Call it after
  /// optimizer.setup(). Collective.
  void broadcast_optimizer_state(Optimizer& optimizer, int root_rank = 0) const;
  /// Returns the root's value on every rank. Collective.
  template <typename Plain>
  Plain broadcast_object(Plain value, int root_rank = 0) const {
    static_assert(std::is_trivially_copyable_v<Plain>);
    broadcast_bytes(std::as_writable_bytes(std::span(&value, 1)), root_rank);
    return value;
  }
  /// Returns the mean, or the sum, of the values of all ranks. Collective.
  double allreduce(double value, ReduceOp op = Average) const;

 private:
  void broadcast_bytes(std::span<std::byte> bytes, int root_rank) const;

  std::unique_ptr<Communicator> comm_;
};

/// Creates a Horovod object on create_communicator(communicator). Needs an MpiSession. Collective.
Horovod init(const std::string& communicator);

/// Replaces Trainer::observation() by its mean over all ranks after every epoch, as hvd.callbacks.MetricAverageCallback
/// does. This is the mean over all images only if all ranks have equally many test images.
class MetricAverage : public Extension {
 public:
  explicit MetricAverage(const Horovod& hvd) : hvd_(&hvd) {}
  int priority() const override { return writer - 1; }
  std::string name() const override { return "MetricAverage"; }
  void run(Trainer& trainer) override;

 private:
  const Horovod* hvd_;
};

}  // namespace odori::horovod
