#include "distributed/multi_node_optimizer.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>
#include <utility>

#include "comm/background.h"
#include "comm/device_sharing.h"
#include "core/error.h"
#include "distributed/buckets.h"
#include "distributed/multi_node_agreement.h"
#include "trace/evidence.h"
#include "trace/trace.h"

namespace odori {
namespace {

std::string in_words(const ExchangeOptions& options) {
  std::string words;
  const auto add = [&](const std::string& word) { words += (words.empty() ? "" : ", ") + word; };
  if (options.double_buffering) add("double buffering");
  if (options.dtype != Dtype::fp32) add(to_string(options.dtype));
  if (options.bucket_mib > 0) add(fmt::format("buckets of {} MiB", options.bucket_mib));
  if (options.sharded) add("sharded");
  return words;
}

class MultiNodeOptimizer : public Optimizer {
 public:
  MultiNodeOptimizer(std::unique_ptr<Optimizer> actual, Communicator& comm, const ExchangeOptions& options)
      : actual_(std::move(actual)), comm_(comm), options_(options) {}

  void set_exchange(const ExchangeOptions& options) override { options_ = options; }

  void keep(Range range) override { actual_->keep(range); }

  void setup(Classifier& model) override {
    const evidence::Collective call("optimizer->setup()");
    agree_on_model(model, comm_);
    agree_on_exchange(in_words(options_), comm_);
    check_options();
    shares_devices_ = find_sharing(comm_, model.device()).any;
    comm_.broadcast(model.device(), model.memory().parameters);
    comm_.broadcast(model.device(), model.memory().statistics);
    background_.reset();  // it ends what is under way for the model before
    pieces_.clear();
    has_mean_ = false;
    for (const NamedView& parameter : model.parameters())
      pieces_.push_back({parameter.view.offset, parameter.view.offset + parameter.view.size()});
    prepare(model);
    actual_->setup(model);
  }

  std::optional<int> accumulate() const override { return options_.accumulate; }
  bool takes_ranges() const override { return buckets_.has_value(); }
  void take(Range range) override {
    if (buckets_) send(buckets_->take(range));
  }

  bool synchronize() override {
    const evidence::Collective call("optimizer->update()");
    if (!actual_->synchronize()) return false;
    if (options_.double_buffering) return take_mean_of_the_iteration_before();
    Buffer& gradients = model().memory().gradients;
    if (buckets_) {
      send(buckets_->rest());
      wait_for_background();
    } else if (options_.sharded) {
      comm_.reduce_scatter_mean(model().device(), gradients);
    } else {
      average(model().device(), gradients, pieces_);
    }
    return is_finite();
  }

  bool synchronizes() const override { return true; }
  bool is_sharded() const override { return options_.sharded; }
  bool shares_devices() const override { return shares_devices_; }
  std::string link() const override { return comm_.link(); }
  using Optimizer::update;
  void update(Range range) override {
    if (options_.sharded) {
      const Range own = comm_.part(model().memory().parameters.size());
      range = {std::max(range.begin, own.begin), std::min(range.end, own.end)};
      if (range.begin >= range.end) return;
    }
    actual_->update(range);
  }
  void publish() override {
    if (options_.sharded) comm_.all_gather_parts(model().device(), model().memory().parameters);
  }
  float share_of(int batches) override {
    double all[] = {static_cast<double>(batches)};
    comm_.sum(all);
    return static_cast<float>(comm_.size() / all[0]);
  }

  void add_hook(std::unique_ptr<Hook> hook) override { actual_->add_hook(std::move(hook)); }
  Classifier& model() override { return actual_->model(); }
  float learning_rate() const override { return actual_->learning_rate(); }
  void set_learning_rate(float rate) override { actual_->set_learning_rate(rate); }

  std::int64_t overflows() const override { return n_overflows_; }
  void set_overflows(std::int64_t n) override { n_overflows_ = n; }

  std::string description() const override { return in_words(options_); }
  std::size_t n_lists() const override { return actual_->n_lists() + (options_.double_buffering ? 1 : 0); }

  std::vector<std::vector<float>> state() override {
    std::vector<std::vector<float>> state = actual_->state();
    if (options_.sharded) {
      for (std::vector<float>& vector : state) add_up_over_ranks(vector);
    } else if (options_.double_buffering) {
      wait_for_background();
      for (const NamedView& parameter : model().parameters())
        state.push_back(model().graph().read_parameter(mean_, parameter.view));
    }
    return state;
  }

  void restore(const std::vector<std::vector<float>>& state) override {
    const auto& parameters = model().parameters();
    const std::size_t others = state.size() - (options_.double_buffering ? parameters.size() : 0);
    actual_->restore({state.begin(), state.begin() + static_cast<std::ptrdiff_t>(others)});
    if (!options_.double_buffering) return;
    wait_for_background();
    not_finite_ = 0;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      const std::vector<float>& mean = state[others + i];
      model().graph().write_parameter(mean_, parameters[i].view, mean);
      not_finite_ += std::count_if(mean.begin(), mean.end(), [](float g) { return !std::isfinite(g); });
    }
    // Before the first exchange it is 0.
    has_mean_ = std::any_of(state.begin() + static_cast<std::ptrdiff_t>(others), state.end(), [](const auto& mean) {
      return std::any_of(mean.begin(), mean.end(), [](float g) { return g != 0; });
    });
  }

 private:
  void check_options() const {
    const std::string words = in_words(options_);
    if (options_.bucket_mib < 0)
      throw UsageError(
          fmt::format("A bucket can't have {} MiB. Give 1 or more, or 0 for one exchange.", options_.bucket_mib));
    if (options_.double_buffering && options_.bucket_mib > 0)
      throw UsageError(
          "Double buffering and buckets are two ways to hide one exchange. Give --double_buffering or --bucket_mib.");
    if (options_.sharded && options_ != ExchangeOptions{.sharded = true, .accumulate = options_.accumulate})
      throw UsageError(
          "--sharded exchanges parts, each once: it can't be combined with --double_buffering, --allreduce_dtype or "
          "--bucket_mib.");
    comm_.require_takes(options_.dtype);
    if (comm_.name() == "dummy" && comm_.size() > 1 && comm_.rank() == 0)
      fmt::print(
          "The communicator dummy exchanges nothing: each rank trains a model of its own, and losses and accuracies "
          "mean nothing. It shows what a training without exchange would take.\n");
    if (!words.empty() && comm_.rank() == 0) fmt::print("Exchange of gradients: {}\n", words);
  }

  void prepare(Classifier& model) {
    const std::size_t n = model.memory().parameters.size();
    if (options_.double_buffering) mean_ = model.device().allocate(n);
    if (options_.bucket_mib > 0) buckets_.emplace(pieces_, options_.bucket_mib);
    if (options_.double_buffering || buckets_) {
      background_.emplace();
      lane_ = model.device().new_lane();
    }
    if (options_.sharded) actual_->keep(comm_.part(n));
  }

  void average(Device& device, Buffer& gradients, std::span<const Range> pieces) {
    if (options_.dtype == Dtype::fp32)
      comm_.all_reduce_mean(device, gradients, pieces);
    else
      not_finite_ += comm_.all_reduce_mean_in(options_.dtype, device, gradients, pieces);
  }

  Device& lane() { return lane_ ? *lane_ : model().device(); }

  /// The device may be asked for much more by then, for which the lane doesn't wait: only for what makes these.
  void in_background(Buffer& gradients, std::span<const Range> pieces) {
    background_->start([this, &gradients, pieces, are_final = model().device().now()] {
      trace::set_device(model().device().id());
      lane().after(are_final);
      average(lane(), gradients, pieces);
    });
  }
  /// Not until it has ended: an algorithm's last step may be queued on the lane alone.
  void wait_for_background() {
    background_->wait();
    model().device().after(lane().now());
  }

  void send(const std::vector<std::span<const Range>>& buckets) {
    for (const std::span<const Range> bucket : buckets) in_background(model().memory().gradients, bucket);
  }

  /// Backward writes the gradients to one place, always: so the numbers change places, and the new ones are exchanged
  /// where backward doesn't write.
  bool take_mean_of_the_iteration_before() {
    wait_for_background();
    const bool ready = has_mean_ && is_finite();
    Buffer& gradients = model().memory().gradients;
    model().device().swap(gradients, mean_, {0, gradients.size()});
    in_background(mean_, pieces_);
    has_mean_ = true;
    return ready;
  }

  /// Tells of the 1st, 2nd, 4th, 8th ... mean that isn't.
  bool is_finite() {
    const std::int64_t not_finite = std::exchange(not_finite_, 0);
    if (not_finite == 0) return true;
    ++n_overflows_;
    trace::instant("overflow", trace::Args().add("gradients", not_finite).add("so_far", n_overflows_));
    if (std::has_single_bit(static_cast<std::uint64_t>(n_overflows_)) && comm_.rank() == 0)
      fmt::print(
          stderr,
          "{} of the {} gradients of an update are infinite or nan in {}: nothing was updated by them. That "
          "happened {} time{} so far.{}\n",
          not_finite, model().parameter_count(), to_string(options_.dtype), n_overflows_, n_overflows_ == 1 ? "" : "s",
          options_.dtype == Dtype::fp16 ? " Beyond 65504 fp16 is infinite; --allreduce_dtype bf16 has fp32's range."
                                        : "");
    return false;
  }

  /// Where a rank has nothing, it has 0.
  void add_up_over_ranks(std::vector<float>& numbers) {
    std::vector<double> sums(numbers.begin(), numbers.end());
    comm_.sum(sums);
    std::transform(sums.begin(), sums.end(), numbers.begin(), [](double sum) { return static_cast<float>(sum); });
  }

  std::unique_ptr<Optimizer> actual_;
  Communicator& comm_;
  ExchangeOptions options_;
  std::vector<Range> pieces_;  // one a parameter
  bool shares_devices_ = false;
  std::int64_t not_finite_ = 0;  // numbers of the mean since that was asked
  std::int64_t n_overflows_ = 0;
  std::optional<Buckets> buckets_;
  Buffer mean_;                           // double buffering: of the iteration before
  bool has_mean_ = false;                 // the first iteration has none
  std::unique_ptr<Device> lane_;          // of a GPU, for what is exchanged in the background
  std::optional<Background> background_;  // last: its calls end before what they use
};

}  // namespace

std::unique_ptr<Optimizer> create_multi_node_optimizer(std::unique_ptr<Optimizer> optimizer, Communicator& comm,
                                                       const ExchangeOptions& options) {
  require(optimizer != nullptr,
          "create_multi_node_optimizer() was given no optimizer. Hand over the one of this rank with std::move.");
  return std::make_unique<MultiNodeOptimizer>(std::move(optimizer), comm, options);
}

}  // namespace odori
