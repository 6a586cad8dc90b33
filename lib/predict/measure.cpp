// SPDX-License-Identifier: Apache-2.0
#include "predict/measure.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "data/random_images.h"
#include "errors/error.h"
#include "errors/text.h"
#include "optim/momentum_sgd.h"
#include "optim/weight_decay.h"
#include "train/parallel_updater.h"
#include "train/standard_updater.h"

namespace odori {
namespace {

/// A network in training on random images, and what its iterations took.
class TimedTraining {
 public:
  TimedTraining(const NetworkSpec& network, int batch, int n_devices, const DevicePoolOptions& devices)
      : pool_(devices), model_(network, batch, 0) {
    const auto images = std::make_shared<RandomImages>(static_cast<std::size_t>(2 * batch), network.image_size);
    model_.to_device(pool_.use(0));
    optimizer_.setup(model_);
    optimizer_.add_hook(std::make_unique<WeightDecay>(5e-4f));
    const SerialIterator iterator(images, batch);
    if (n_devices == 1) {
      updater_ = std::make_unique<StandardUpdater>(iterator, optimizer_);
    } else {
      std::map<std::string, int> numbers{{"main", 0}};
      for (int i = 1; i < n_devices; ++i) numbers["gpu" + std::to_string(i)] = i;
      const std::vector<SerialIterator> iterators(static_cast<std::size_t>(n_devices), iterator);
      updater_ = std::make_unique<ParallelUpdater>(iterators, optimizer_, numbers, pool_);
    }
    seconds_of(2);  // sets up; on a GPU, records the step
    a_round_ = std::clamp(static_cast<int>(0.1 / seconds_of(1)), 1, 1000);
  }

  void round() {
    seconds_.push_back(seconds_of(a_round_) / a_round_);
    all_ += seconds_.back() * a_round_;
  }
  bool is_through() const { return seconds_.size() >= 100 || (seconds_.size() >= 5 && all_ > 1); }
  cost::Measured median() {
    const auto middle = seconds_.begin() + static_cast<std::ptrdiff_t>(seconds_.size() / 2);
    std::nth_element(seconds_.begin(), middle, seconds_.end());
    return {static_cast<double>(model_.batch_size()), *middle};
  }

 private:
  double seconds_of(int iterations) {
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < iterations; ++i) updater_->update();
    model_.device().synchronize();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }

  DevicePool pool_;
  Classifier model_;
  MomentumSGD optimizer_{1e-3f};
  std::unique_ptr<Updater> updater_;
  int a_round_ = 1;
  std::vector<double> seconds_;  // of an iteration, by round
  double all_ = 0;
};

/// "32:0.041"
std::optional<cost::Measured> timing_of(std::string_view text) {
  const std::vector<std::string> fields = split(text, ':');
  if (fields.size() != 2) return {};
  const cost::Measured timing{number_of<double>(fields[0]).value_or(0), number_of<double>(fields[1]).value_or(0)};
  const auto is_usable = [](double number) { return number > 0 && number < 1e9; };
  const bool is_whole = std::floor(timing.batch) == timing.batch;
  return is_whole && is_usable(timing.batch) && is_usable(timing.seconds) ? std::optional(timing) : std::nullopt;
}

}  // namespace

cost::Measured measure_iteration(const NetworkSpec& network, int batch, int n_devices,
                                 const DevicePoolOptions& devices) {
  TimedTraining trainee(network, batch, n_devices, devices);
  while (!trainee.is_through()) trainee.round();
  return trainee.median();
}

std::pair<cost::Measured, cost::Measured> measure_two(const NetworkSpec& network, int small, int large,
                                                      const DevicePoolOptions& devices) {
  fmt::print("{}\n", in_language({"Measuring iterations of {} and {} images on one device ...",
                                  "1 デバイスで {} 枚と {} 枚の反復を測っています …"},
                                 small, large));
  std::fflush(stdout);
  TimedTraining one(network, small, 1, devices), other(network, large, 1, devices);
  while (!one.is_through() || !other.is_through()) one.round(), other.round();
  return {one.median(), other.median()};
}

std::pair<cost::Measured, cost::Measured> recorded_timings(const std::string& text) {
  const std::vector<std::string> timings = split(text, ',');
  const auto one = timing_of(timings.front()), other = timing_of(timings.back());
  if (timings.size() != 2 || !one || !other)
    throw UsageError(in_language(
        {"Recorded timings are two batches with the seconds of an iteration, \"32:0.041,128:0.153\", not \"{}\".",
         "記録した時間は、2 つのバッチと 1 反復の秒数を 32:0.041,128:0.153 のように指定します（「{}」は使えません）。"},
        text));
  const auto& [small, large] =
      std::minmax(*one, *other, [](const auto& a, const auto& b) { return a.batch < b.batch; });
  if (small.batch == large.batch)
    throw UsageError(in_language({"\"{}\" times {} images twice. A prediction needs two different batches.",
                                  "「{}」では、{} 枚が 2 回になっています。予測には 2 つの異なるバッチが必要です。"},
                                 text, small.batch));
  if (large.seconds * small.batch > small.seconds * large.batch)
    throw UsageError(in_language(
        {"By \"{}\" {} images take more than {} times as long as {}, as if an iteration without images took less than "
         "no time. Measure again, with batches that differ more.",
         "「{0}」では、{1} 枚の時間が {3} 枚の時間の {2} 倍を超え、画像のない反復の時間が負になります。差のもっと"
         "大きいバッチで測り直してください。"},
        text, large.batch, large.batch / small.batch, small.batch));
  return {*one, *other};
}

}  // namespace odori
