// SPDX-License-Identifier: Apache-2.0
// The interface of exchange strategies, which average gradients over all ranks. strategies.h lists those of the
// library; a program may define its own (lib/tests/own_strategy.h is an example).
//
// The calls of one update, in order, all from the main thread:
//
//   on_gradient_ready(range)   during backward, last layer first; only if wants_ready_gradients()
//   finish()                   after backward. false: skip this update
//   (the optimizer updates the parameters in owned())
//   after_update()
//
// The functions are collective: every rank makes the same calls in the same order.
#pragma once

#include <cstdint>
#include <string>

#include "numbers/dtype.h"
#include "numbers/range.h"

namespace odori {

class Buffer;
class ExchangeContext;

/// Facts about an exchange, for reports and snapshots.
struct ExchangeReport {
  std::string description;      // of strategy and dtype: "double buffering, fp16". Empty: synchronous, fp32
  std::string simulated_link;   // between the nodes: "1 Gbit/s, 50 us". Empty: none
  bool shares_devices = false;  // two ranks use one GPU, so no speedup can be measured
  std::int64_t overflows = 0;   // updates skipped because a gradient was infinite or NaN in 16 bits
};

class ExchangeStrategy {
 public:
  virtual ~ExchangeStrategy() = default;

  /// Prepares for the model of this context. The context ends, after its all-reduces, before the next setup() and
  /// before the strategy's destructor. A strategy that is set up again starts from the beginning. Throws UsageError for
  /// a dtype that it does not support.
  virtual void setup(ExchangeContext& context) { context_ = &context; }
  /// True if on_gradient_ready() is used. If false, backward runs without callbacks, so that a GPU can replay it as one
  /// captured graph.
  virtual bool wants_ready_gradients() const { return false; }
  /// The gradients in `range` of the flat vector are final. Ranges arrive in backward order, last layer first, and
  /// cover everything once an update.
  virtual void on_gradient_ready(Range /*range*/) {}
  /// Called after backward. On return, work queued on the device sees in owned() the gradients to update by. Returns
  /// false if there are none yet, or if one is infinite or NaN: the update is skipped.
  virtual bool finish() = 0;
  /// The parameters that this rank updates: all by default. Valid after setup().
  virtual Range owned() const;
  /// Called after the parameters in owned() were updated. ParallelUpdater does not call it: it refuses strategies that
  /// own a shard.
  virtual void after_update() {}

  /// Strategy and dtype in words, empty for synchronous in fp32. Equal on all ranks, and part of a snapshot's key.
  virtual std::string description(Dtype dtype) const = 0;
  /// Gradients that a later update will use, laid out as the flat gradient vector and equal on all ranks: rank 0's are
  /// saved in snapshots. Null: none.
  virtual Buffer* pending() { return nullptr; }
  /// A snapshot was loaded into pending(). `any`: at least one value is not zero.
  virtual void pending_restored(bool /*any*/) {}

  /// Valid after setup().
  ExchangeReport& report() const;

 protected:
  ExchangeContext* context_ = nullptr;
};

}  // namespace odori
