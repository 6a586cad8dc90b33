// SPDX-License-Identifier: Apache-2.0
// What a training tells: log, table, progress, and its result. Part of train_trainer_test.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <thread>

#include "distributed/snapshot.h"
#include "files/json.h"
#include "train/evaluator.h"
#include "train/learning_rate.h"
#include "train/log_report.h"
#include "train/print_report.h"
#include "train/progress_bar.h"
#include "train/throughput.h"
#include "train_support.h"

namespace odori {
namespace {

using namespace test;

TEST_F(Loop, LogHoldsTheMeansOfEachEpoch) {
  Trainer trainer(*training.updater, 2, folder.path());
  trainer.extend(LogReport());
  trainer.run();

  Training same({.batch_size = 4}, images(10));
  std::vector<Metrics> epochs;
  for (const int iterations : {3, 2}) {
    for (int i = 0; i < iterations; ++i) same.updater->update();
    epochs.push_back(same.updater->take_metrics());
  }
  const auto log = parse_json(read_file(folder / "log"));
  ASSERT_EQ(log.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(log[i].size(), 5u);
    EXPECT_TRUE(log[i]["epoch"].is_number_integer());
    EXPECT_EQ(log[i]["epoch"], i + 1);
    EXPECT_EQ(log[i]["iteration"], i == 0 ? 3 : 5);
    EXPECT_EQ(log[i]["main/loss"].get<double>(), epochs[i].loss());
    EXPECT_EQ(log[i]["main/accuracy"].get<double>(), epochs[i].accuracy());
    EXPECT_GT(log[i]["elapsed_time"].get<double>(), 0);
  }
  for (const auto& file : std::filesystem::directory_iterator(folder.path()))
    EXPECT_FALSE(file.path().string().ends_with(".part")) << file;
  const LogReport& report = find_log_report(trainer);
  LogReport restored;
  restored.restore(report.state());
  EXPECT_EQ(restored.log(), report.log());
}

TEST(Log, KeepsALossThatIsNotANumber) {
  LogReport report;
  report.restore(R"([{"epoch": 1, "main/loss": null}])");
  EXPECT_TRUE(std::isnan(report.log()[0].at("main/loss")));
  EXPECT_EQ(report.state(), R"([{"epoch":1,"main/loss":null}])");
  for (const char* damaged : {"", "[[1]]", R"([{"epoch": "one"}])", "[1]", "7"})
    EXPECT_SENTENCE(report.restore(damaged), "The snapshot's log is damaged");
  EXPECT_EQ(report.log().size(), 1u) << "what can't be read changes nothing";
}

TEST(Table, LooksAsTheOriginals) {
  const std::vector<std::string> entries{
      "epoch", "main/loss", "validation/main/loss", "main/accuracy", "validation/main/accuracy", "elapsed_time"};
  EXPECT_EQ(table_header(entries),
            "epoch       main/loss   validation/main/loss  main/accuracy  validation/main/accuracy  elapsed_time");
  const LogReport::Entry values{{"epoch", 1},
                                {"main/loss", 3.5699712},
                                {"validation/main/loss", 9.0989},
                                {"main/accuracy", 0.107595},
                                {"elapsed_time", 1e-5}};
  EXPECT_EQ(table_line(entries, values),
            "1           3.56997     9.0989                0.107595                                 1e-05         ");
}

TEST_F(Loop, TableAndProgressOfAJobsLogHaveNoControlCharacters) {
  testing::internal::CaptureStdout();
  Trainer trainer(*training.updater, 2, folder.path());
  trainer.extend(LogReport());
  trainer.extend(PrintReport({"epoch", "iteration", "nothing"}));
  trainer.extend(ProgressBar());
  trainer.run();
  EXPECT_EQ(testing::internal::GetCapturedStdout(),
            "epoch       iteration   nothing   \n"
            "1           3                       \n"
            "2           5                       \n");
}

TEST_F(Loop, WhatWasSetStandsAboveTheTable) {
  const auto said = [&](int epochs, int accumulate, int warmup_epochs) {
    StandardUpdater updater(SerialIterator(images(10), 4), training.optimizer, accumulate);
    Trainer trainer(updater, epochs, folder.path());
    trainer.extend(LogReport());
    if (warmup_epochs > 0) trainer.extend(LearningRate(linear_scaling(4), warm_up(4, warmup_epochs)));
    trainer.extend(PrintReport({"epoch"}));
    training.optimizer.set_learning_rate(0.05f);
    testing::internal::CaptureStdout();
    trainer.run();
    const std::string all = testing::internal::GetCapturedStdout();
    return all.substr(0, all.find("epoch     \n"));
  };
  EXPECT_EQ(said(1, 1, 0), "");
  EXPECT_EQ(said(1, 2, 0), "An update uses the mean gradient of 2 batches of 4 images.\n");
  EXPECT_EQ(said(2, 1, 1), "Learning rate: 0.05 x 4 = 0.2, from 0.05 at first to 0.2 at the end.\n");
  EXPECT_EQ(said(1, 1, 3),
            "Learning rate: 0.05 x 4 = 0.2, from 0.05 at first to 0.1 at the end. It does not reach 0.2: the warm-up "
            "is longer than this training.\n");
}

TEST_F(Loop, TableNeedsALog) {
  Trainer trainer(*training.updater, 1, folder.path());
  trainer.extend(PrintReport({"epoch"}));
  EXPECT_SENTENCE(trainer.run(), "trainer.extend(LogReport())");
}

TEST(Progress, IsDrawnInFourLines) {
  EXPECT_EQ(draw({.iteration = 1250, .epoch = 1, .epoch_detail = 1.25, .n_epochs = 4, .iterations_per_second = 2.5}),
            "     total [###############...................................] 31.25%\n"
            "this epoch [############......................................] 25.00%\n"
            "      1250 iter, 1 epoch / 4 epochs\n"
            "       2.5 iters/sec. Estimated time to finish: 0:18:20.\n");
  EXPECT_EQ(draw({.iteration = 5, .epoch = 2, .epoch_detail = 2, .n_epochs = 2, .iterations_per_second = 1}),
            "     total [##################################################] 100.00%\n"
            "this epoch [..................................................]  0.00%\n"
            "         5 iter, 2 epoch / 2 epochs\n"
            "         1 iters/sec. Estimated time to finish: 0:00:00.\n");
}

/// What a program would show on a terminal while `work` runs.
std::string shown_on_a_terminal(const std::function<void()>& work) {
  const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY);
  EXPECT_EQ(::grantpt(terminal) + ::unlockpt(terminal), 0);
  const int screen = ::open(::ptsname(terminal), O_RDWR | O_NOCTTY);
  std::fflush(stdout);
  ::setenv("TERM", "xterm", 1);
  const int before = ::dup(STDOUT_FILENO);
  ::dup2(screen, STDOUT_FILENO);
  work();
  std::fflush(stdout);
  ::dup2(before, STDOUT_FILENO);
  ::fcntl(terminal, F_SETFL, O_NONBLOCK);
  std::string shown;
  char part[4096];
  for (ssize_t n; (n = ::read(terminal, part, sizeof part)) > 0;) shown.append(part, static_cast<std::size_t>(n));
  ::close(before);
  ::close(screen);
  ::close(terminal);
  shown.erase(std::remove(shown.begin(), shown.end(), '\r'), shown.end());
  return shown;
}

int count(const std::string& text, const std::string& words) {
  int n = 0;
  for (auto at = text.find(words); at != std::string::npos; at = text.find(words, at + 1)) ++n;
  return n;
}

TEST_F(Loop, ProgressOnATerminalLeavesTheTableIntact) {
  /// Makes an iteration last 50 ms.
  class Slow : public Extension {
   public:
    Trigger trigger() const override { return Trigger::iteration; }
    void run(Trainer&) override { std::this_thread::sleep_for(std::chrono::milliseconds(50)); }
    std::string name() const override { return "Slow"; }
  };
  double seconds = 0;
  const std::string shown = shown_on_a_terminal([&] {
    Trainer trainer(*training.updater, 6, folder.path());
    trainer.extend(LogReport());
    trainer.extend(PrintReport({"epoch"}));
    trainer.extend(ProgressBar());
    trainer.extend(Slow());
    trainer.run();
    seconds = trainer.elapsed_time();
  });
  EXPECT_EQ(shown.find("\033[Jepoch     \n"), 0u) << shown;
  for (int epoch = 1; epoch <= 6; ++epoch) EXPECT_EQ(count(shown, fmt::format("\033[J{:<10}  \n", epoch)), 1) << shown;
  const int drawings = count(shown, "     total [");
  EXPECT_GE(drawings, 2);
  EXPECT_LE(drawings, seconds * 5);
  EXPECT_EQ(count(shown, "\033[4A"), drawings);
  EXPECT_TRUE(shown.ends_with("\033[J")) << "the bar goes at the end";
}

TEST_F(Loop, ThroughputIsPrintedAndWrittenWithEverythingBehindIt) {
  Trainer trainer(*training.updater, 2, folder.path());
  trainer.extend(Evaluator(SerialIterator(images(8), 4, {.repeat = false}), training.model, 0));
  trainer.extend(LogReport());
  std::ofstream(folder / "result.json") << "of an earlier training";
  trainer.run();
  EXPECT_FALSE(std::filesystem::exists(folder / "result.json")) << "an interrupted training would seem to have it";
  testing::internal::CaptureStdout();
  report_throughput(trainer, 20);
  const std::string line = testing::internal::GetCapturedStdout();
  std::smatch numbers;
  ASSERT_TRUE(
      std::regex_match(line, numbers, std::regex(R"(Throughput: ([0-9.]+) \[images/sec\.\] \(20 / ([0-9.e+-]+)\)\n)")))
      << line;
  const auto result = parse_json(read_file(folder / "result.json"));
  EXPECT_EQ(result["seconds"].get<double>(), trainer.elapsed_time());
  EXPECT_EQ(result["seconds"].get<double>(), std::stod(numbers[2]));
  EXPECT_EQ(result["images_per_second"].get<double>(), std::stod(numbers[1]));
  EXPECT_EQ(result["images_per_second"].get<double>(), 20 / trainer.elapsed_time());
  EXPECT_EQ(result["images"], 20);
  EXPECT_EQ(result["network"], "tiny");
  EXPECT_EQ(result["parameters"], 5146);
  EXPECT_EQ(result["batch_size"], 4);
  EXPECT_EQ(result["device"], training.model.device().description());
  EXPECT_EQ(result["log"].size(), 2u);
  EXPECT_EQ(result["validation_accuracy"], result["log"][1]["validation/main/accuracy"]);
  EXPECT_EQ(result["validation_loss"], result["log"][1]["validation/main/loss"]);
  EXPECT_GT(result["peak_memory_bytes"].get<std::int64_t>(), 1 << 20);
  EXPECT_GE(result["machine"]["cores"].get<int>(), 1);
  EXPECT_TRUE(result.contains("date"));
}

TEST_F(Loop, ATrainingThatHadNothingLeftToDoHasNoThroughput) {
  Trainer whole(*training.updater, 1, folder.path());
  whole.extend(LogReport());
  whole.extend(Snapshot());
  whole.run();
  Training other({.batch_size = 4}, images(10));
  Trainer trainer(*other.updater, 1, folder.path());
  trainer.extend(LogReport());
  testing::internal::CaptureStdout();
  resume(folder.path(), trainer);
  trainer.run();
  report_throughput(trainer, 10);
  const std::string said = testing::internal::GetCapturedStdout();
  EXPECT_TRUE(
      said.ends_with("\nNothing was left to train: the snapshot has 1 epoch behind it. A larger --epoch trains "
                     "on.\n"))
      << said;
}

TEST_F(Loop, ALossThatIsNotANumberHasNoSign) {
  struct Minus : Extension {
    Trigger trigger() const override { return Trigger::iteration; }
    void run(Trainer& trainer) override {
      Classifier& model = trainer.updater().model();
      const std::vector<float> nan(model.memory().parameters.size(), -std::numeric_limits<float>::quiet_NaN());
      model.device().write(model.memory().parameters, 0, nan);
    }
    std::string name() const override { return "Minus"; }
  };
  Trainer trainer(*training.updater, 2, folder.path(), true);
  trainer.extend(Minus());
  trainer.extend(LogReport());
  trainer.extend(PrintReport({"main/loss"}));
  testing::internal::CaptureStdout();
  trainer.run();
  EXPECT_TRUE(testing::internal::GetCapturedStdout().ends_with("\nnan         \nnan         \n"));
}

}  // namespace
}  // namespace odori
