// SPDX-License-Identifier: Apache-2.0
// An exchange strategy that is not part of the library, in one file: it adds up the gradients of two iterations on each
// rank, all-reduces the sum after the second one, and updates then.
//
//   compute   | forward, backward | forward, backward |            | update |
//   network                                           | all-reduce |
//
// Each rank's first gradients are its own, so no snapshot holds them: resume after an even number of iterations.
// Cost: half the bytes of the synchronous strategy per iteration. Memory: E more.
#pragma once

#include "distributed/exchange/context.h"

namespace odori::test {

class EverySecondIteration : public ExchangeStrategy {
 public:
  void setup(ExchangeContext& context) override {
    ExchangeStrategy::setup(context);
    first_ = context.device.allocate(context.gradients.size());
    has_first_ = false;
  }
  bool finish() override {
    Device& device = context_->device;
    const Range all{0, first_.size()};
    has_first_ = !has_first_;
    if (has_first_) {
      device.swap(context_->gradients, first_, all);
      return false;
    }
    device.axpy(1, first_, context_->gradients, all);
    device.scale(0.5f, context_->gradients, all);
    context_->all_reduce_mean(context_->gradients, context_->ranges);
    return context_->all_finite();
  }
  std::string description(Dtype /*dtype*/) const override { return "every second iteration"; }

 private:
  Buffer first_;  // gradients of the first iteration of two
  bool has_first_ = false;
};

}  // namespace odori::test
