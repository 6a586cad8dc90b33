// SPDX-License-Identifier: Apache-2.0
// Sharded: each rank owns 1/n of the parameters. It receives the mean gradients of its shard, keeps the optimizer state
// of its shard, updates its shard, and sends it to all others.
//
//   compute   | forward |   backward   |                | update 1/n |            |
//   network                            | reduce-scatter |            | all-gather |
//
// Cost: (n - 1) / n E bytes in the reduce-scatter, as many in the all-gather. Optimizer state: 1/n of the memory. fp32
// only: the all-gather copies parameters, which a 16-bit dtype would round.
// Source: S. Rajbhandari et al., 2020, "ZeRO: memory optimizations toward training trillion parameter models" (arXiv
// 1910.02054), stage 1.
#include "distributed/exchange/context.h"
#include "distributed/exchange/strategies.h"
#include "errors/error.h"

namespace odori {
namespace {

class Sharded : public ExchangeStrategy {
 public:
  void setup(ExchangeContext& context) override {
    if (context.dtype != Dtype::fp32)
      throw UsageError("--sharded exchanges shards, each once: it can't be combined with --allreduce-dtype.");
    ExchangeStrategy::setup(context);
  }
  bool finish() override {
    context_->comm.reduce_scatter_mean(context_->device, context_->gradients);
    return true;
  }
  Range owned() const override { return context_->comm.shard(context_->parameters.size()); }
  void after_update() override { context_->comm.all_gather_shards(context_->device, context_->parameters); }
  std::string description(Dtype dtype) const override { return join_words({in_words(dtype), "sharded"}); }
};

}  // namespace

std::unique_ptr<ExchangeStrategy> sharded() { return std::make_unique<Sharded>(); }

}  // namespace odori
