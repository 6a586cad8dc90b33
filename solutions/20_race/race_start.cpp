// SPDX-License-Identifier: Apache-2.0
#include "race_start.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "numbers/random.h"
#include "race_images.h"

namespace odori::race {
namespace {

constexpr int side = Example::side, channels = Example::channels;

/// Turns rows and columns i and j so that the element (i, j) becomes 0, and `vectors` with them.
void rotate(Covariance& a, Covariance& vectors, int i, int j) {
  if (a[i][j] == 0) return;
  const double theta = (a[j][j] - a[i][i]) / (2 * a[i][j]);
  const double t = (theta >= 0 ? 1 : -1) / (std::abs(theta) + std::sqrt(theta * theta + 1));
  const double c = 1 / std::sqrt(t * t + 1), s = t * c;
  for (int k = 0; k < patch; ++k) {
    const double x = a[k][i], y = a[k][j];
    a[k][i] = c * x - s * y, a[k][j] = s * x + c * y;
  }
  for (int k = 0; k < patch; ++k) {
    const double x = a[i][k], y = a[j][k];
    a[i][k] = c * x - s * y, a[j][k] = s * x + c * y;
  }
  for (int k = 0; k < patch; ++k) {
    const double x = vectors[k][i], y = vectors[k][j];
    vectors[k][i] = c * x - s * y, vectors[k][j] = s * x + c * y;
  }
}

std::vector<float> uniform(std::size_t n, int inputs, RandomSequence& random) {
  std::vector<float> values(n);
  const float bound = 1 / std::sqrt(static_cast<float>(inputs));
  for (float& value : values) value = (2 * random.uniform() - 1) * bound;
  return values;
}

/// Output channel i becomes input channel i, for as many as there are.
void pass_on(std::vector<float>& weights, const Shape& shape) {
  const auto outputs = static_cast<std::size_t>(std::min(shape.n, shape.c));
  const auto inputs = static_cast<std::size_t>(shape.features()), kernel = static_cast<std::size_t>(shape.h * shape.w);
  std::fill_n(weights.begin(), outputs * inputs, 0.0f);
  for (std::size_t i = 0; i < outputs; ++i) weights[i * inputs + i * kernel + kernel / 2] = 1;
}

}  // namespace

Covariance patch_covariance(const Dataset& images, std::size_t n) {
  n = std::min(n, images.size());
  const Transform& transform = images.transform();
  Covariance sums{};
  std::array<std::array<float, side * side>, channels> planes;
  for (std::size_t image = 0; image < n; ++image) {
    const Example example = images[image];
    for (std::size_t c = 0; c < channels; ++c)
      for (std::size_t i = 0; i < side * side; ++i)
        planes[c][i] = (static_cast<float>(example.pixels[c * side * side + i]) / 255 - transform.mean[c]) /
                       transform.deviation[c];
    // Element e of the patch at i is e's plane at i plus e's place in the patch.
    const auto element = [&](int e) { return &planes[e / 4][e / 2 % 2 * side + e % 2]; };
    for (int a = 0; a < patch; ++a)
      for (int b = a; b < patch; ++b) {
        const float *x = element(a), *y = element(b);
        float sum = 0;
        for (int row = 0; row < side - 1; ++row)
          for (int i = row * side; i < row * side + side - 1; ++i) sum += x[i] * y[i];
        sums[a][b] += sum;
      }
  }
  const double patches = static_cast<double>(n) * (side - 1) * (side - 1);
  for (int a = 0; a < patch; ++a)
    for (int b = a; b < patch; ++b) sums[b][a] = sums[a][b] /= patches;
  return sums;
}

std::vector<float> whitening_weights(const Covariance& covariance, double epsilon) {
  Covariance values = covariance, vectors{};
  for (int i = 0; i < patch; ++i) vectors[i][i] = 1;
  for (int sweep = 0; sweep < 30; ++sweep)  // about 8 are needed: convergence is quadratic
    for (int i = 0; i < patch; ++i)
      for (int j = i + 1; j < patch; ++j) rotate(values, vectors, i, j);
  std::array<int, patch> order;
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int i, int j) { return values[i][i] > values[j][j]; });
  std::vector<float> weights;
  for (const double sign : {1.0, -1.0})
    for (const int i : order)
      for (int e = 0; e < patch; ++e)
        weights.push_back(static_cast<float>(sign * vectors[e][i] / std::sqrt(values[i][i] + epsilon)));
  return weights;
}

std::unique_ptr<Classifier> new_model(const std::string& size, const Recipe& recipe, const Dataset& train,
                                      Device& device) {
  const NetworkSpec network = network_of_size(size);
  check_batch_size(train, recipe.batch);
  auto model = std::make_unique<Classifier>(network, recipe.batch, 0);
  model->to_device(device);
  return model;
}

void write_initial_values(Classifier& model, const Dataset& train, const Recipe& recipe, std::uint64_t seed) {
  RandomSequence random(seed, RandomUse::initial_weights);
  const std::size_t images = static_cast<std::size_t>(recipe.whitening_images);
  for (const auto& [name, view] : model.parameters()) {
    std::vector<float> values(view.size(), name.ends_with("/gamma") ? 1.0f : 0.0f);
    if (name == "whitening/W") {
      values = whitening_weights(patch_covariance(train, images), recipe.whitening_epsilon);
    } else if (view.kind != ParameterKind::vector) {
      values = uniform(view.size(), view.shape.features(), random);
      if (view.kind == ParameterKind::convolution_weight) pass_on(values, view.shape);
    }
    model.graph().write_parameter(model.memory().parameters, view, values);
  }
  for (const auto& [name, view] : model.statistics()) {
    const std::vector<float> values(view.size(), name.ends_with("/avg_var") ? 1.0f : 0.0f);
    model.graph().write_parameter(model.memory().statistics, view, values);
  }
}

}  // namespace odori::race
