// SPDX-License-Identifier: Apache-2.0
// The training loop: epochs, order of the extensions, how it ends, and evaluation.
#include <gtest/gtest.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "files/json.h"
#include "files/lock.h"
#include "train/evaluator.h"
#include "train/log_report.h"
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

TEST_F(Loop, EpochsEndWhereTheIteratorSaysAndExtensionsRunByPriority) {
  std::vector<std::string> calls;
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
  std::vector<std::string> calls;
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
      const std::string holder = this_process();  // "cosmos, process 4711, since ..."
      EXPECT_NE(sentence.find(fmt::format("Another training writes into {} ({}).", outer.out(), holder)),
                std::string::npos)
          << sentence;
      EXPECT_NE(holder.find(fmt::format(", process {}, since ", ::getpid())), std::string::npos) << holder;
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
  EXPECT_EQ(parse_json(read_file(folder / "log")).size(), 1u) << "the log has the epoch";

  Training stubborn({.batch_size = 4}, images(10));
  Trainer keeps_going(*stubborn.updater, 3, folder.path(), true);
  keeps_going.extend(Diverging());
  keeps_going.run();
  EXPECT_EQ(stubborn.updater->epoch(), 3);
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

}  // namespace
}  // namespace odori
