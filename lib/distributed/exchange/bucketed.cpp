// SPDX-License-Identifier: Apache-2.0
// Bucketed: each bucket of gradients is all-reduced as soon as backward has computed it, while backward continues.
//
//   compute   | forward |          backward          |      | update |
//   network             | bucket 1 |  bucket 2  |  bucket 3 |
//
// Cost: 2 (n - 1) / n E bytes in one all-reduce per bucket; hidden but for the last bucket where the network is fast
// enough. No extra memory. Works with every dtype. Backward runs with callbacks, so a GPU can't replay it as one
// captured graph. Source: S. Li et al., 2020, "PyTorch distributed: experiences on accelerating data parallel training"
// (arXiv 2006.15704).
#include <fmt/format.h>

#include <optional>

#include "distributed/exchange/buckets.h"
#include "distributed/exchange/context.h"
#include "distributed/exchange/strategies.h"
#include "errors/error.h"

namespace odori {
namespace {

class Bucketed : public ExchangeStrategy {
 public:
  explicit Bucketed(int mib) : mib_(mib) {
    if (mib < 1)
      throw UsageError(fmt::format("A bucket can't have {} MiB. Give 1 or more, or 0 for one exchange.", mib));
  }

  void setup(ExchangeContext& context) override {
    ExchangeStrategy::setup(context);
    buckets_.emplace(context.ranges, mib_);
    context.enable_async();
  }
  bool wants_ready_gradients() const override { return true; }
  void on_gradient_ready(Range range) override { start(buckets_->complete(range)); }
  bool finish() override {
    start(buckets_->rest());
    context_->wait();
    return context_->all_finite();
  }
  std::string description(Dtype dtype) const override {
    return join_words({in_words(dtype), fmt::format("buckets of {} MiB", mib_)});
  }

 private:
  void start(const std::vector<std::span<const Range>>& buckets) {
    for (const std::span<const Range> bucket : buckets) context_->start(context_->gradients, bucket);
  }

  int mib_;
  std::optional<Buckets> buckets_;
};

}  // namespace

std::unique_ptr<ExchangeStrategy> bucketed(int mib) { return std::make_unique<Bucketed>(mib); }

}  // namespace odori
