// SPDX-License-Identifier: Apache-2.0
// The library by Horovod's names: what a program of Horovod's examples calls, on the same optimizer and communicators
// as task 2. lib/NAMES.md has both names side by side.
//
//   const horovod::Horovod hvd = horovod::init(args.communicator);      import horovod.torch as hvd; hvd.init()
//   hvd.rank(), hvd.local_rank(), hvd.size()                            the same
//   auto optimizer = hvd.DistributedOptimizer(...);                     the same
//
// MPI's life is MpiSession's, and what uses it is an object of main's: there is no hidden state to shut down.
// Source: A. Sergeev and M. Del Balso, 2018, "Horovod: fast and easy distributed deep learning in TensorFlow" (arXiv
// 1802.05799).
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
  /// Batches of this rank that make one update, by their mean gradient; Horovod with PyTorch takes the sum.
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

  /// Wraps an optimizer: each update is by the mean gradient over all ranks. `exchange` has what Horovod gets from
  /// its environment, as HOROVOD_FUSION_THRESHOLD: bucket_mib. This object must outlive the optimizer.
  std::unique_ptr<Optimizer> DistributedOptimizer(std::unique_ptr<Optimizer> optimizer,
                                                  const DistributedOptions& options = {},
                                                  ExchangeOptions exchange = {}) const;
  /// Collective: every rank gets the root's parameters and statistics.
  void broadcast_parameters(Classifier& model, int root_rank = 0) const;
  /// Collective: every rank gets the root's optimizer state, number of updates and learning rate. After
  /// optimizer.setup().
  void broadcast_optimizer_state(Optimizer& optimizer, int root_rank = 0) const;
  /// Returns the root's value on every rank: an epoch, say. Collective.
  template <typename Plain>
  Plain broadcast_object(Plain value, int root_rank = 0) const {
    static_assert(std::is_trivially_copyable_v<Plain>);
    broadcast_bytes(std::as_writable_bytes(std::span(&value, 1)), root_rank);
    return value;
  }
  /// Returns the mean over all ranks of each rank's value (a metric, say), or their sum. Collective.
  double allreduce(double value, ReduceOp op = Average) const;

 private:
  void broadcast_bytes(std::span<std::byte> bytes, int root_rank) const;

  std::unique_ptr<Communicator> comm_;
};

/// Collective; `communicator` as of create_communicator(). An MpiSession must live.
Horovod init(const std::string& communicator);

/// At every epoch's end, what was observed becomes its mean over all ranks: hvd.callbacks.MetricAverageCallback. For
/// the mean over all images, each rank's test data have to be of one size.
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
