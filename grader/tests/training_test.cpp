// SPDX-License-Identifier: Apache-2.0
// What the comparison of weights sees, and that right trainings have nothing to be seen.
#include "checks/training.h"

#include "fabricated.h"

namespace odori::grader::test {
namespace {

/// As the programs train: each worker's gradient by itself, their sum in single precision, hooks, momentum.
Updates train_in_floats(const RunPlan& plan, int n_updates) {
  const auto n = static_cast<float>(plan.workers()), factor = plan.sum ? 1.0f : 1.0f / n;
  const int n_images = plan.images_of_worker();
  Reference one_worker(data(), n_images);
  std::vector<float> weights = first_weights(data(), plan.programs_seed(data().seed)), velocity(weights.size());
  Updates updates;
  for (int update = 0; update < n_updates; ++update) {
    const float epochs = static_cast<float>(update * n_images) / std::ceil(static_cast<float>(n_train()) / n);
    const float scale = plan.scaled ? n * std::min(1.0f, 1 / n + (1 - 1 / n) * epochs) : plan.sum ? 1 / n : 1;
    const float rate = plan.learning_rate * scale;
    const Images order = whole_set_order(n_train(), *plan.seed * 100 + static_cast<unsigned>(update));
    std::vector<Step> steps;
    std::vector<float> gradient(weights.size());
    for (int worker = 0; worker < plan.workers(); ++worker) {
      const auto begin = order.begin() + worker * n_images;
      steps.push_back({worker, {begin, begin + n_images}, {}});
      const std::vector<float> own = one_worker.gradient(weights, steps.back().images);
      for (std::size_t i = 0; i < own.size(); ++i) gradient[i] += own[i];
    }
    for (std::size_t i = 0; i < weights.size(); ++i) {
      velocity[i] = 0.9f * velocity[i] - rate * (gradient[i] * factor + 5e-4f * weights[i]);
      weights[i] += velocity[i];
    }
    for (Step& step : steps) step.parameters = weights;
    updates.push_back(std::move(steps));
  }
  return updates;
}

TEST(Training, IsRightWhateverTheSeed) {
  for (const char* task : {"multi_gpu", "multi_node"})
    for (RunPlan plan : exam_of(task_named(task)).situations)
      for (std::uint64_t seed = 0; seed < 20; ++seed) {
        plan.seed = seed;
        const auto wrong = find_wrong_weights(data(), plan, train_in_floats(plan, 6));
        EXPECT_FALSE(wrong) << task << ", " << plan.workers() << " workers, seed " << seed << ", update "
                            << wrong->update;
      }
}

/// grader/README.md promises this.
TEST(Training, SeesAChangeOfOnePercent) {
  const RunPlan plan{.devices = 3};
  const auto parts = parts_of(n_train(), 3);
  const auto changed = [&](double Sgd::*coefficient, double factor) {
    Sgd sgd = sgd_of(plan);
    sgd.*coefficient *= factor;
    return find_wrong_weights(data(), plan, train(plan, parts, sgd));
  };
  for (const double factor : {0.99, 1.01, 0.5, 2.0}) {
    const auto rate = changed(&Sgd::rate, factor), momentum = changed(&Sgd::momentum, factor),
               decay = changed(&Sgd::decay, factor);
    ASSERT_TRUE(rate && rate->rate && momentum && momentum->momentum && decay && decay->decay) << factor;
    EXPECT_EQ(rate->update, 1);
    EXPECT_EQ(momentum->update, 2);
    EXPECT_EQ(decay->update, 1);
    EXPECT_NEAR(*rate->rate, factor * plan.learning_rate, 1e-5);
    EXPECT_NEAR(*momentum->momentum, factor * 0.9, 1e-5);
    EXPECT_NEAR(*decay->decay, factor * 5e-4, 1e-6);
  }
  for (double Sgd::*coefficient : {&Sgd::rate, &Sgd::momentum, &Sgd::decay}) EXPECT_FALSE(changed(coefficient, 1.001));
}

TEST(Training, NamesTheLastStepsMomentumAsNothingIfItIsNothing) {
  EXPECT_EQ(measured(1.9e-8, 0.9), "0");
  EXPECT_EQ(measured(0.9089, 0.9), "0.909");
  EXPECT_EQ(measured(2.30262, 2.3026), "2.30262");  // never the same text as what was expected
  EXPECT_EQ(measured(0.015, 0.06), "0.015");
}

TEST(Training, SeesWeightsThatAreNoNumbers) {
  const RunPlan plan{.devices = 2};
  for (const float no_number : {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
    Updates updates = train(plan, parts_of(n_train(), 2));
    for (Step& step : updates[1]) std::fill(step.parameters.begin() + 7, step.parameters.begin() + 3000, no_number);
    const auto wrong = find_wrong_weights(data(), plan, updates);
    ASSERT_TRUE(wrong);
    EXPECT_EQ(wrong->update, 2);
    EXPECT_FALSE(learnt_alone(data(), plan, updates[1].front()));
  }
}

/// One of thousands, which an update's length doesn't show.
TEST(Training, SeesASingleWeightsGradient) {
  const RunPlan plan{.devices = 2};
  const auto parts = parts_of(n_train(), 2);
  const std::vector<float> start = first_weights(data(), plan.programs_seed(data().seed));
  for (const double share : {0.0, 0.5, 2.0}) {
    Updates updates = train(plan, parts);
    Reference reference(data(), 2 * plan.batch_size);
    std::vector<float> before = start;
    double velocity = 0;
    float weight = start[0];
    const Sgd sgd = sgd_of(plan);
    for (std::vector<Step>& update : updates) {
      Images images;
      for (const Step& step : update) images.insert(images.end(), step.images.begin(), step.images.end());
      const double gradient = share * reference.gradient(before, images)[0];
      velocity = sgd.momentum * velocity - sgd.rate * (gradient + sgd.decay * weight);
      weight += static_cast<float>(velocity);
      before = update.front().parameters;
      before[0] = weight;
      for (Step& step : update) step.parameters[0] = weight;
    }
    const auto wrong = find_wrong_weights(data(), plan, updates);
    ASSERT_TRUE(wrong) << share;
    EXPECT_EQ(wrong->of_some.n, 1u);
    EXPECT_EQ(wrong->of_some.first, 0u);
    EXPECT_NEAR(wrong->of_some.share, share, 0.05);
  }
}

/// An image that is left out, and another one in its place, is no change of a coefficient.
TEST(Training, SeesOtherImages) {
  const RunPlan plan{.devices = 2, .batch_size = 8};
  Updates updates = train(plan, parts_of(n_train(), 2));
  ASSERT_FALSE(find_wrong_weights(data(), plan, updates));
  std::swap(updates[1][0].images[0], updates[2][0].images[0]);
  const auto wrong = find_wrong_weights(data(), plan, updates);
  ASSERT_TRUE(wrong);
  EXPECT_EQ(wrong->update, 2);
  EXPECT_FALSE(wrong->rate || wrong->momentum || wrong->decay);
}

}  // namespace
}  // namespace odori::grader::test
