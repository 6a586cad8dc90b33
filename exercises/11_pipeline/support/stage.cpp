// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "observe/refusal.h"
#include "pipeline_cases.h"
#include "pipeline_support.h"

namespace odori {
namespace {

void require_rank(const char* call, const char* verb, int rank, const Peers& peers) {
  refusal::require(no_such_rank, rank >= 0 && rank < peers.size() && rank != peers.rank(),
                   "{}: rank {} was to {} rank {}, but the other stages are on the ranks from 0 to {}.", call,
                   peers.rank(), verb, rank, peers.size() - 1);
}

}  // namespace

void MpiPeers::send(std::span<const float> values, int to) {
  require_rank("send", "send to", to, *this);
  comm_.send(values, to);
}

void MpiPeers::receive(std::span<float> values, int from) {
  require_rank("receive", "receive from", from, *this);
  comm_.receive(values, from);
}

void MpiPeers::exchange(std::span<const float> sent, int to, std::span<float> received, int from) {
  require_rank("exchange", "send to", to, *this);
  require_rank("exchange", "receive from", from, *this);
  comm_.exchange(sent, to, received, from);
}

Stage::Stage(std::span<const mlp::Layer> layers, Range own, std::uint64_t seed) : is_last_(own.end == layers.size()) {
  require(own.begin < own.end && own.end <= layers.size(), "A stage of the layers [{}, {}) is not within {} layers.",
          own.begin, own.end, layers.size());
  const auto stage = layers.subspan(own.begin, own.size());
  layers_.assign(stage.begin(), stage.end());
  parameters = mlp::initial_parameters(layers, range(), seed);
  gradients.resize(parameters.size());
}

void Stage::begin(const mlp::Images& images, int m) {
  const std::size_t n = images.labels.size(), parts = static_cast<std::size_t>(m);
  require(m > 0 && n % parts == 0 && n >= parts,
          "{} images can't be split into {} micro-batches of one size. Choose --batchsize as a multiple of "
          "--microbatches.",
          n, m);
  const std::size_t each = n / parts, pixels = images.x.size() / n;
  batches_.clear();
  for (std::size_t i = 0; i < parts; ++i) {
    const auto x = std::span(images.x).subspan(i * each * pixels, each * pixels);
    const auto labels = std::span(images.labels).subspan(i * each, each);
    batches_.push_back({{x.begin(), x.end()}, {labels.begin(), labels.end()}});
  }
  std::ranges::fill(gradients, 0.0f);
  held_.clear();
  loss_ = {};
  most_held_ = 0;
}

std::size_t Stage::input_size() const { return images_of_batch() * layers_.front().in; }
std::size_t Stage::output_size() const { return images_of_batch() * layers_.back().out; }

const mlp::Images& Stage::batch(const char* call, int i) const {
  refusal::require(no_such_micro_batch, i >= 0 && i < micro_batches(),
                   "stage.{}({}): there is no such micro-batch. They are counted from 0 to {}.", call, i,
                   micro_batches() - 1);
  return batches_[static_cast<std::size_t>(i)];
}

mlp::Activations& Stage::activations(const char* call, int i) {
  batch(call, i);
  const auto held = held_.find(i);
  refusal::require(no_activations, held != held_.end(),
                   "stage.{0}({1}): no activations of micro-batch {1} are held. Its forward comes first, and its "
                   "backward frees them.",
                   call, i);
  return held->second;
}

const std::vector<float>& Stage::images(int i) const { return batch("images", i).x; }

std::vector<float> Stage::forward(int i, std::vector<float> input) {
  batch("forward", i);
  refusal::require(forward_twice, !held_.contains(i),
                   "stage.forward({0}): the activations of micro-batch {0} are held already. Its backward frees them.",
                   i);
  refusal::require(other_input, input.size() == input_size(),
                   "stage.forward({}): the input has {} values, but this stage takes {}.", i, input.size(),
                   input_size());
  if (computing_) computing_({Phase::forward, i});
  const mlp::Activations& activations =
      held_.emplace(i, mlp::stage_forward(layers_, parameters, std::move(input))).first->second;
  most_held_ = std::max(most_held_, static_cast<int>(held_.size()));
  return activations.back();
}

std::vector<float> Stage::loss_gradient(int i) {
  refusal::require(loss_elsewhere, is_last_,
                   "stage.loss_gradient({}): this stage's output is not the network's. The loss is known on the last "
                   "rank alone.",
                   i);
  const mlp::Activations& held = activations("loss_gradient", i);
  std::vector<float> gradient(held.back().size());
  const mlp::Loss loss = mlp::softmax_cross_entropy(held.back(), batch("loss_gradient", i).labels, gradient);
  loss_.mean += loss.mean / micro_batches();
  loss_.correct += loss.correct;
  return gradient;
}

std::vector<float> Stage::backward(int i, std::vector<float> dy) {
  const mlp::Activations& held = activations("backward", i);
  refusal::require(other_gradient, dy.size() == output_size(),
                   "stage.backward({}): the gradient has {} values, but this stage's output has {}.", i, dy.size(),
                   output_size());
  if (computing_) computing_({Phase::backward, i});
  std::vector<float> dx = mlp::stage_backward(layers_, parameters, held, std::move(dy), gradients);
  held_.erase(i);
  return dx;
}

}  // namespace odori
