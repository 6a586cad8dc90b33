// SPDX-License-Identifier: Apache-2.0
#include "perceptron.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "data/cifar.h"

namespace odori {

PerceptronOfWorkers::PerceptronOfWorkers(const Arguments& args, int batch_size, int n_workers)
    : batch_size_(batch_size), seed_(args.seed) {
  const TrainTest sets = load_cifar(args.dataset, {.fraction = args.fraction});
  n_gradients_ = std::max(1, static_cast<int>(sets.train->size()) / batch_size * args.epoch);
  const auto n_classes = static_cast<std::size_t>(sets.train->n_classes());
  layers_ = mlp::make_layers(std::array{std::size_t{Example::bytes}, std::size_t{16}, n_classes});
  for (int worker = 0; worker < n_workers; ++worker)
    iterators_.emplace_back(sets.train, batch_size_,
                            IteratorOptions{.seed = seed_, .stream = static_cast<std::uint32_t>(worker)});
  const int n_test = static_cast<int>(std::min<std::size_t>(sets.test->size(), 1000));
  test_ = mlp::load(*SerialIterator(sets.test, n_test, {.repeat = false, .shuffle = false}).next());
}

std::vector<float> PerceptronOfWorkers::initial_parameters() const {
  return mlp::initial_parameters(layers_, mlp::range_of(layers_), seed_);
}

std::vector<float> PerceptronOfWorkers::gradient_at(int worker, std::span<const float> parameters) {
  mlp::Images images = mlp::load(*iterators_.at(static_cast<std::size_t>(worker)).next());
  const mlp::Activations activations = mlp::stage_forward(layers_, parameters, std::move(images.x));
  std::vector<float> dlogits(activations.back().size()), gradients(parameters.size());
  mlp::softmax_cross_entropy(activations.back(), images.labels, dlogits);
  mlp::stage_backward(layers_, parameters, activations, std::move(dlogits), gradients);
  return gradients;
}

double PerceptronOfWorkers::accuracy(std::span<const float> parameters) const {
  if (!std::ranges::all_of(parameters, [](float value) { return std::isfinite(value); })) return 0;
  const mlp::Activations activations = mlp::stage_forward(layers_, parameters, test_.x);
  const mlp::Loss loss = mlp::softmax_cross_entropy(activations.back(), test_.labels);
  return static_cast<double>(loss.correct) / static_cast<double>(test_.labels.size());
}

}  // namespace odori
