// SPDX-License-Identifier: Apache-2.0
// The race against the same recipe in PyTorch (reference.py), step by step, and its parts alone.
#include <gtest/gtest.h>

#include <cmath>
#include <csignal>
#include <nlohmann/json.hpp>
#include <set>

#include "backend/device_pool.h"
#include "errors/error.h"
#include "files/file.h"
#include "files/json.h"
#include "program/program.h"
#include "race_images.h"
#include "race_start.h"
#include "race_training.h"
#include "tests/device_under_test.h"

namespace odori::race {
namespace {

/// The images of reference.py.
class MadeImages : public Dataset {
 public:
  explicit MadeImages(std::size_t n = 512) : n_(n) {
    std::uint32_t state = 1;
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t c = 0; c < 3; ++c)
        for (std::size_t y = 0; y < 32; ++y)
          for (std::size_t x = 0; x < 32; ++x) {
            state = state * 1664525u + 1013904223u;
            const unsigned stripe = (x * (i % 10 + 1) + y * (c + 1)) / 8 % 2 ? 100 : 0;
            bytes_.push_back(static_cast<std::uint8_t>(stripe + (state >> 24) / 2));
          }
    transform_ = {.mean = {0.4914f, 0.4822f, 0.4465f}, .deviation = {0.2470f, 0.2435f, 0.2616f}};
  }
  std::size_t size() const override { return n_; }
  Example operator[](std::size_t i) const override {
    return {&bytes_[i * Example::bytes], static_cast<int>(i % 10), static_cast<std::int64_t>(i)};
  }
  int n_classes() const override { return 10; }
  const Transform& transform() const override { return transform_; }

 private:
  std::size_t n_;
  std::vector<std::uint8_t> bytes_;
  Transform transform_;
};

const nlohmann::json& reference() {
  static const nlohmann::json json = parse_json(read_file(ODORI_RACE_REFERENCE));
  return json;
}

/// Euclidean norm of the difference, by that of what is expected.
double relative_error(const std::vector<float>& seen, const std::vector<float>& expected) {
  EXPECT_EQ(seen.size(), expected.size());
  double error = 0, norm = 0;
  for (std::size_t i = 0; i < std::min(seen.size(), expected.size()); ++i)
    error += std::pow(seen[i] - expected[i], 2), norm += std::pow(expected[i], 2);
  return std::sqrt(error / std::max(norm, 1e-30));
}

std::vector<float> change(const std::vector<float>& from, const std::vector<float>& to) {
  std::vector<float> difference(to);
  for (std::size_t i = 0; i < to.size(); ++i) difference[i] -= from[i];
  return difference;
}

const Recipe tiny{.batch = 64, .epochs = 2, .whitening_images = 512, .whitening_bias_epochs = 1};

TEST(Race, TwoEpochsAreThoseOfPyTorch) {
  DevicePool pool(device_under_test());
  const MadeImages images;
  Classifier model(network_of_size("tiny"), tiny.batch, 0);
  model.to_device(pool.current());
  const auto start = reference()["parameters"].get<std::vector<std::vector<float>>>();
  ASSERT_EQ(model.parameters().size(), start.size());
  for (std::size_t i = 0; i < start.size(); ++i)
    model.graph().write_parameter(model.memory().parameters, model.parameters()[i].view, start[i]);
  const int batches = static_cast<int>(images.size()) / tiny.batch;
  Training training(model, tiny, batches);
  ASSERT_EQ(training.steps(), static_cast<int>(reference()["steps"].size()));
  Batch batch{{}, images.transform(), {}};
  batch.transform.reflect = true;
  for (const auto& step : reference()["steps"]) {
    SCOPED_TRACE(testing::Message() << "step " << training.steps_done());
    batch.examples.clear();
    for (const auto& [i, dy, dx, flip] : step["examples"].get<std::vector<std::array<int, 4>>>()) {
      batch.examples.push_back(images[static_cast<std::size_t>(i)]);
      batch.examples.back().own = {dy, dx, flip == 1};
    }
    training.step(batch);
    const Metrics metrics = model.take_metrics();
    EXPECT_NEAR(metrics.loss(), step["loss"].get<double>(), 2e-5);
    EXPECT_NEAR(static_cast<double>(metrics.correct), step["correct"].get<double>(), 1);  // where two classes tie
  }
  const auto trained = reference()["trained"].get<std::vector<std::vector<float>>>();
  for (std::size_t i = 0; i < trained.size(); ++i) {
    const auto& [name, view] = model.parameters()[i];
    SCOPED_TRACE(name);
    const std::vector<float> seen = model.graph().read_parameter(model.memory().parameters, view);
    if (group_of(name) == Group::frozen)
      EXPECT_LE(relative_error(seen, start[i]), 1e-6);  // the average rounds
    else
      EXPECT_LE(relative_error(change(start[i], seen), change(start[i], trained[i])), 3e-3);
  }
  batch.examples.clear();
  for (std::size_t i = 0; i < 32; ++i) batch.examples.push_back(images[i]);
  Scores scores = scores_of(model, batch);
  for (std::vector<float>* rows : {&scores.plain, &scores.views}) rows->resize(320);
  EXPECT_LE(relative_error(scores.plain, reference()["logits"].get<std::vector<float>>()), 1e-3);
  EXPECT_LE(relative_error(scores.views, reference()["view_logits"].get<std::vector<float>>()), 1e-3);
}

TEST(Race, WhiteningIsThatOfPyTorch) {
  const auto expected = reference()["parameters"][0].get<std::vector<float>>();
  const std::vector<float> seen = whitening_weights(patch_covariance(MadeImages(), 512), tiny.whitening_epsilon);
  ASSERT_EQ(seen.size(), expected.size());
  for (std::size_t row = 0; row < seen.size(); row += patch) {
    std::vector<float> a(&seen[row], &seen[row] + patch), b(&expected[row], &expected[row] + patch);
    double product = 0;  // an eigenvector's sign is anybody's choice
    for (std::size_t i = 0; i < patch; ++i) product += a[i] * b[i];
    if (product < 0)
      for (float& x : a) x = -x;
    EXPECT_LE(relative_error(a, b), 1e-3) << "direction " << row / patch;
  }
}

TEST(Race, WhitenedPatchesHaveNoCorrelation) {
  const Covariance covariance = patch_covariance(MadeImages(100), 100);
  const std::vector<float> weights = whitening_weights(covariance, 0);
  for (std::size_t a = 0; a < patch; ++a)
    for (std::size_t b = 0; b < patch; ++b) {
      double product = 0;
      for (std::size_t i = 0; i < patch; ++i)
        for (std::size_t j = 0; j < patch; ++j)
          product += static_cast<double>(weights[a * patch + i]) * covariance[i][j] * weights[b * patch + j];
      EXPECT_NEAR(product, a == b ? 1 : 0, 1e-4);
    }
}

TEST(Race, AnEpochHasEachImageOnceAndTheNextOneIsFlipped) {
  const auto images = std::make_shared<MadeImages>(110);
  Batches batches(images, 10, 2, 3);
  EXPECT_EQ(batches.count(), 11);
  std::vector<std::vector<bool>> flips(4, std::vector<bool>(110));
  std::set<int> moves;
  std::vector<std::int64_t> first;
  for (auto& flipped : flips) {
    std::set<std::int64_t> seen;
    for (int i = 0; i < batches.count(); ++i)
      for (const Example& example : batches.next().examples) {
        seen.insert(example.id);
        if (&flipped == flips.data()) first.push_back(example.id);
        flipped[static_cast<std::size_t>(example.id)] = example.own.flip;
        moves.insert(example.own.dy), moves.insert(example.own.dx);
      }
    EXPECT_EQ(seen.size(), 110u);
  }
  EXPECT_EQ(moves, (std::set<int>{-2, -1, 0, 1, 2}));
  EXPECT_FALSE(std::is_sorted(first.begin(), first.end()));
  EXPECT_EQ(flips[0], flips[2]);
  EXPECT_EQ(flips[1], flips[3]);
  for (std::size_t i = 0; i < 110; ++i) EXPECT_NE(flips[0][i], flips[1][i]);
  const auto n = std::count(flips[0].begin(), flips[0].end(), true);
  EXPECT_GT(n, 30);
  EXPECT_LT(n, 80);
}

/// Also where a model for such batches would need more memory than there is.
TEST(Race, ABatchLargerThanTheDataSetIsRefused) {
  DevicePool pool(device_under_test());
  const auto images = std::make_shared<MadeImages>(10);
  EXPECT_THROW(Batches(images, 11, 2, 0), UsageError);
  EXPECT_THROW(new_model("full", {.batch = 1 << 20}, *images, pool.current()), UsageError);
  EXPECT_THROW(new_model("huge", {.batch = 10}, *images, pool.current()), UsageError);
  EXPECT_EQ(new_model("tiny", {.batch = 10}, *images, pool.current())->batch_size(), 10);
}

TEST(Race, ConvolutionsPassTheirInputOn) {
  DevicePool pool(device_under_test());
  const MadeImages images(20);
  Classifier model(network_of_size("tiny"), 2, 0);
  model.to_device(pool.current());
  write_initial_values(model, images, {.whitening_images = 20}, 1);
  const auto values = [&](std::size_t i) {
    return model.graph().read_parameter(model.memory().parameters, model.parameters()[i].view);
  };
  std::size_t seen = 0;
  for (std::size_t i = 0; i < model.parameters().size(); ++i) {
    const auto& [name, view] = model.parameters()[i];
    if (name == "block3/conv1/W") {  // 16 outputs of 8 inputs
      const std::vector<float> w = values(i);
      for (std::size_t o = 0; o < 8; ++o)
        for (std::size_t e = 0; e < 72; ++e) EXPECT_EQ(w[o * 72 + e], e == o * 9 + 4 ? 1.0f : 0.0f);
      const auto [least, most] = std::minmax_element(w.begin() + 8 * 72, w.end());
      EXPECT_NEAR(*least, -1 / std::sqrt(72.0), 0.01);
      EXPECT_NEAR(*most, 1 / std::sqrt(72.0), 0.01);
      ++seen;
    } else if (name == "block1/norm1/gamma") {
      EXPECT_EQ(values(i), std::vector<float>(8, 1.0f));
      ++seen;
    }
  }
  EXPECT_EQ(seen, 2u);
}

TEST(Race, TheRateRisesAndFalls) {
  EXPECT_DOUBLE_EQ(triangle(0, 100), 0.2);
  EXPECT_DOUBLE_EQ(triangle(23, 100), 1);
  EXPECT_NEAR(triangle(100, 100), 0.07, 1e-12);
  EXPECT_NEAR(look_ahead_decay(100, 100), std::pow(0.95, 5), 1e-12);
}

/// Images of which one is where Ctrl-C comes.
class InterruptingImages : public MadeImages {
 public:
  InterruptingImages() : MadeImages(60) {}
  Example operator[](std::size_t i) const override {
    if (i == 25) raise(SIGINT);
    last = i;
    return MadeImages::operator[](i);
  }
  mutable std::size_t last = 0;
};

/// The last one here: an interrupt can't be taken back.
TEST(RaceInterrupted, AnEvaluationEndsWithItsBatch) {
  catch_interrupts();
  DevicePool pool(device_under_test());
  const InterruptingImages images;
  const auto model = new_model("tiny", {.batch = 10}, images, pool.current());
  try {
    evaluate(*model, images);
    FAIL() << "The evaluation has gone on.";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), exit_code::interrupted);
    EXPECT_STREQ(error.what(), "Interrupted. Nothing is saved.");
  }
  EXPECT_EQ(images.last, 29u);
}

}  // namespace
}  // namespace odori::race
