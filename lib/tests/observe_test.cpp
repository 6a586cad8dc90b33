// SPDX-License-Identifier: Apache-2.0
// Observers: which hooks a training calls, in which order and with which facts, by an observer in memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <sstream>

#include "data/batch.h"
#include "observe/hooks.h"
#include "observe/observer.h"
#include "observe/refusal.h"
#include "train/evaluator.h"
#include "train/log_report.h"
#include "train_support.h"

namespace odori {
namespace {

using namespace test;

/// Keeps the name of each hook, and some of what it was given.
class InMemory : public observe::Observer {
 public:
  void on_rank(int rank) override { add("rank", rank); }
  void on_fact(const facts::Fact& fact, std::span<const float> values) override {
    std::visit([&](const auto& one) { keep(one); }, fact);
    EXPECT_EQ(!values.empty(), std::holds_alternative<facts::Values>(fact));
  }
  void on_batch_trained(const void* model, const Batch& batch) override {
    const std::lock_guard lock(mutex_);
    images[model] += batch.examples.size();
  }
  void on_step(const void* model, int device, std::span<const float> parameters) override {
    add("step", device, parameters.size(), std::exchange(images[model], 0));
  }

  std::vector<std::string> taken() {
    const std::lock_guard lock(mutex_);
    return std::exchange(lines_, {});
  }

  std::map<const void*, std::size_t> images;  // trained on, by model, since its last step

 private:
  void keep(const facts::Began&) { add("program begun"); }
  void keep(const facts::BlanksPassed&) { add("blanks passed"); }
  void keep(const facts::Failure& failure) { add("failure", failure.sentence, failure.code); }
  void keep(const facts::Enter& call) { add("enter", call.collective); }
  void keep(const facts::Leave& call) { add("leave", call.collective); }
  void keep(const facts::Message& message) { add(message.call, message.to, message.sent); }
  void keep(const facts::MessageDone&) { add("message done"); }
  void keep(const facts::Values& values) { add("values", values.length); }
  void keep(const facts::Event& event) { add(event.what, event.about.size()); }
  void keep(const facts::UseDevice& use) { add("use device", use.device); }
  void keep(const facts::ToDevice& to) { add("model to device", to.device); }
  void keep(const facts::LoadCifar&) { add("load CIFAR"); }
  void keep(const facts::Scatter& scatter) { add("scatter", scatter.root); }
  void keep(const facts::RefusedBatch& refused) { add("refused batch", refused.batch_size); }
  void keep(const facts::Devices& devices) { add("devices", devices.devices.size()); }
  void keep(const facts::Updater& updater) { add(updater.kind, updater.iterators.size()); }
  void keep(const facts::Evaluator& evaluator) { add("evaluator", evaluator.device, evaluator.iterator.images.size()); }
  void keep(const facts::Training& training) {
    add("training", training.kind, training.devices ? training.devices->size() : 0, training.models.size(),
        training.evaluators.size());
  }
  void keep(const facts::Updated&) { add("update done"); }
  void keep(const facts::Evaluation& evaluation) { add("evaluation", evaluation.samples); }
  void keep(const facts::Report&) { add("report"); }
  void keep(const facts::Observation&) { add("observation"); }
  void keep(const facts::Trained&) { add("training ended"); }

  template <typename... Facts>
  void add(const Facts&... facts) {
    std::ostringstream line;
    ((line << (line.tellp() > 0 ? " " : "") << facts), ...);
    const std::lock_guard lock(mutex_);
    lines_.push_back(line.str());
  }

  std::mutex mutex_;
  std::vector<std::string> lines_;
};

using Lines = std::vector<std::string>;

TEST(Observer, SeesATrainingOnTwoDevices) {
  InMemory observer;
  const observe::Installation installation(observer);
  const Folder folder;
  Training training({.n_devices = 2, .batch_size = 4}, images(16));
  EXPECT_EQ(observer.taken(), (Lines{"use device 0", "model to device 0", "ParallelUpdater 2"}));
  Trainer trainer(*training.updater, 1, folder.path());
  trainer.extend(Evaluator(SerialIterator(images(6), 4, {.repeat = false}), training.model, 0));
  trainer.extend(LogReport());
  trainer.run();
  const Lines update{"step 0 5146 4", "step 1 5146 4", "update done"};
  Lines expected{"evaluator 0 6", "training ParallelUpdater 2 2 1"};
  for (int i = 0; i < 2; ++i) expected.insert(expected.end(), update.begin(), update.end());
  for (const char* last : {"evaluation 6", "report", "observation", "training ended"}) expected.emplace_back(last);
  EXPECT_EQ(observer.taken(), expected);
}

TEST(Observer, SeesStepsWithoutParametersIfItWantsNone) {
  struct WithoutParameters : InMemory {
    bool wants_parameters() override { return false; }
  } observer;
  const observe::Installation installation(observer);
  const Folder folder;
  Training training({.batch_size = 4}, images(4));
  StandardUpdater updater(SerialIterator(images(4), 4), training.optimizer);
  Trainer trainer(updater, 1, folder.path());
  observer.taken();
  trainer.run();
  EXPECT_EQ(observer.taken(), (Lines{"training StandardUpdater 0 1 0", "step 0 0 4", "update done", "training ended"}));
}

TEST(Observer, SeesAllBatchesOfAnUpdate) {
  InMemory observer;
  const observe::Installation installation(observer);
  const Folder folder;
  Training training({.batch_size = 4}, images(16));
  StandardUpdater updater(SerialIterator(images(16), 4), training.optimizer, 2);
  Trainer trainer(updater, 1, folder.path());
  observer.taken();
  trainer.run();
  EXPECT_EQ(observer.taken(), (Lines{"training StandardUpdater 0 1 0", "step 0 5146 8", "update done", "step 0 5146 8",
                                     "update done", "training ended"}));
}

TEST(Observer, SeesWhatIsRefused) {
  InMemory observer;
  const observe::Installation installation(observer);
  EXPECT_SENTENCE(SerialIterator(images(3), 4), "A batch of 4 images is larger");
  EXPECT_SENTENCE(refusal::require(refusal::no_such_chunk, false, "chunk {}", 7), "chunk 7");
  EXPECT_EQ(observer.taken(), (Lines{"refused batch 4", "no_such_chunk 0"}));
}

TEST(Observer, SeesCollectivesAndMessagesOfLearnersAlone) {
  InMemory observer;
  const observe::Installation installation(observer);
  {
    const observe::CollectiveScope outer("outer");
    const observe::CollectiveScope inner("inner");
    const observe::MessageScope message("send", 1, 4, -1, 0);
    const observe::LearnerScope learner;
    const observe::CollectiveScope of_learner("of a learner");
  }
  try {
    const observe::MessageScope message("send", 1, 4, -1, 0);
    fail("no such rank");
  } catch (const Error&) {
  }
  { const observe::MessageScope message("send", 2, 5, -1, 0); }
  EXPECT_EQ(observer.taken(), (Lines{"enter outer", "enter of a learner", "leave of a learner", "leave outer",
                                     "send 1 4", "send 2 5", "message done"}));
}

TEST(CollectiveScope, HasThePlaceOfTheProgramsCall) {
  const auto here = std::source_location::current();
  const auto line = [](std::source_location site = {}) { return observe::CollectiveScope("call", site).site().line(); };
  EXPECT_EQ(line(), 0u);
  {
    const observe::ProgramSite of_run(here);
    EXPECT_EQ(line(), here.line()) << "the Trainer's";
    const auto own = std::source_location::current();
    EXPECT_EQ(line(own), own.line()) << "it knows its place itself";
  }
  EXPECT_EQ(line(), 0u);
}

TEST(Observer, SeesEventsAndValuesInTheirOrder) {
  InMemory observer;
  const observe::Installation installation(observer);
  observe::on_event("start", {0, 320});
  observe::on_values(std::vector<float>{1, 2});
  observe::on_event("wait");
  EXPECT_EQ(observer.taken(), (Lines{"start 2", "values 2", "wait 0"}));
}

TEST(Observer, IsOneAndNobodyReplacesIt) {
  EXPECT_FALSE(observe::enabled());
  observe::on_use_device(1);  // nobody sees it
  InMemory first, second;
  {
    const observe::Installation installation(first);
    EXPECT_TRUE(observe::enabled());
    EXPECT_SENTENCE(observe::Installation{second}, "An observer is installed already.");
    observe::on_use_device(2);
  }
  EXPECT_FALSE(observe::enabled());
  EXPECT_EQ(first.taken(), Lines{"use device 2"});
  EXPECT_EQ(second.taken(), Lines{});
}

}  // namespace
}  // namespace odori
