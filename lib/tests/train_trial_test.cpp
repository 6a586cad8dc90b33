// Training runs by several schedules and batches, which are compared.
#include <gtest/gtest.h>

#include "comm/communicator.h"
#include "distributed/multi_node_trial.h"
#include "distributed/planned_training.h"
#include "train_support.h"

namespace odori {
namespace {

using namespace test;

TEST(Trials, AreReadOrRefused) {
  EXPECT_EQ(recorded_trials("fixed:900:0.5:0.61+scaled:1:2:0+scaled:1:2:0,fixed:1:2:0").at(2).size(), 2u);
  const std::vector<Trial> trials = recorded_trials("fixed:900:0.5:0.61,warm_up:870:0.4:0.6").at(0);
  ASSERT_EQ(trials.size(), 2u);
  EXPECT_EQ(trials[1].schedule, "warm_up");
  EXPECT_EQ(trials[0].images_per_second, 900);
  EXPECT_EQ(trials[0].training_loss, 0.5);
  EXPECT_EQ(trials[1].held_out_accuracy, 0.6);
  for (const char* other :
       {"", "fixed", "fixed:900:0.5", "fixed:900:0.5:x", "quick:900:0.5:0.6", "fixed:900:0.5:0.61+"})
    EXPECT_SENTENCE(recorded_trials(other), "Recorded trainings are schedules");
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
  const auto choose = [&](const std::vector<Trial>& trials) { return ++asked, trials.at(1); };
  testing::internal::CaptureStdout();
  compare_trials(train, choose, 4, "", *comm, folder.path(), "nothing is stored here");
  const std::string words = "Training 6 of 6: scaled rate, with warm-up, 4 batches of each rank an update ...\n";
  EXPECT_EQ(testing::internal::GetCapturedStdout().find(words) != std::string::npos, comm->rank() == 0);
  EXPECT_EQ(trained, "fixed 1, scaled 1, warm_up 1, fixed 4, scaled 4, warm_up 4, ");
  EXPECT_EQ(asked, 2);
  if (comm->rank() == 0) {
    EXPECT_NE(read_file(folder / "figure.html").find("yours: scaled rate, with warm-up"), std::string::npos);
    EXPECT_NE(read_file(folder / "trials.json").find("\"held_out_accuracy\": 0.7"), std::string::npos);
  }
  trained.clear();
  compare_trials(train, choose, 4, "warm_up", *comm, folder.path(), "");
  EXPECT_EQ(trained, "warm_up 4, ");
  EXPECT_EQ(asked, 2) << "of one training there is nothing to choose";
  EXPECT_SENTENCE(compare_trials(train, choose, 4, "slow", *comm, folder.path(), ""), "--only takes fixed, scaled or");
}

TEST(PlannedTrainings, AreReadOrRefused) {
  const auto planned = planned_trainings("32:4:2:16:0.05:390:5,1:1:1:1:1e-3:1:0");
  ASSERT_EQ(planned.size(), 2u);
  EXPECT_EQ(planned[0].end_of_warm_up(), 1950);
  EXPECT_EQ(planned[0].base_batch, 16);
  EXPECT_EQ(planned[1].base_rate, 1e-3);
  for (const char* other :
       {"", "32", "32:4:2:16:0.05:390:5:", "32:4:2:16:0.05:390:x", "0:4:2:16:0.05:390:5", "32:4:2:16:0:390:5",
        "32:4:2:16:nan:390:5", "32:4:2:16:0.05:390:-1", "32:4:2:16:0.05:2000:6", "1000:1000:1001:16:0.05:390:5",
        "32:4:2:16:0.05:390:5,", "32:2147483647:2147483647:16:0.05:390:5"})
    EXPECT_SENTENCE(planned_trainings(other), "Planned trainings are seven numbers each");
}

TEST(PlannedTrainings, ShowTheirRatesByTheRules) {
  const auto comm = create_communicator("flat");
  const RateRules rules{[](int batchsize, int accumulate, int ranks, int base_batch) {
                          return 1.0 * batchsize * accumulate * ranks / base_batch;
                        },
                        [](double base_rate, double k) { return base_rate + k; },
                        [](double base_rate, double scaled, int update, int updates_of_epoch, int warmup_epochs) {
                          return update < updates_of_epoch * warmup_epochs ? base_rate + update : scaled;
                        },
                        [](double rate, int n) { return rate * n; }};
  testing::internal::CaptureStdout();
  show_rates(planned_trainings("8:3:2:6:0.25:4:1"), rules, *comm);
  const std::string said = testing::internal::GetCapturedStdout();
  if (comm->rank() == 0)
    for (const char* number : {"48", "8", "0.25", "2.25", "8.25", "49.5"})
      EXPECT_NE(said.find(number), std::string::npos) << number << "\n" << said;
  else
    EXPECT_EQ(said, "");
}

TEST(Trials, TellOfAWarmUpThatDoesNotEnd) {
  const auto comm = create_communicator("flat");
  const auto said = [&](int warmup_epochs, const char* only) {
    testing::internal::CaptureStdout();
    tell_of_warm_up(warmup_epochs, 2, only, *comm);
    return testing::internal::GetCapturedStdout();
  };
  for (const char* only : {"", "warm_up"})
    EXPECT_EQ(said(3, only).find("--warmup_epochs 3 is more than --epoch 2") == 0, comm->rank() == 0);
  EXPECT_EQ(said(3, "scaled"), "");
  EXPECT_EQ(said(2, ""), "");
}

}  // namespace
}  // namespace odori
