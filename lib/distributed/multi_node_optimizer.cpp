// SPDX-License-Identifier: Apache-2.0
#include "distributed/multi_node_optimizer.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "comm/node.h"
#include "distributed/exchange/context.h"
#include "distributed/exchange/strategies.h"
#include "distributed/multi_node_agreement.h"
#include "errors/error.h"
#include "observe/hooks.h"

namespace odori {
namespace {

using Vectors = std::vector<std::vector<float>>;

class MultiNodeOptimizer : public Optimizer {
 public:
  MultiNodeOptimizer(std::unique_ptr<Optimizer> actual, Communicator& comm, std::unique_ptr<ExchangeStrategy> strategy,
                     Dtype dtype, std::optional<int> accumulate, bool has_own_strategy)
      : actual_(std::move(actual)),
        comm_(comm),
        strategy_(std::move(strategy)),
        dtype_(dtype),
        accumulate_(accumulate),
        has_own_strategy_(has_own_strategy) {}

  void set_exchange(const ExchangeOptions& options) override {
    accumulate_ = options.accumulate;
    if (has_own_strategy_ && options != ExchangeOptions{.accumulate = options.accumulate})
      throw UsageError(
          "This optimizer was created with a strategy of its own: leave out --double-buffering, --allreduce-dtype, "
          "--bucket-mib and --sharded.");
    if (has_own_strategy_) return;
    next_ = create_exchange_strategy(options);
    next_dtype_ = options.dtype;
  }

  std::string name() const override { return actual_->name(); }
  void set_shard(Range range) override { actual_->set_shard(range); }

  void setup(Classifier& model) override {
    const observe::CollectiveScope call("optimizer->setup()");
    const std::int64_t overflows = context_ ? context_->report.overflows : 0;
    context_.reset();  // waits for the exchange of the previous model
    if (next_) {
      strategy_ = std::move(next_);
      dtype_ = next_dtype_;
    }
    agree_on_model(model, comm_);
    agree_on_exchange(strategy_->description(dtype_), comm_);
    std::vector<Range> ranges;
    for (const NamedView& parameter : model.parameters())
      ranges.push_back({parameter.view.offset, parameter.view.offset + parameter.view.size()});
    ModelMemory& memory = model.memory();
    context_ = std::make_unique<ExchangeContext>(comm_, model.device(), memory.gradients, memory.parameters,
                                                 std::move(ranges), dtype_);
    context_->report = {.description = strategy_->description(dtype_),
                        .simulated_link = comm_.link(),
                        .shares_devices = find_sharing(comm_, model.device()).any,
                        .overflows = overflows};
    print_exchange();
    comm_.broadcast(model.device(), memory.parameters);
    comm_.broadcast(model.device(), memory.statistics);
    strategy_->setup(*context_);
    actual_->set_shard(strategy_->owned());
    actual_->setup(model);
    set_n_updates(0);
    require(!actual_->exchange() || actual_->exchange()->report().description.empty(),
            "The optimizer given to create_multi_node_optimizer() exchanges gradients already, in a way of its own "
            "({}). Wrap it once.",
            actual_->exchange() ? actual_->exchange()->report().description : "");
  }

  ExchangeStrategy* exchange() override { return strategy_.get(); }
  std::optional<int> accumulate() const override { return accumulate_; }
  float share_of(int batches) override {
    double all[] = {static_cast<double>(batches)};
    comm_.sum(all);
    return static_cast<float>(comm_.size() / all[0]);
  }

  void begin_update(std::int64_t n) override { actual_->begin_update(n); }
  using Optimizer::update;
  void update(Range range) override {
    const Range own = strategy_->owned();
    range = {std::max(range.begin, own.begin), std::min(range.end, own.end)};
    if (range.begin < range.end) actual_->update(range);
  }

  void add_hook(std::unique_ptr<Hook> hook) override { actual_->add_hook(std::move(hook)); }
  Classifier& model() override { return actual_->model(); }
  float learning_rate() const override { return actual_->learning_rate(); }
  void set_learning_rate(float rate) override { actual_->set_learning_rate(rate); }

  std::size_t n_lists() const override { return actual_->n_lists() + (strategy_->pending() ? 1 : 0); }

  Vectors state() override {
    Vectors state = actual_->state();
    if (strategy_->owned().size() < context_->parameters.size())
      for (std::vector<float>& values : state) add_up_over_ranks(values);
    if (const Buffer* const pending = strategy_->pending())
      for (const NamedView& parameter : model().parameters())
        state.push_back(model().graph().read_parameter(*pending, parameter.view));
    return state;
  }

  void restore(const Vectors& state) override {
    const auto n_optimizer = static_cast<std::ptrdiff_t>(actual_->n_lists() * model().parameters().size());
    actual_->restore({state.begin(), state.begin() + n_optimizer});
    if (Buffer* const pending = strategy_->pending()) restore_pending(*pending, std::span(state).subspan(n_optimizer));
  }

 private:
  void print_exchange() const {
    if (comm_.rank() != 0) return;
    if (comm_.name() == "dummy" && comm_.size() > 1)
      fmt::print(
          "The communicator dummy exchanges nothing: each rank trains a model of its own, and losses and accuracies "
          "mean nothing. It shows what a training without exchange would take.\n");
    const std::string& words = context_->report.description;
    if (!words.empty()) fmt::print("Exchange of gradients: {}\n", words);
  }

  /// Each rank has the values of its shard, and 0 elsewhere.
  void add_up_over_ranks(std::vector<float>& values) {
    std::vector<double> sums(values.begin(), values.end());
    comm_.sum(sums);
    std::transform(sums.begin(), sums.end(), values.begin(), [](double sum) { return static_cast<float>(sum); });
  }

  void restore_pending(Buffer& pending, std::span<const std::vector<float>> values) {
    const auto& parameters = model().parameters();
    bool any = false;
    std::int64_t not_finite = 0;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      model().graph().write_parameter(pending, parameters[i].view, values[i]);
      any |= std::ranges::any_of(values[i], [](float value) { return value != 0; });
      not_finite += std::ranges::count_if(values[i], [](float value) { return !std::isfinite(value); });
    }
    context_->set_not_finite(not_finite);
    strategy_->pending_restored(any);
  }

  std::unique_ptr<Optimizer> actual_;
  Communicator& comm_;
  std::unique_ptr<ExchangeStrategy> strategy_;
  Dtype dtype_;
  std::optional<int> accumulate_;
  bool has_own_strategy_;
  std::unique_ptr<ExchangeStrategy> next_;  // from the next setup() on, with this dtype
  Dtype next_dtype_ = Dtype::fp32;
  std::unique_ptr<ExchangeContext> context_;  // last: its all-reduces end before the strategy's buffers go
};

}  // namespace

std::unique_ptr<Optimizer> create_multi_node_optimizer(std::unique_ptr<Optimizer> optimizer, Communicator& comm,
                                                       const ExchangeOptions& options) {
  require(optimizer != nullptr,
          "create_multi_node_optimizer() was given no optimizer. Hand over the one of this rank with std::move.");
  return std::make_unique<MultiNodeOptimizer>(std::move(optimizer), comm, create_exchange_strategy(options),
                                              options.dtype, options.accumulate, false);
}

std::unique_ptr<Optimizer> create_multi_node_optimizer_with_strategy(std::unique_ptr<Optimizer> optimizer,
                                                                     Communicator& comm,
                                                                     std::unique_ptr<ExchangeStrategy> strategy,
                                                                     Dtype dtype) {
  require(optimizer != nullptr && strategy != nullptr,
          "create_multi_node_optimizer_with_strategy() was given no optimizer or no strategy. Hand both over with "
          "std::move.");
  return std::make_unique<MultiNodeOptimizer>(std::move(optimizer), comm, std::move(strategy), dtype, std::nullopt,
                                              true);
}

}  // namespace odori
