// SPDX-License-Identifier: Apache-2.0
#include "mlp.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "errors/error.h"
#include "numbers/random.h"

namespace odori::mlp {
namespace {

void expect(const char* name, std::size_t found, std::size_t rows, std::size_t columns) {
  require(found == rows * columns,
          {"{} has {} elements, but its shape is [{}, {}], which is {}. Pass the sizes of the layer or shard that is "
           "computed, and spans of these sizes.",
           "{} は {} 要素ですが、形は [{}, {}]、つまり {} 要素です。計算する層またはシャードの大きさと、その大きさの "
           "span を渡して"
           "ください。"},
          name, found, rows, columns, rows * columns);
}

/// Initial values of row `row` of the layer's matrix, from this column on.
void initialise(const Layer& layer, std::size_t row, std::size_t column, std::uint64_t seed, std::span<float> values) {
  const auto in = static_cast<float>(layer.in);
  const float bound = row < layer.in ? std::sqrt(6.0f / in) : 1.0f / std::sqrt(in);
  RandomSequence random(seed, RandomUse::initial_weights);
  random.seek(layer.range.begin + row * layer.out + column);
  for (float& value : values) value = bound * (2.0f * random.uniform() - 1.0f);
}

/// Part of the parameters, or of the gradients, of adjacent layers: those of `layer`.
template <typename T>
std::span<T> of_layer(std::span<const Layer> stage, const Layer& layer, std::span<T> all) {
  return all.subspan(layer.range.begin - stage.front().range.begin, layer.range.size());
}

}  // namespace

std::vector<Layer> make_layers(std::span<const std::size_t> widths) {
  require(widths.size() >= 2 && std::ranges::find(widths, 0u) == widths.end(),
          Text{"A perceptron has at least two widths, and none is 0: 3072,128,10 are two layers.",
               "パーセプトロンの幅は 2 つ以上で、0 は使えません。3072,128,10 なら 2 層です。"});
  std::vector<Layer> layers;
  for (std::size_t i = 0, begin = 0; i + 1 < widths.size(); begin = layers[i++].range.end)
    layers.push_back({widths[i], widths[i + 1], {begin, begin + (widths[i] + 1) * widths[i + 1]}});
  layers.back().relu = false;
  return layers;
}

Range range_of(std::span<const Layer> stage) {
  require(!stage.empty(), "A stage has at least one layer, but this one has none.");
  return {stage.front().range.begin, stage.back().range.end};
}

std::vector<float> initial_parameters(std::span<const Layer> layers, Range range, std::uint64_t seed) {
  const Range all = range_of(layers);
  require(all.begin <= range.begin && range.begin <= range.end && range.end <= all.end,
          "The range [{}, {}) is not within the parameters of these layers, [{}, {}).", range.begin, range.end,
          all.begin, all.end);
  std::vector<float> values(range.size());
  for (const Layer& layer : layers)
    for (std::size_t row = 0; row <= layer.in; ++row) {
      const std::size_t begin = layer.range.begin + row * layer.out;
      const Range part{std::max(begin, range.begin), std::min(begin + layer.out, range.end)};
      if (part.begin < part.end)
        initialise(layer, row, part.begin - begin, seed,
                   std::span(values).subspan(part.begin - range.begin, part.size()));
    }
  return values;
}

std::vector<float> initial_slice(const Layer& layer, Range rows, Range columns, std::uint64_t seed) {
  require(
      rows.begin <= rows.end && rows.end <= layer.in + 1 && columns.begin <= columns.end && columns.end <= layer.out,
      "Rows [{}, {}) and columns [{}, {}) are not within this layer's matrix, whose shape is [{}, {}] with the bias.",
      rows.begin, rows.end, columns.begin, columns.end, layer.in + 1, layer.out);
  std::vector<float> values(rows.size() * columns.size());
  for (std::size_t row = 0; row < rows.size(); ++row)
    initialise(layer, rows.begin + row, columns.begin, seed,
               std::span(values).subspan(row * columns.size(), columns.size()));
  return values;
}

// In both loops a row of the weights is used for all images while it is in the cache; element by element the order of
// the sums is that of plain loops.
void linear_forward(Sizes sizes, std::span<const float> x, std::span<const float> weights, std::span<const float> bias,
                    std::span<float> y) {
  const auto [n, in, out] = sizes;
  expect("x", x.size(), n, in);
  expect("weights", weights.size(), in, out);
  if (!bias.empty()) expect("bias", bias.size(), 1, out);
  expect("y", y.size(), n, out);
  for (std::size_t k = 0; k < y.size(); ++k) y[k] = bias.empty() ? 0.0f : bias[k % out];
  for (std::size_t i = 0; i < in; ++i)
    for (std::size_t s = 0; s < n; ++s) {
      const float factor = x[s * in + i];
      const float* row = &weights[i * out];
      float* to = &y[s * out];
      for (std::size_t j = 0; j < out; ++j) to[j] += factor * row[j];
    }
}

void linear_backward(Sizes sizes, std::span<const float> x, std::span<const float> weights, std::span<const float> dy,
                     std::span<float> dx, std::span<float> dweights, std::span<float> dbias) {
  const auto [n, in, out] = sizes;
  expect("x", x.size(), n, in);
  expect("weights", weights.size(), in, out);
  expect("dy", dy.size(), n, out);
  if (!dx.empty()) expect("dx", dx.size(), n, in);
  expect("dweights", dweights.size(), in, out);
  if (!dbias.empty()) expect("dbias", dbias.size(), 1, out);
  for (std::size_t k = 0; !dbias.empty() && k < dy.size(); ++k) dbias[k % out] += dy[k];
  for (std::size_t i = 0; i < in; ++i)
    for (std::size_t s = 0; s < n; ++s) {
      const float factor = x[s * in + i];
      const float* from = &dy[s * out];
      const float* row = &weights[i * out];
      float* to = &dweights[i * out];
      for (std::size_t j = 0; j < out; ++j) to[j] += factor * from[j];
      if (dx.empty()) continue;
      float sum = 0;
      for (std::size_t j = 0; j < out; ++j) sum += from[j] * row[j];
      dx[s * in + i] = sum;
    }
}

void relu_forward(std::span<float> y) {
  for (float& value : y)
    if (value < 0) value = 0;  // NaN remains NaN
}

void relu_backward(std::span<const float> y, std::span<float> dy) {
  expect("dy", dy.size(), 1, y.size());
  for (std::size_t k = 0; k < y.size(); ++k)
    if (y[k] == 0) dy[k] = 0;
}

Loss softmax_cross_entropy(std::span<const float> logits, std::span<const int> labels, std::span<float> dlogits) {
  const std::size_t n = labels.size();
  require(n > 0, "The loss of a batch without images is not defined. Pass at least one label.");
  const std::size_t classes = logits.size() / n;
  expect("logits", logits.size(), n, classes);
  if (!dlogits.empty()) expect("dlogits", dlogits.size(), n, classes);
  Loss loss;
  for (std::size_t s = 0; s < n; ++s) {
    const auto z = logits.subspan(s * classes, classes);
    require(labels[s] >= 0 && static_cast<std::size_t>(labels[s]) < classes,
            "Label {} is not one of the {} classes that the logits have.", labels[s], classes);
    const auto label = static_cast<std::size_t>(labels[s]);
    const auto largest = std::ranges::max_element(z);
    double sum = 0;
    for (const float value : z) sum += std::exp(static_cast<double>(value - *largest));
    loss.mean += (std::log(sum) - static_cast<double>(z[label] - *largest)) / static_cast<double>(n);
    loss.correct += static_cast<std::size_t>(largest - z.begin()) == label;
    for (std::size_t k = 0; !dlogits.empty() && k < classes; ++k) {
      const double p = std::exp(static_cast<double>(z[k] - *largest)) / sum;
      dlogits[s * classes + k] = static_cast<float>((p - (k == label)) / static_cast<double>(n));
    }
  }
  return loss;
}

void sgd_update(std::span<float> parameters, std::span<const float> gradients, float learning_rate) {
  expect("gradients", gradients.size(), 1, parameters.size());
  for (std::size_t i = 0; i < parameters.size(); ++i) parameters[i] -= learning_rate * gradients[i];
}

void layer_forward(const Layer& layer, std::span<const float> parameters, std::span<const float> x,
                   std::span<float> y) {
  expect("parameters", parameters.size(), layer.in + 1, layer.out);
  const std::size_t weights = layer.in * layer.out;
  linear_forward({x.size() / layer.in, layer.in, layer.out}, x, parameters.first(weights), parameters.subspan(weights),
                 y);
  if (layer.relu) relu_forward(y);
}

void layer_backward(const Layer& layer, std::span<const float> parameters, std::span<const float> x,
                    std::span<const float> y, std::span<float> dy, std::span<float> dx, std::span<float> gradients) {
  expect("parameters", parameters.size(), layer.in + 1, layer.out);
  expect("gradients", gradients.size(), layer.in + 1, layer.out);
  const std::size_t weights = layer.in * layer.out;
  if (layer.relu) relu_backward(y, dy);
  linear_backward({x.size() / layer.in, layer.in, layer.out}, x, parameters.first(weights), dy, dx,
                  gradients.first(weights), gradients.subspan(weights));
}

Activations stage_forward(std::span<const Layer> stage, std::span<const float> parameters, std::vector<float> x) {
  expect("parameters", parameters.size(), 1, range_of(stage).size());
  Activations activations{std::move(x)};
  for (const Layer& layer : stage) {
    std::vector<float> y(activations.back().size() / layer.in * layer.out);
    layer_forward(layer, of_layer(stage, layer, parameters), activations.back(), y);
    activations.push_back(std::move(y));
  }
  return activations;
}

std::vector<float> stage_backward(std::span<const Layer> stage, std::span<const float> parameters,
                                  const Activations& activations, std::vector<float> dy, std::span<float> gradients) {
  expect("parameters", parameters.size(), 1, range_of(stage).size());
  expect("gradients", gradients.size(), 1, range_of(stage).size());
  require(activations.size() == stage.size() + 1,
          {"There are {} activations for a stage of {} layers, not {}. Pass what stage_forward of this stage returned.",
           "{1} 層のステージの活性は {2} 個のはずですが、{0} 個あります。このステージの stage_forward "
           "が返したものを渡してください。"},
          activations.size(), stage.size(), stage.size() + 1);
  for (std::size_t i = stage.size(); i-- > 0;) {
    std::vector<float> dx(stage[i].range.begin > 0 ? activations[i].size() : 0);
    layer_backward(stage[i], of_layer(stage, stage[i], parameters), activations[i], activations[i + 1], dy, dx,
                   of_layer(stage, stage[i], gradients));
    dy = std::move(dx);
  }
  return dy;
}

Images load(const Batch& batch) {
  const Transform& transform = batch.transform;
  require(
      transform.image_size == Example::side && transform.crop_padding == 0 && !transform.flip,
      Text{"The perceptron reads images of 32x32 as they are. Load the data set without enlarging or augmenting it.",
           "パーセプトロンは 32x32 "
           "の画像をそのまま読みます。データセットは、拡大やデータ拡張をせずに読み込んでください。"});
  Images images;
  for (const Example& example : batch.examples) {
    images.labels.push_back(example.label);
    for (std::size_t i = 0; i < Example::bytes; ++i) {
      const std::size_t channel = i / (Example::side * Example::side);
      images.x.push_back((static_cast<float>(example.pixels[i]) / 255.0f - transform.mean[channel]) /
                         transform.deviation[channel]);
    }
  }
  return images;
}

}  // namespace odori::mlp
