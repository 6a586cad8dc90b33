// SPDX-License-Identifier: Apache-2.0
#include "train/parallel_updater.h"

#include <fmt/ranges.h>

#include <cstdio>
#include <mutex>
#include <set>
#include <utility>

#include "distributed/exchange/strategy.h"
#include "errors/error.h"
#include "trace/trace.h"
#include "train/training_facts.h"

namespace odori {
namespace {

/// The devices with "main" first, the others in the order of their names.
std::vector<std::pair<std::string, int>> main_first(const std::map<std::string, int>& devices) {
  std::vector<std::pair<std::string, int>> ordered;
  if (const auto main = devices.find("main"); main != devices.end()) ordered.push_back(*main);
  for (const auto& device : devices)
    if (device.first != "main") ordered.push_back(device);
  return ordered;
}

void check_devices(const std::map<std::string, int>& devices, const Classifier& model) {
  std::map<int, std::string> names;
  for (const auto& [name, id] : devices) {
    const auto [first, is_new] = names.emplace(id, name);
    require(is_new, "Device {} is given twice, as \"{}\" and as \"{}\". Every name stands for a device of its own.", id,
            first->second, name);
  }
  const auto main = devices.find("main");
  if (main == devices.end()) {
    std::vector<std::string> given;
    for (const auto& device : devices) given.push_back('"' + device.first + '"');
    fail("No device is named \"main\", the one that updates the model. The names given are: {}.",
         given.empty() ? "none at all" : fmt::format("{}", fmt::join(given, ", ")));
  }
  require(model.device().id() == main->second,
          "The model is on device {}, but \"main\" is device {}. Make the main device current before the model is set "
          "up there.",
          model.device().id(), main->second);
}

void check_iterators(const std::vector<SerialIterator>& iterators, std::size_t n_devices, const Classifier& model) {
  require(iterators.size() == n_devices,
          "There are {} iterators, but {} devices in the map. Every device needs one iterator, over its own share "
          "of the "
          "data, and all --n-gpus devices have to be in the map.",
          iterators.size(), n_devices);
  const std::size_t size = iterators.front().dataset()->size();
  for (const SerialIterator& iterator : iterators) {
    require(iterator.dataset()->size() == size,
            "The iterators use sets of different sizes, {} and {} images, so that their epochs would drift "
            "apart. split_dataset_n_random() makes equal shares.",
            size, iterator.dataset()->size());
    require_fit(iterator, model);
  }
}

std::vector<Device*> checked_devices(const std::vector<SerialIterator>& iterators, Optimizer& optimizer,
                                     const std::map<std::string, int>& devices, DevicePool& pool, GradientRule rule) {
  observe::on_updater_made("ParallelUpdater", iterators);
  const std::size_t n_parameters = optimizer.model().memory().parameters.size();
  require(
      !optimizer.exchange() || optimizer.exchange()->owned().size() == n_parameters,
      {"A sharded optimizer updates a shard of the model, so that the devices of one process can't be sent all of it: "
       "with --sharded, give each device a rank of its own.",
       "シャーディングしたオプティマイザはモデルの一部だけを更新するため、1 プロセスの複数のデバイスには使えません。"
       "--sharded を付けるときは、デバイスごとに 1 ランクにしてください。"});
  if (rule == GradientRule::sum && optimizer.name() != "momentum")
    throw UsageError(in_language(
        {"--compat chainer sums the gradients and divides the learning rate by the number of devices, which is the "
         "same step for momentum alone: {} scales its steps by the gradients. Leave --compat out.",
         "--compat chainer は勾配を合計し、学習率をデバイス数で割ります。それで同じ更新になるのは momentum だけで、{} "
         "の"
         "更新の大きさは勾配によって変わります。--compat を外してください。"},
        optimizer.name()));
  check_devices(devices, optimizer.model());
  check_iterators(iterators, devices.size(), optimizer.model());
  std::vector<Device*> ordered;
  for (const auto& [name, id] : main_first(devices)) ordered.push_back(&pool.device(id));
  return ordered;
}

}  // namespace

ParallelUpdater::ParallelUpdater(std::vector<SerialIterator> iterators, Optimizer& optimizer,
                                 const std::map<std::string, int>& devices, DevicePool& pool, GradientRule rule)
    : Updater(optimizer),
      iterators_(std::move(iterators)),
      rule_(rule),
      devices_(devices),
      replicas_(devices.empty() ? 0 : devices.size() - 1),
      team_(checked_devices(iterators_, optimizer, devices, pool, rule)) {
  std::mutex reading_main;
  team_.run([&](std::size_t i) {  // each on its own thread: that puts the memory near the core that uses it
    const std::lock_guard lock(reading_main);
    if (i > 0) replicas_[i - 1] = model().replicate(team_.device(i), static_cast<std::uint32_t>(i));
  });
  std::vector<Device*> others;
  for (std::size_t i = 1; i < team_.size(); ++i) others.push_back(&team_.device(i));
  group_ = model().device().new_group(others);
  for (Classifier* replica : models()) {
    gradients_.push_back(&replica->memory().gradients);
    parameters_.push_back(&replica->memory().parameters);
  }
  n_slices_ = group_->slices(gradients_.front()->size());
  set_rule();
  if (const std::string links = group_->description(); !links.empty()) setting_ = links + '\n' + setting_;
}

void ParallelUpdater::set_rule() {
  const auto n = static_cast<float>(team_.size());
  const float rate = optimizer_.learning_rate();
  if (rule_ == GradientRule::mean) {
    setting_ = fmt::format("Gradients: {}; the learning rate stays {}.", description(), rate);
    return;
  }
  optimizer_.set_learning_rate(rate / n);
  std::fflush(stdout);
  fmt::print(stderr, "UserWarning: optimizer.lr is changed to {} by MultiprocessParallelUpdater for new batch size.\n",
             rate / n);
  setting_ = fmt::format("Gradients: {}; the learning rate is {} / {} = {}, and weight decay acts by 1 / {}.",
                         description(), rate, n, rate / n, n);
}

std::string ParallelUpdater::description() const {
  return fmt::format("{} over {} {}", rule_ == GradientRule::mean ? "mean" : "sum", team_.size(),
                     team_.size() == 1 ? "device" : "devices") +
         exchange_in_words();
}

bool ParallelUpdater::shares_devices() {
  std::set<std::uint64_t> gpus;
  bool shared = Updater::shares_devices();
  for (std::size_t i = 0; i < team_.size(); ++i)
    if (const auto id = team_.device(i).hardware().id; id != 0) shared |= !gpus.insert(id).second;
  return shared;
}

void ParallelUpdater::update() {
  // The team's run() ends when every device's thread has come to its end: each step stands on all of the one before.
  team_.run([this](std::size_t i) {
    (i == 0 ? model() : *replicas_[i - 1]).forward_backward(*iterators_[i].next());
    group_->arrive(i);
  });
  exchange([this](std::size_t slice_index) { gather(slice_index); });
  if (ExchangeStrategy* const exchange = optimizer_.exchange()) {
    for (std::size_t i = 0; i < n_slices_; ++i) group_->await(i);
    if (exchange->wants_ready_gradients()) exchange->on_gradient_ready({0, gradients_.front()->size()});
  }
  if (optimizer_.finish_exchange()) exchange([this](std::size_t slice_index) { update_and_send(slice_index); });
  ++iteration_;
}

void ParallelUpdater::exchange(const std::function<void(std::size_t)>& step) {
  if (group_->each_thread_exchanges()) return team_.run(step);
  for (std::size_t i = 0; i < n_slices_; ++i) step(i);
}

void ParallelUpdater::gather(std::size_t slice_index) {
  const Range range = slice(gradients_.front()->size(), slice_index, n_slices_);
  const trace::Span span("gather", range.size() * sizeof(float) * replicas_.size());
  const float factor = rule_ == GradientRule::mean ? 1.0f / static_cast<float>(team_.size()) : 1.0f;
  group_->reduce(gradients_, factor, slice_index);
  if (trace::on()) group_->await(slice_index);
  finish_span();
}

void ParallelUpdater::update_and_send(std::size_t slice_index) {
  const Range range = slice(parameters_.front()->size(), slice_index, n_slices_);
  {
    const trace::Span span("update");
    group_->await(slice_index);
    optimizer_.update(range);
    finish_span();
  }
  const trace::Span span("send", range.size() * sizeof(float) * replicas_.size());
  group_->send(parameters_, slice_index);
  finish_span();
}

void ParallelUpdater::finish_span() {
  if (trace::on()) model().device().synchronize();
}

Metrics ParallelUpdater::take_metrics() {
  std::vector<Metrics> of_device(team_.size());
  team_.run([&](std::size_t i) { of_device[i] = models()[i]->take_metrics(); });
  Metrics sum;
  for (const Metrics& metrics : of_device) sum += metrics;
  return sum;
}

std::vector<Classifier*> ParallelUpdater::models() {
  std::vector<Classifier*> all{&model()};
  for (const auto& replica : replicas_) all.push_back(replica.get());
  return all;
}

void print_devices(const std::map<std::string, int>& devices) {
  observe::on_devices_named(devices);
  std::vector<std::string> entries;
  for (const auto& [name, id] : main_first(devices)) entries.push_back(fmt::format("'{}': {}", name, id));
  fmt::print("{{{}}}\n", fmt::join(entries, ", "));
}

}  // namespace odori
