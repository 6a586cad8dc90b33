// The training loop and what it tells: epochs, order of the extensions, table, log, progress, evaluation, result.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <regex>

#include "distributed/snapshot.h"
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

/// Writes down when it was called.
class Recorder : public Extension {
 public:
  Recorder(std::string name, std::vector<std::string>& calls, int priority = reader, Trigger trigger = Trigger::epoch)
      : name_(std::move(name)), calls_(calls), priority_(priority), trigger_(trigger) {}
  Trigger trigger() const override { return trigger_; }
  int priority() const override { return priority_; }
  void run(Trainer& trainer) override {
    calls_.push_back(fmt::format("{} {} {}", name_, trainer.updater().iteration(), trainer.updater().epoch()));
  }
  void finalize(Trainer&) noexcept override { calls_.push_back(name_ + " ends"); }
  std::string name() const override { return name_; }

 private:
  std::string name_;
  std::vector<std::string>& calls_;
  int priority_;
  Trigger trigger_;
};

class Loop : public testing::Test {
 protected:
  Folder folder;
  Training training{{.batch_size = 4}, images(10)};
  std::vector<std::string> calls;
};

TEST_F(Loop, EpochsEndWhereTheIteratorSaysAndExtensionsRunByPriority) {
  Trainer trainer(*training.updater, 2, folder / "new/out");
  trainer.extend(Recorder("late", calls, 1));
  trainer.extend(Recorder("first", calls, 300));
  trainer.extend(Recorder("second", calls, 300));
  trainer.extend(Recorder("each", calls, 50, Trigger::iteration));
  trainer.run();
  // 10 images in batches of 4: the third batch begins the second epoch, the fifth ends with it.
  EXPECT_EQ(calls, (std::vector<std::string>{"each 1 0", "each 2 0", "first 3 1", "second 3 1", "each 3 1", "late 3 1",
                                             "each 4 1", "first 5 2", "second 5 2", "each 5 2", "late 5 2",
                                             "first ends", "second ends", "each ends", "late ends"}));
  EXPECT_TRUE(std::filesystem::is_directory(folder / "new/out"));
}

TEST_F(Loop, RunsOnce) {
  Trainer trainer(*training.updater, 1, folder.path());
  EXPECT_EQ(trainer.elapsed_time(), 0);
  trainer.run();
  const double seconds = trainer.elapsed_time();
  EXPECT_GT(seconds, 0);
  EXPECT_EQ(trainer.elapsed_time(), seconds) << "its clock stops at the end";
  EXPECT_SENTENCE(trainer.run(), "This trainer has run already.");
  EXPECT_SENTENCE(trainer.extend(LogReport()), "The trainer runs already: give it LogReport before run().");
}

TEST_F(Loop, ExtensionsEndWhenOneFails) {
  class Failing : public Extension {
    void run(Trainer&) override { fail("It broke."); }
    std::string name() const override { return "Failing"; }
  };
  Trainer trainer(*training.updater, 2, folder.path());
  trainer.extend(Failing());
  trainer.extend(Recorder("other", calls, 0));
  EXPECT_SENTENCE(trainer.run(), "It broke.");
  EXPECT_EQ(calls, std::vector<std::string>{"other ends"});
}

TEST_F(Loop, RefusesAFolderThatCannotBeWritten) {
  std::ofstream(folder / "file") << "in the way";
  EXPECT_SENTENCE(Trainer(*training.updater, 1, folder / "file"), "can't be written");
  EXPECT_SENTENCE(Trainer(*training.updater, 1, folder / "file/out"), "can't be written: Not a directory");
  EXPECT_SENTENCE(Trainer(*training.updater, 1, "/proc/no/such"), "Give --out a folder that you may write to.");
  EXPECT_SENTENCE(Trainer(*training.updater, 0, folder.path()), "at least one epoch, but 0");
}

TEST_F(Loop, OneTrainingWritesIntoAFolderAtATime) {
  Training other({.batch_size = 4}, images(10));
  Trainer outer(*training.updater, 1, folder.path());
  Trainer inner(*other.updater, 1, folder.path());
  inner.extend(LogReport());
  // While one runs, the other is refused, and told by whom; afterwards it may.
  class Meanwhile : public Extension {
   public:
    explicit Meanwhile(Trainer& inner) : inner_(inner) {}
    void run(Trainer& outer) override {
      const std::string sentence = sentence_of([&] { inner_.run(); });
      EXPECT_NE(sentence.find(fmt::format("Another training writes into {} (process {} on ", outer.out(), ::getpid())),
                std::string::npos)
          << sentence;
      EXPECT_NE(sentence.find("Give --out another folder"), std::string::npos) << sentence;
    }
    std::string name() const override { return "Meanwhile"; }

   private:
    Trainer& inner_;
  };
  outer.extend(LogReport());
  outer.extend(Meanwhile(inner));
  outer.run();
  Training third({.batch_size = 4}, images(10));
  Trainer after(*third.updater, 1, folder.path());
  after.extend(LogReport());
  after.run();
  EXPECT_EQ(third.updater->epoch(), 1);
}

/// Writes a loss that is no number, as if the weights had left all bounds.
class Diverging : public Extension {
 public:
  int priority() const override { return writer; }
  void run(Trainer& trainer) override { trainer.observation()["validation/main/loss"] = std::nan(""); }
  std::string name() const override { return "Diverging"; }
};

TEST_F(Loop, StopsWhereItDivergesUnlessToldOtherwise) {
  Trainer trainer(*training.updater, 3, folder.path());
  trainer.extend(Diverging());
  trainer.extend(LogReport());
  try {
    trainer.run();
    FAIL() << "it went on";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), exit_code::diverged);
    EXPECT_NE(
        std::string(error.what()).find("The training diverged: validation/main/loss is nan at the end of epoch 1"),
        std::string::npos)
        << error.what();
  }
  EXPECT_EQ(nlohmann::json::parse(read_file(folder / "log")).size(), 1u) << "the epoch stands in the log";

  Training stubborn({.batch_size = 4}, images(10));
  Trainer keeps_going(*stubborn.updater, 3, folder.path(), true);
  keeps_going.extend(Diverging());
  keeps_going.run();
  EXPECT_EQ(stubborn.updater->epoch(), 3);
}

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
  const auto log = nlohmann::json::parse(read_file(folder / "log"));
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

TEST(Evaluation, IsExactAlsoWhereTheLastBatchIsSmaller) {
  const DatasetPtr test = images(21, 5);
  Training training({.batch_size = 8}, images(16));
  const auto expected = [&] {
    Metrics sum;
    for (std::size_t i = 0; i < test->size(); ++i) {
      training.model.evaluate({{(*test)[i]}, test->transform()});
      sum += training.model.take_metrics();
    }
    return sum;
  }();
  Evaluator evaluator(SerialIterator(test, 8, {.repeat = false, .shuffle = false}), training.model, 0);
  training.model.forward_backward(*SerialIterator(test, 8).next());  // leaves its sums there
  const auto weights = training.model.state().parameters;
  for (int time = 0; time < 2; ++time) {
    const Metrics metrics = evaluator.evaluate();
    EXPECT_EQ(metrics.samples, 21);
    EXPECT_EQ(metrics.correct, expected.correct);
    EXPECT_NEAR(metrics.loss(), expected.loss(), 1e-5);
  }
  EXPECT_EQ(training.model.state().parameters, weights);

  Folder folder;
  Trainer trainer(*training.updater, 1, folder.path());
  trainer.extend(evaluator);
  trainer.extend(LogReport());
  trainer.run();
  const Metrics trained = evaluator.evaluate();
  const auto& entry = find_log_report(trainer).log().back();
  EXPECT_EQ(entry.at("validation/main/loss"), trained.loss());
  EXPECT_EQ(entry.at("validation/main/accuracy"), trained.accuracy());
  EXPECT_NE(entry.at("main/loss"), trained.loss());
}

TEST(Evaluation, LeavesOutWhatAnotherShardOwns) {
  class Owned : public Images {
   public:
    using Images::Images;
    Example operator[](std::size_t i) const override {
      Example example = Images::operator[](i);
      example.counted = i % 3 != 0;
      return example;
    }
  };
  Training training({.batch_size = 4}, images(16));
  Evaluator evaluator(SerialIterator(std::make_shared<Owned>(10), 4, {.repeat = false}), training.model, 0);
  EXPECT_EQ(evaluator.evaluate().samples, 6);
}

TEST(Evaluation, RefusesAnotherDeviceAndAnEndlessIterator) {
  Training training({.batch_size = 4}, images(16));
  const SerialIterator once(images(8), 4, {.repeat = false}), endless(images(8), 4);
  EXPECT_SENTENCE(Evaluator(once, training.model, 1),
                  "The model is on device 0, but the evaluator was given device 1.");
  EXPECT_SENTENCE(Evaluator(endless, training.model, 0), "give it repeat = false");
  Classifier nowhere(create_network("tiny", 10), 4, 0);
  EXPECT_SENTENCE(Evaluator(once, nowhere, 0), "isn't on a device yet");
}

TEST_F(Loop, ThroughputIsPrintedAndWrittenWithEverythingBehindIt) {
  Trainer trainer(*training.updater, 2, folder.path());
  trainer.extend(Evaluator(SerialIterator(images(8), 4, {.repeat = false}), training.model, 0));
  trainer.extend(LogReport());
  trainer.run();
  testing::internal::CaptureStdout();
  report_throughput(trainer, 20);
  const std::string line = testing::internal::GetCapturedStdout();
  std::smatch numbers;
  ASSERT_TRUE(
      std::regex_match(line, numbers, std::regex(R"(Throughput: ([0-9.]+) \[images/sec\.\] \(20 / ([0-9.e+-]+)\)\n)")))
      << line;
  const auto result = nlohmann::json::parse(read_file(folder / "result.json"));
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

}  // namespace
}  // namespace odori
