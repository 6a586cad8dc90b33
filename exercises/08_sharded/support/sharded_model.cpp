// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "observe/hooks.h"
#include "observe/refusal.h"
#include "sharded_cases.h"
#include "sharded_support.h"

namespace odori {

Range shard_of(std::size_t size, int rank, int n) {
  const auto r = static_cast<std::size_t>(rank), ranks = static_cast<std::size_t>(n);
  require(n > 0 && rank >= 0 && rank < n, "shard_of: there is no rank {} of {}.", rank, n);
  return {size * r / ranks, size * (r + 1) / ranks};
}

void AdamState::begin_update(float learning_rate) {
  learning_rate_ = learning_rate;
  rest_of_first_ *= adam_beta1;
  rest_of_second_ *= adam_beta2;
  first_updated_.reset();
}

void AdamState::update(std::size_t k, float& parameter, float gradient) {
  if (!first_updated_) first_updated_ = k;
  if (k >= size()) observe::on_event(outside_state, {static_cast<std::int64_t>(*first_updated_)});
  refusal::require(outside_state, k < size(),
                   "state.update({0}, ...): this rank's state has {1} elements, counted from 0, so there is no element "
                   "{0}.",
                   k, size());
  if (seen_) seen_(k, gradient);
  const double g = gradient;
  const double m = adam_beta1 * first_[k] + (1 - adam_beta1) * g,
               v = adam_beta2 * second_[k] + (1 - adam_beta2) * g * g;
  first_[k] = static_cast<float>(m);
  second_[k] = static_cast<float>(v);
  parameter -= static_cast<float>(learning_rate_ * (m / (1 - rest_of_first_)) /
                                  (std::sqrt(v / (1 - rest_of_second_)) + adam_epsilon));
}

ShardedModel::ShardedModel(std::span<const std::size_t> sizes, std::span<const float> parameters, ProcessGroup world)
    : world_(std::move(world)) {
  std::size_t begin = 0;
  for (const std::size_t size : sizes) {
    require(size > 0 && begin + size <= parameters.size(), "The layers need more parameters than the {} given.",
            parameters.size());
    const Range shard = world_.shard(size);
    Layer& layer = layers_.emplace_back();
    layer.size = size;
    layer.own = {shards_.size(), shards_.size() + shard.size()};
    const auto values = parameters.subspan(begin + shard.begin, shard.size());
    shards_.insert(shards_.end(), values.begin(), values.end());
    begin += size;
  }
  mean_shards_.resize(shards_.size());
}

ShardedModel::Layer& ShardedModel::layer(const char* call, int i) {
  refusal::require(no_such_layer, i >= 0 && i < layers(),
                   "model.{}({}): there is no such layer. They are counted from 0 to {}.", call, i, layers() - 1);
  return layers_[static_cast<std::size_t>(i)];
}

void ShardedModel::start_gather(int i) {
  Layer& its = layer("start_gather", i);
  if (its.in_memory) return;
  observe::on_event(gather_started, {i});
  its.in_memory = true;
  its.parameters.assign(its.size, std::numeric_limits<float>::quiet_NaN());
  parameters_ += its.size;
  most_parameters_ = std::max(most_parameters_, parameters_);
  its.gathering.emplace(
      world_.all_gather_async(std::span(shards_).subspan(its.own.begin, its.own.size()), its.parameters));
}

void ShardedModel::wait(int i) {
  Layer& its = layer("wait", i);
  refusal::require(gather_not_started, its.in_memory,
                   "model.wait({0}): the gather of layer {0} has not been started, or its parameters are freed again.",
                   i);
  if (!its.gathering) return;
  its.gathering->wait();
  its.gathering.reset();
  observe::on_event(gather_ended, {i});
}

const std::vector<float>& ShardedModel::gathered(const char* call, int i) {
  Layer& its = layer(call, i);
  refusal::require(not_in_memory, its.in_memory,
                   "model.{0}({1}): the parameters of layer {1} are not in memory. Gather them first: "
                   "model.start_gather({1}), then model.wait({1}).",
                   call, i);
  refusal::require(not_waited, !its.gathering,
                   "model.{0}({1}): the gather of layer {1} may not have ended. Wait for it first: model.wait({1}).",
                   call, i);
  return its.parameters;
}

void ShardedModel::free_parameters(int i) {
  gathered("free_parameters", i);
  Layer& its = layer("free_parameters", i);
  std::vector<float>().swap(its.parameters);
  its.in_memory = false;
  parameters_ -= its.size;
  observe::on_event(parameters_freed, {i});
}

void ShardedModel::compute(const char* call, Phase phase, int i) {
  Layer& its = layer(call, i);
  const int n = layers(), next = computed_ < n ? computed_ : 2 * n - 1 - computed_;
  const bool is_forward = computed_ < n;
  refusal::require(wrong_order, computed_ < 2 * n && is_forward == (phase == Phase::forward) && i == next,
                   "model.{}({}): it is not the turn of this layer. Forward computes the layers from 0 to {}, then "
                   "backward computes them from {} to 0, each once.",
                   call, i, n - 1, n - 1);
  const std::vector<float>& parameters = gathered(call, i);
  ++computed_;
  observe::on_event(is_forward ? layer_forward_computed : layer_backward_computed, {i});
  if (is_forward) return compute_.forward(i, parameters);
  its.gradients.assign(its.size, 0.0f);
  its.has_gradients = true;
  gradients_ += its.size;
  most_gradients_ = std::max(most_gradients_, gradients_);
  compute_.backward(i, parameters, its.gradients);
}

void ShardedModel::forward(int i) { compute("forward", Phase::forward, i); }
void ShardedModel::backward(int i) { compute("backward", Phase::backward, i); }

std::span<float> ShardedModel::gradients(int i) {
  Layer& its = layer("gradients", i);
  refusal::require(no_gradients, its.has_gradients,
                   "model.gradients({0}): there are none in memory. model.backward({0}) makes them, and "
                   "model.free_gradients({0}) frees them.",
                   i);
  return its.gradients;
}

std::span<float> ShardedModel::mean_shard(int i) {
  const Range own = layer("mean_shard", i).own;
  return std::span(mean_shards_).subspan(own.begin, own.size());
}

void ShardedModel::free_gradients(int i) {
  gradients(i);
  Layer& its = layer("free_gradients", i);
  std::vector<float>().swap(its.gradients);
  its.has_gradients = false;
  gradients_ -= its.size;
  observe::on_event(gradients_freed, {i});
}

void ShardedModel::begin_step(LayerCompute compute) {
  compute_ = std::move(compute);
  computed_ = 0;
  most_parameters_ = parameters_;
  most_gradients_ = gradients_;
  std::ranges::fill(mean_shards_, std::numeric_limits<float>::quiet_NaN());
}

void ShardedModel::end_step() {
  refusal::require(layers_left_out, computed_ == 2 * layers(),
                   "{} of {} layers were computed in forward, and {} in backward.", std::min(computed_, layers()),
                   layers(), std::max(computed_ - layers(), 0));
  for (int i = 0; i < layers(); ++i) {
    const Layer& its = layer("end_step", i);
    refusal::require(gradients_kept, !its.has_gradients,
                     "After backward, all gradients of layer {} are still in memory. Its mean gradients are enough.",
                     i);
    refusal::require(parameters_kept, !its.in_memory,
                     "After backward, all parameters of layer {} are still in memory. The update changes the shards, "
                     "so that they would be out of date.",
                     i);
  }
}

}  // namespace odori
