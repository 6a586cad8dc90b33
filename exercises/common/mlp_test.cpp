// SPDX-License-Identifier: Apache-2.0
// The perceptron against plain loops in double and finite differences; split by columns and rows, cut into stages and
// micro-batches; its initial shards; training on the synthetic set.
#include "mlp.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numeric>

#include "data/cifar.h"
#include "data/random_images.h"
#include "data/serial_iterator.h"
#include "files/file.h"
#include "numbers/random.h"
#include "sentence_of.h"
#include "synthetic.h"

namespace odori::mlp {
namespace {

using Floats = std::vector<float>;
using Doubles = std::vector<double>;

Floats random_values(std::size_t n, std::uint64_t seed) {
  Floats values(n);
  RandomSequence(seed, RandomUse::synthetic_data).fill_normal(values, 1.0f);
  return values;
}

/// The mean loss, and its gradient by all parameters: plain loops, one image after another.
double plain_loss(std::span<const Layer> layers, const Doubles& parameters, const Floats& images,
                  std::span<const int> labels, Doubles* gradients = nullptr) {
  double loss = 0;
  for (std::size_t s = 0; s < labels.size(); ++s) {
    std::vector<Doubles> y{Doubles(images.begin() + s * layers[0].in, images.begin() + (s + 1) * layers[0].in)};
    for (const Layer& layer : layers) {
      Doubles next(layer.out);
      for (std::size_t j = 0; j < layer.out; ++j) {
        next[j] = parameters[layer.range.begin + layer.in * layer.out + j];
        for (std::size_t i = 0; i < layer.in; ++i)
          next[j] += y.back()[i] * parameters[layer.range.begin + i * layer.out + j];
        if (layer.relu) next[j] = std::max(next[j], 0.0);
      }
      y.push_back(next);
    }
    Doubles dy = y.back();
    double sum = 0;
    for (double& value : dy) sum += value = std::exp(value);
    const auto label = static_cast<std::size_t>(labels[s]), n = labels.size();
    loss -= std::log(dy[label] / sum) / static_cast<double>(n);
    for (std::size_t k = 0; k < dy.size(); ++k) dy[k] = (dy[k] / sum - (k == label)) / static_cast<double>(n);
    for (std::size_t l = layers.size(); gradients && l-- > 0;) {
      const Layer& layer = layers[l];
      Doubles dx(layer.in);
      for (std::size_t j = 0; j < layer.out; ++j) {
        if (layer.relu && y[l + 1][j] <= 0) continue;
        (*gradients)[layer.range.begin + layer.in * layer.out + j] += dy[j];
        for (std::size_t i = 0; i < layer.in; ++i) {
          (*gradients)[layer.range.begin + i * layer.out + j] += dy[j] * y[l][i];
          dx[i] += dy[j] * parameters[layer.range.begin + i * layer.out + j];
        }
      }
      dy = dx;
    }
  }
  return loss;
}

/// Four layers and a batch of eight images, with sizes that no number of ranks divides.
class Mlp : public testing::Test {
 protected:
  static constexpr std::array<std::size_t, 5> widths{11, 7, 13, 6, 5};
  const std::vector<Layer> layers = make_layers(widths);
  const Floats parameters = initial_parameters(layers, range_of(layers), 1);
  const Floats x = random_values(8 * 11, 2);
  const std::vector<int> labels{0, 4, 2, 1, 3, 3, 0, 2};

  struct Result {
    Loss loss;
    Activations activations;
    Floats gradients;
  };
  Result whole() const {
    Result result{{}, stage_forward(layers, parameters, x), Floats(parameters.size())};
    Floats dy(result.activations.back().size());
    result.loss = softmax_cross_entropy(result.activations.back(), labels, dy);
    EXPECT_TRUE(stage_backward(layers, parameters, result.activations, dy, result.gradients).empty());
    return result;
  }
};

void expect_near(std::span<const float> found, std::span<const float> expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i)
    EXPECT_NEAR(found[i], expected[i], 1e-5 * std::max(1.0f, std::abs(expected[i]))) << i;
}

// ---- One process

TEST_F(Mlp, MatchesPlainLoops) {
  const Result result = whole();
  Doubles gradients(parameters.size());
  const double loss = plain_loss(layers, Doubles(parameters.begin(), parameters.end()), x, labels, &gradients);
  EXPECT_NEAR(result.loss.mean, loss, 1e-6);
  expect_near(result.gradients, Floats(gradients.begin(), gradients.end()));
}

TEST_F(Mlp, GradientsAreFiniteDifferences) {
  const Result result = whole();
  Doubles moved(parameters.begin(), parameters.end());
  for (std::size_t i = 0; i < moved.size(); ++i) {
    const double here = moved[i], step = 1e-6;
    moved[i] = here + step;
    const double above = plain_loss(layers, moved, x, labels);
    moved[i] = here - step;
    const double difference = (above - plain_loss(layers, moved, x, labels)) / (2 * step);
    moved[i] = here;
    EXPECT_NEAR(result.gradients[i], difference, 1e-5) << "parameter " << i;
  }
}

TEST(MlpLoss, IsTheMeanAndCountsCorrectPredictions) {
  const Floats logits{1000, 0, 0, 0, 0, 0};  // certain, and undecided; exp(1000) would be infinite
  const std::vector<int> labels{0, 2};
  const Loss loss = softmax_cross_entropy(logits, labels);
  EXPECT_NEAR(loss.mean, std::log(3.0) / 2, 1e-12);
  EXPECT_EQ(loss.correct, 1u);
}

TEST_F(Mlp, LayersFollowEachOtherInTheFlatArray) {
  std::vector<std::size_t> ends, costs;
  for (const Layer& layer : layers) {
    EXPECT_EQ(layer.range.begin, ends.empty() ? 0 : ends.back());
    EXPECT_EQ(layer.relu, ends.size() < 3);
    ends.push_back(layer.range.end);
    costs.push_back(multiply_adds(layer));
  }
  EXPECT_EQ(ends, (std::vector<std::size_t>{84, 188, 272, 307}));
  EXPECT_EQ(costs, (std::vector<std::size_t>{77, 91, 78, 30}));
}

// ---- Split, cut, sharded

// Layers 1 and 2 of the four: A by columns, B by rows, as on each of several ranks.
TEST_F(Mlp, ShardsOfColumnsAndRowsAddUpToTheWhole) {
  const Result expected = whole();
  const Layer &a = layers[1], &b = layers[2];
  const Floats& input = expected.activations[1];
  const Floats dy_after_relu = random_values(8 * b.out, 3);
  Floats dy(dy_after_relu);
  std::vector<Layer> two{layers.begin() + 1, layers.begin() + 3};
  const Floats of_two(parameters.begin() + a.range.begin, parameters.begin() + b.range.end);
  Floats gradients_of_two(of_two.size());
  const Floats dx_of_whole = stage_backward(two, of_two, stage_forward(two, of_two, input), dy, gradients_of_two);

  for (const std::size_t ranks : {1u, 2u, 3u, 4u}) {
    std::vector<Floats> hidden(ranks);
    Floats y(8 * b.out), dx(input.size());
    const auto own = [&](std::size_t rank) { return Range{a.out * rank / ranks, a.out * (rank + 1) / ranks}; };
    const auto shard_of_a = [&](std::size_t rank) {
      return Layer{a.in, own(rank).size(), {0, (a.in + 1) * own(rank).size()}};
    };
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      hidden[rank].resize(8 * own(rank).size());
      layer_forward(shard_of_a(rank), initial_slice(a, {0, a.in + 1}, own(rank), 1), input, hidden[rank]);
      Floats part(y.size()), bias;
      if (rank == 0) bias = initial_slice(b, {b.in, b.in + 1}, {0, b.out}, 1);
      linear_forward({8, own(rank).size(), b.out}, hidden[rank], initial_slice(b, own(rank), {0, b.out}, 1), bias,
                     part);
      for (std::size_t i = 0; i < y.size(); ++i) y[i] += part[i];
    }
    relu_forward(y);
    expect_near(y, expected.activations[3]);

    dy = dy_after_relu;
    relu_backward(y, dy);
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      const std::size_t columns = own(rank).size();
      Floats dhidden(8 * columns), dweights(columns * b.out), dbias(b.out), part(dx.size()),
          dshard((a.in + 1) * columns);
      linear_backward({8, columns, b.out}, hidden[rank], initial_slice(b, own(rank), {0, b.out}, 1), dy, dhidden,
                      dweights, dbias);
      layer_backward(shard_of_a(rank), initial_slice(a, {0, a.in + 1}, own(rank), 1), input, hidden[rank], dhidden,
                     part, dshard);
      for (std::size_t i = 0; i < dx.size(); ++i) dx[i] += part[i];
      for (std::size_t i = 0; i <= a.in; ++i)
        expect_near(std::span(dshard).subspan(i * columns, columns),
                    std::span(gradients_of_two).subspan(i * a.out + own(rank).begin, columns));
      expect_near(dweights,
                  std::span(gradients_of_two).subspan(a.range.size() + own(rank).begin * b.out, dweights.size()));
      expect_near(dbias, std::span(gradients_of_two).last(b.out));
    }
    expect_near(dx, dx_of_whole);
  }
}

TEST_F(Mlp, StagesGiveTheSameBits) {
  const Result expected = whole();
  for (std::size_t cut = 1; cut < layers.size(); ++cut) {
    const std::span<const Layer> first = std::span(layers).first(cut), second = std::span(layers).subspan(cut);
    const Floats first_parameters = initial_parameters(layers, range_of(first), 1);
    const Floats second_parameters = initial_parameters(layers, range_of(second), 1);
    const Activations before = stage_forward(first, first_parameters, x);
    const Activations after = stage_forward(second, second_parameters, before.back());
    EXPECT_EQ(after.back(), expected.activations.back());

    Floats dy(after.back().size()), gradients(first_parameters.size()), rest(second_parameters.size());
    softmax_cross_entropy(after.back(), labels, dy);
    const Floats sent_back = stage_backward(second, second_parameters, after, dy, rest);
    EXPECT_EQ(sent_back.size(), before.back().size());
    EXPECT_TRUE(stage_backward(first, first_parameters, before, sent_back, gradients).empty());
    gradients.insert(gradients.end(), rest.begin(), rest.end());
    EXPECT_EQ(gradients, expected.gradients) << "cut before layer " << cut;
  }
}

// Divided by a power of two, which rounds nothing.
TEST_F(Mlp, MicroBatchesGiveTheSameBits) {
  Floats gradients(parameters.size());
  for (std::size_t begin = 0; begin < 8; begin += 2) {
    const Activations activations = stage_forward(layers, parameters, {&x[begin * 11], &x[begin * 11] + 22});
    Floats dy(2 * 5);
    softmax_cross_entropy(activations.back(), std::span(labels).subspan(begin, 2), dy);
    stage_backward(layers, parameters, activations, dy, gradients);
  }
  for (float& gradient : gradients) gradient /= 4;
  EXPECT_EQ(gradients, whole().gradients);
}

TEST_F(Mlp, InitialShardsAreSlicesOfTheWhole) {
  for (const Range range : {Range{0, 1}, Range{3, 90}, Range{84, 100}, Range{200, 200}, Range{150, parameters.size()}})
    EXPECT_EQ(initial_parameters(layers, range, 1),
              Floats(parameters.begin() + range.begin, parameters.begin() + range.end));
  for (const Layer& layer : layers) {
    const Range rows{1, layer.in + 1}, columns{2, 4};
    Floats expected;
    for (std::size_t i = rows.begin; i < rows.end; ++i)
      for (std::size_t j = columns.begin; j < columns.end; ++j)
        expected.push_back(parameters[layer.range.begin + i * layer.out + j]);
    EXPECT_EQ(initial_slice(layer, rows, columns, 1), expected);
  }
}

TEST_F(Mlp, InitialParametersAreUniformWithinTheirBounds) {
  EXPECT_NE(initial_parameters(layers, range_of(layers), 2), parameters);
  const std::vector<Layer> alike = make_layers(std::array<std::size_t, 3>{4, 4, 4});
  EXPECT_NE(initial_parameters(alike, alike[0].range, 1), initial_parameters(alike, alike[1].range, 1));
  const Layer large = make_layers(std::array<std::size_t, 2>{96, 500})[0];
  const Floats values = initial_parameters({&large, 1}, large.range, 5);
  for (const Range part : {Range{0, 96 * 500}, Range{96 * 500, 97 * 500}}) {
    const double bound = part.begin == 0 ? 0.25 : 1 / std::sqrt(96.0);  // sqrt(6 / 96)
    double sum = 0, squares = 0;
    for (std::size_t i = part.begin; i < part.end; ++i) {
      EXPECT_LE(std::abs(values[i]), bound * (1 + 1e-6));
      sum += values[i], squares += values[i] * values[i];
    }
    const auto n = static_cast<double>(part.size());
    EXPECT_LT(std::abs(sum / n), 4 * bound / std::sqrt(3 * n));
    EXPECT_NEAR(squares / n, bound * bound / 3, 0.2 * bound * bound / 3);
  }
}

// ---- Data and training

TEST(MlpData, PixelsAreNormalisedAsTheTransformSays) {
  const RandomImages set(3);
  Batch batch = set.batch(3);
  batch.transform.mean = {0.1f, 0.2f, 0.3f};
  batch.transform.deviation = {0.5f, 0.25f, 2};
  const Images images = load(batch);
  ASSERT_EQ(images.x.size(), 3u * 3072);
  for (std::size_t s = 0; s < 3; ++s) {
    EXPECT_EQ(images.labels[s], set[s].label);
    for (std::size_t channel = 0; channel < 3; ++channel) {
      const std::size_t i = channel * 1024 + 5;
      EXPECT_NEAR(images.x[s * 3072 + i],
                  (set[s].pixels[i] / 255.0 - batch.transform.mean[channel]) / batch.transform.deviation[channel],
                  1e-5);
    }
  }
  batch.transform.flip = true;
  EXPECT_SENTENCE(load(batch), "without enlarging or augmenting");
}

/// Losses of `updates` updates with batches of 32.
std::vector<double> losses_of_training(const DatasetPtr& set, int updates) {
  const std::vector<Layer> layers = make_layers(std::array<std::size_t, 3>{3072, 24, 10});
  Floats parameters = initial_parameters(layers, range_of(layers), 1);
  SerialIterator iterator(set, 32);
  std::vector<double> losses;
  for (int i = 0; i < updates; ++i) {
    const Images images = load(*iterator.next());
    const Activations activations = stage_forward(layers, parameters, images.x);
    Floats dy(activations.back().size()), gradients(parameters.size());
    losses.push_back(softmax_cross_entropy(activations.back(), images.labels, dy).mean);
    stage_backward(layers, parameters, activations, dy, gradients);
    sgd_update(parameters, gradients, 0.02f);
  }
  return losses;
}

TEST(MlpTraining, LowersTheLossAndGivesTheSameBitsOnEachRun) {
  const TemporaryFolder folder(testing::TempDir() + "odori_mlp_");
  synthetic::write_files(folder.path(), {.train = 500, .test = 10});
  const DatasetPtr set = load_cifar(folder.path().string()).train;
  const std::vector<double> losses = losses_of_training(set, 120);
  const auto mean = [](auto begin, auto end) {
    return std::accumulate(begin, end, 0.0) / static_cast<double>(end - begin);
  };
  EXPECT_LT(mean(losses.end() - 10, losses.end()), 0.7 * mean(losses.begin(), losses.begin() + 10));
  EXPECT_EQ(losses_of_training(set, 20), std::vector<double>(losses.begin(), losses.begin() + 20));
}

// ---- Errors

TEST_F(Mlp, WrongShapesEndWithASentence) {
  Floats y(8 * 7), gradients(parameters.size()), dx;
  const std::span<const float> all = parameters, weights = all.first(77), bias = all.subspan(77, 7);
  EXPECT_SENTENCE(linear_forward({8, 11, 6}, x, weights, bias, y), "weights has 77 elements, but its shape is [11, 6]");
  EXPECT_SENTENCE(linear_forward({7, 11, 7}, x, weights, bias, y), "x has 88 elements, but its shape is [7, 11]");
  EXPECT_SENTENCE(linear_forward({8, 11, 7}, x, weights, bias.first(6), y), "bias has 6 elements");
  EXPECT_SENTENCE(linear_forward({8, 11, 7}, x, weights, bias, std::span(y).first(55)), "y has 55 elements");
  EXPECT_SENTENCE(layer_forward(layers[0], all, x, y), "parameters has 307 elements, but its shape is [12, 7]");
  const std::span<float> dw = std::span(gradients).first(77), db = std::span(gradients).subspan(77, 7);
  EXPECT_SENTENCE(linear_backward({8, 11, 7}, x, weights, std::span(y).first(49), {}, dw, db), "dy has 49 elements");
  EXPECT_SENTENCE(linear_backward({8, 11, 7}, x, weights, y, std::span(y).first(8), dw, db), "dx has 8 elements");
  EXPECT_SENTENCE(linear_backward({8, 11, 7}, x, weights, y, {}, dw.first(7), db), "dweights has 7 elements");
  EXPECT_SENTENCE(linear_backward({8, 11, 7}, x, weights, y, {}, dw, db.first(1)), "dbias has 1 elements");
  EXPECT_SENTENCE(relu_backward(x, y), "dy has 56 elements");
  EXPECT_SENTENCE(sgd_update(y, x, 1), "gradients has 88 elements");
  EXPECT_SENTENCE(softmax_cross_entropy(y, labels, std::span(y).first(8)), "dlogits has 8 elements");
  EXPECT_SENTENCE(softmax_cross_entropy(y, {}), "without images");
  EXPECT_SENTENCE(softmax_cross_entropy(y, std::array{0, 1, 2, 3, 4, 5, 6, 7}), "Label 7 is not one of the 7 classes");
  EXPECT_SENTENCE(stage_forward(layers, all.first(9), x), "parameters has 9 elements");
  EXPECT_SENTENCE(stage_forward({}, all, x), "at least one layer");
  EXPECT_SENTENCE(stage_backward(layers, all, {x}, y, gradients), "There are 1 activations for a stage of 4 layers");
  EXPECT_SENTENCE(initial_parameters(std::span(layers).subspan(1), {0, 90}, 1), "not within the parameters");
  EXPECT_SENTENCE(initial_slice(layers[0], {0, 13}, {0, 7}, 1), "Rows [0, 13) and columns [0, 7) are not within");
  EXPECT_SENTENCE(make_layers(std::array<std::size_t, 1>{3}), "at least two widths");
  EXPECT_SENTENCE(make_layers(std::array<std::size_t, 3>{3, 0, 2}), "none is 0");
}

}  // namespace
}  // namespace odori::mlp
