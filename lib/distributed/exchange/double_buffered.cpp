// SPDX-License-Identifier: Apache-2.0
// Double buffered: the gradients of iteration i are all-reduced during iteration i + 1.
//
//   compute   | forward, backward 0 |      | forward, backward 1 | update by 0 | forward, backward 2 | update by 1 |
//   network                         |       all-reduce 0         |             |   all-reduce 1      |
//
// Cost: 2 (n - 1) / n E bytes in one all-reduce, which can take a whole iteration without being seen. Memory: E more.
// Every update uses gradients that are one iteration old, and the first iteration updates nothing. Works with every
// dtype. Source: ChainerMN, 2018, create_multi_node_optimizer(..., double_buffering=True).
#include "backend/device.h"
#include "distributed/exchange/context.h"
#include "distributed/exchange/strategies.h"

namespace odori {
namespace {

class DoubleBuffered : public ExchangeStrategy {
 public:
  void setup(ExchangeContext& context) override {
    ExchangeStrategy::setup(context);
    context.enable_async();
    in_flight_ = context.device.allocate(context.gradients.size());
    any_ = false;
  }

  /// Backward always writes the same buffer, so its values are exchanged for those that have arrived.
  bool finish() override {
    context_->wait();
    const bool ready = any_ && context_->all_finite();
    context_->device.swap(context_->gradients, in_flight_, {0, in_flight_.size()});
    context_->start(in_flight_, context_->ranges);
    any_ = true;
    return ready;
  }

  std::string description(Dtype dtype) const override { return join_words({"double buffering", in_words(dtype)}); }
  Buffer* pending() override {
    context_->wait();
    return &in_flight_;
  }
  void pending_restored(bool any) override { any_ = any; }

 private:
  Buffer in_flight_;  // gradients of the previous iteration; their mean after wait()
  bool any_ = false;  // false in the first iteration
};

}  // namespace

std::unique_ptr<ExchangeStrategy> double_buffered() { return std::make_unique<DoubleBuffered>(); }

}  // namespace odori
