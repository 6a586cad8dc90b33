// SPDX-License-Identifier: Apache-2.0
// Learning rates that change during a training. Part of train_trainer_test.
#include <gtest/gtest.h>

#include "distributed/snapshot.h"
#include "train/learning_rate.h"
#include "train_support.h"

namespace odori {
namespace {

using namespace test;

TEST(Schedules, AreFactorsByTheEpochsBehind) {
  EXPECT_EQ(linear_scaling(8), 8);
  EXPECT_DOUBLE_EQ(square_root_scaling(4), 2);
  const Schedule warm = warm_up(4, 5);
  EXPECT_DOUBLE_EQ(warm(0), 0.25);
  EXPECT_DOUBLE_EQ(warm(1), 0.4);
  EXPECT_DOUBLE_EQ(warm(2.5), 0.625);
  EXPECT_DOUBLE_EQ(warm(5), 1);
  EXPECT_DOUBLE_EQ(warm(90), 1);
  EXPECT_DOUBLE_EQ(warm_up(8, 0)(0), 1);
  const Schedule steps = step_decay(0.1, {30, 60});
  EXPECT_DOUBLE_EQ(steps(29.99), 1);
  EXPECT_DOUBLE_EQ(steps(30), 0.1);
  EXPECT_DOUBLE_EQ(steps(60), 0.01);
  EXPECT_DOUBLE_EQ(warm_up(4, 5, steps)(2.5), 0.625);
  EXPECT_DOUBLE_EQ(warm_up(4, 5, steps)(31), 0.1);
  const Schedule shift = exponential_shift(0.5, 25);
  EXPECT_DOUBLE_EQ(shift(24.9), 1);
  EXPECT_DOUBLE_EQ(shift(25), 0.5);
  EXPECT_DOUBLE_EQ(shift(80), 0.125);
  EXPECT_SENTENCE(exponential_shift(0.5, 0), "can't be changed every 0 epochs");
  EXPECT_SENTENCE(warm_up(0, 5), "A warm-up from 1/0");
  EXPECT_SENTENCE(LearningRate(0, warm), "can't be scaled by 0");
  EXPECT_SENTENCE(LearningRate(1, {}), "schedule that is null");
}

/// The rate of each update, as it was before LearningRate set the next one.
struct Rates : Extension {
  explicit Rates(std::vector<float>& seen) : seen(seen) {}
  Trigger trigger() const override { return Trigger::iteration; }
  int priority() const override { return writer + 1; }
  void run(Trainer& trainer) override { seen.push_back(trainer.updater().optimizer().learning_rate()); }
  std::string name() const override { return "Rates"; }
  std::vector<float>& seen;
};

TEST_F(Loop, LearningRateIsSetBeforeEachUpdateAndGoesOnAfterASnapshot) {
  const auto train = [&](const std::string& out, int epochs, bool goes_on, std::vector<float>& rates) {
    Training own({.batch_size = 4}, images(10));
    Trainer trainer(*own.updater, epochs, folder / out);
    trainer.extend(LearningRate(linear_scaling(4), warm_up(4, 2)));
    trainer.extend(Rates(rates));
    trainer.extend(Snapshot());
    if (goes_on) resume(folder / out, trainer);
    trainer.run();
    return own.model.state().parameters;
  };
  std::vector<float> rates, parts;
  const auto whole = train("whole", 3, false, rates);
  ASSERT_EQ(rates.size(), 8u);
  for (std::size_t update = 0; update < rates.size(); ++update) {
    const double behind = 4.0 * static_cast<double>(update) / 10;  // epochs of 10 images
    EXPECT_FLOAT_EQ(rates[update], static_cast<float>(0.05 * std::min(4.0, 1 + 3 * behind / 2))) << update;
  }
  train("parts", 1, false, parts);
  EXPECT_TRUE(train("parts", 3, true, parts) == whole);
  EXPECT_EQ(parts, rates);
}

TEST_F(Loop, ARateThatASnapshotReplacesIsToldIfItWasAskedFor) {
  Trainer first(*training.updater, 1, folder / "first");
  first.extend(Snapshot());
  first.run();
  const auto said = [&](float rate, bool asks) {
    Training other({.batch_size = 4, .rate = rate}, images(10));
    Trainer trainer(*other.updater, 2, folder / "other");
    ResumeFrom from = folder / "first";
    from.asks_for_rate = asks;
    testing::internal::CaptureStdout();
    resume(from, trainer);
    return testing::internal::GetCapturedStdout();
  };
  const std::string sentence = "--learnrate changes nothing in a training that goes on: its rate is the snapshot's 0.05";
  EXPECT_NE(said(0.001f, true).find(sentence + ", not 0.001."), std::string::npos);
  EXPECT_EQ(said(0.001f, false).find(sentence), std::string::npos) << "it is the flag's default";
  EXPECT_EQ(said(0.05f, true).find(sentence), std::string::npos) << "the same";

  // Where a schedule had changed the rate, and is no longer asked for, what it had become holds.
  Training other({.batch_size = 4}, images(10));
  Trainer scheduled(*other.updater, 1, folder / "first");
  scheduled.extend(LearningRate(linear_scaling(4), warm_up(4, 0)));
  scheduled.extend(Snapshot());
  scheduled.run();
  EXPECT_NE(said(0.05f, true).find("its rate is the snapshot's 0.2, not 0.05."), std::string::npos);
}

}  // namespace
}  // namespace odori
