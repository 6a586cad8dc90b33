// SPDX-License-Identifier: Apache-2.0
// Training runs by several schedules and batches, which are compared.
#include "large_batch_support.h"

#include <gtest/gtest.h>

#include "distributed/multi_node_optimizer.h"
#include "large_batch_cases.h"
#include "train_support.h"
#include "with_test_cases.h"

namespace odori {
namespace {

using namespace test;

const LargeBatchCases cases{.planned = {{8, 3, 2, 6, 0.25, 4, 1}},
                            .trials = {{{"fixed", 900, 0.5, 0.61}, {"warm_up", 870, 0.4, 0.6}}, {{"scaled", 1, 2, 0}}}};
const bool started_again = start_again_with(cases);

TEST(Trials, KnowWhenTheyWereAccurate) {
  const Trial trial{.epochs = {{2, 0.3}, {4, 0.7}, {6, 0.6}}};
  EXPECT_EQ(trial.seconds_to(0.6), 4);
  EXPECT_LT(trial.seconds_to(0.8), 0);
}

TEST(Trials, OfEachBatchAreTrainedChosenAmongAndDrawn) {
  const auto comm = create_communicator("flat");
  const Folder folder;
  std::string trained;
  const auto train = [&](const std::string& schedule, int m) {
    trained += fmt::format("{} {}, ", schedule, m);
    return Trial{.schedule = schedule, .batch = 16 * m, .held_out_accuracy = schedule == "scaled" ? 0.7 : 0.6};
  };
  int asked = 0;
  const LargeBatchRules rules{.choose = [&](const std::vector<Trial>& trials) {
    ++asked;
    return trials.at(1);
  }};
  testing::internal::CaptureStdout();
  compare_trials(train, rules, {.largest = 4, .out = folder.path()}, *comm);
  const std::string words = "Training 6 of 6: scaled rate, with warm-up, 4 batches of each rank an update ...\n";
  EXPECT_EQ(testing::internal::GetCapturedStdout().find(words) != std::string::npos, comm->rank() == 0);
  EXPECT_EQ(trained, "fixed 1, scaled 1, warm_up 1, fixed 4, scaled 4, warm_up 4, ");
  EXPECT_EQ(asked, 2);
  if (comm->rank() == 0) {
    EXPECT_NE(read_file(folder / "figure.html").find("yours: scaled rate, with warm-up"), std::string::npos);
    EXPECT_NE(read_file(folder / "trials.json").find("\"held_out_accuracy\": 0.7"), std::string::npos);
  }
  trained.clear();
  compare_trials(train, rules, {.largest = 4, .only = "warm_up", .out = folder.path()}, *comm);
  EXPECT_EQ(trained, "warm_up 4, ");
  EXPECT_EQ(asked, 2) << "of one training there is nothing to choose";
  const TrialOptions unknown{.largest = 4, .only = "slow", .out = folder.path()};
  EXPECT_SENTENCE(compare_trials(train, rules, unknown, *comm), "--only takes fixed, scaled or");
}

TEST(LargeBatchUpdater, UpdatesAsTheStandardUpdaterThatAccumulates) {
  const auto comm = create_communicator("flat");
  DevicePool pool({.request = DeviceRequest::cpu});
  const auto model = [&] {
    auto made = std::make_unique<Classifier>(create_network("tiny", 10), 4, 7);
    made->to_device(pool.use(0));
    return made;
  };
  const SerialIterator iterator(every(images(96), comm->rank(), comm->size()), 4, {.shuffle = false});
  const auto own = model(), expected = model();
  MomentumSGD optimizer(1);  // each update gives its rate
  optimizer.setup(*own);
  LargeBatchUpdater updater(iterator, optimizer, *comm, [](LargeBatchUpdater& self) {
    std::vector<float> mean = self.next_gradients();
    const std::vector<float> second = self.next_gradients();
    for (std::size_t i = 0; i < mean.size(); ++i) mean[i] = (mean[i] + second[i]) / 2;
    self.average_over_ranks(mean);
    self.use(mean, 0.05);
  });
  const auto wrapped = create_multi_node_optimizer(std::make_unique<MomentumSGD>(0.05f), *comm);
  wrapped->setup(*expected);
  StandardUpdater standard(iterator, *wrapped, 2);
  for (int i = 0; i < 7; ++i) {  // more than an epoch
    updater.update();
    standard.update();
    EXPECT_EQ(updater.is_new_epoch(), standard.is_new_epoch());
  }
  EXPECT_TRUE(own->state().parameters == expected->state().parameters);
  EXPECT_EQ(updater.iteration(), 7);
  EXPECT_SENTENCE(updater.use(std::vector<float>(3), 0.05), "use was given 3 numbers, and the model has");
}

TEST(LargeBatchRules, AreAppliedToTheTestCases) {
  const auto comm = create_communicator("flat");
  std::vector<std::vector<Trial>> asked;
  const LargeBatchRules rules{[](int batchsize, int accumulate, int ranks, int base_batch) {
                                return 1.0 * batchsize * accumulate * ranks / base_batch;
                              },
                              [](double base_rate, double k) { return base_rate + k; },
                              [](double base_rate, double scaled, int update, int updates_of_epoch, int warmup_epochs) {
                                return update < updates_of_epoch * warmup_epochs ? base_rate + update : scaled;
                              },
                              [](double rate, int n) { return rate * n; },
                              [&](const std::vector<Trial>& trials) {
                                asked.push_back(trials);
                                return trials.back();
                              }};
  testing::internal::CaptureStdout();
  EXPECT_TRUE(apply_for_check(rules, *comm));
  const std::string said = testing::internal::GetCapturedStdout();
  if (comm->rank() == 0)
    for (const char* words : {"48", "8", "0.25", "2.25", "8.25", "49.5", "Chosen: warm_up", "Chosen: scaled"})
      EXPECT_NE(said.find(words), std::string::npos) << words << "\n" << said;
  else
    EXPECT_EQ(said, "");
  ASSERT_EQ(asked.size(), 2u);
  EXPECT_EQ(asked[0][0].images_per_second, 900);
  EXPECT_EQ(asked[0][1].held_out_accuracy, 0.6);
  EXPECT_EQ(std::getenv("ODORI_TEST_CASES"), nullptr) << "answers could read it";
}

TEST(Trials, WarnOfAWarmUpThatDoesNotEnd) {
  const auto comm = create_communicator("flat");
  const Folder folder;
  const auto said = [&](int warmup_epochs, const char* only) {
    const auto train = [](const std::string& schedule, int) { return Trial{.schedule = schedule}; };
    const LargeBatchRules rules{.choose = [](const std::vector<Trial>& trials) { return trials.front(); }};
    testing::internal::CaptureStdout();
    compare_trials(train, rules, {1, only, warmup_epochs, 2, folder.path()}, *comm);
    return testing::internal::GetCapturedStdout();
  };
  for (const char* only : {"", "warm_up"})
    EXPECT_EQ(said(3, only).find("--warmup-epochs 3 is more than --epoch 2") == 0, comm->rank() == 0);
  EXPECT_EQ(said(3, "scaled").find("is more than"), std::string::npos);
  EXPECT_EQ(said(2, "").find("is more than"), std::string::npos);
}

}  // namespace
}  // namespace odori
