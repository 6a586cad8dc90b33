// SPDX-License-Identifier: Apache-2.0
// A training that goes on from a snapshot comes to the same bits as one that was not interrupted, and no snapshot is
// believed that is damaged or of something else.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "distributed/snapshot.h"
#include "files/file.h"
#include "files/json.h"
#include "train/log_report.h"
#include "train_support.h"

namespace odori {
namespace {

using namespace test;
namespace fs = std::filesystem;

/// As few as show it, since emulated GPUs are slow: epochs end within a batch, and so does the first one.
const DatasetPtr& train_set() {
  static const DatasetPtr dataset = std::make_shared<Images>(26, 0, true);
  return dataset;
}

/// A training into a folder, with a log and snapshots.
struct SavedRun : Training {
  SavedRun(const Options& options, const std::string& out, int n_epochs, const DatasetPtr& train = train_set())
      : Training(options, train), trainer(*updater, n_epochs, out) {
    trainer.extend(LogReport());
    trainer.extend(Snapshot());
  }
  std::vector<LogReport::Entry> log_without_times() {
    std::vector<LogReport::Entry> log = find_log_report(trainer).log();
    for (auto& entry : log) entry.erase("elapsed_time");
    return log;
  }
  Trainer trainer;
};

void expect_same_bits(SavedRun& a, SavedRun& b) {
  for (std::size_t i = 0; i < a.updater->models().size(); ++i) {
    const ModelState x = a.updater->models()[i]->state(), y = b.updater->models()[i]->state();
    EXPECT_TRUE(x.parameters == y.parameters) << "replica " << i;
    EXPECT_TRUE(i > 0 || x.statistics == y.statistics) << "only the main device's are used";
    EXPECT_EQ(x.random.step, y.random.step);
    EXPECT_EQ(x.random.stream, y.random.stream);
  }
  EXPECT_TRUE(a.optimizer.state() == b.optimizer.state());
  EXPECT_EQ(a.optimizer.learning_rate(), b.optimizer.learning_rate());
  EXPECT_EQ(a.optimizer.n_updates(), b.optimizer.n_updates());
  EXPECT_EQ(a.updater->iteration(), b.updater->iteration());
  EXPECT_EQ(a.log_without_times(), b.log_without_times());
}

void expect_exact_continuation(const Training::Options& options) {
  Folder whole_folder, folder;
  SavedRun whole(options, whole_folder.path(), 2);
  whole.trainer.run();
  SavedRun first(options, folder.path(), 1);
  first.trainer.run();
  SavedRun second(options, folder.path(), 2);
  resume(folder.path(), second.trainer);
  expect_same_bits(first, second);
  const double before = second.trainer.elapsed_time();
  EXPECT_GT(before, 0) << "the snapshot has the time";
  second.trainer.run();
  expect_same_bits(whole, second);
  EXPECT_GT(second.trainer.elapsed_time(), before) << "the time before counts";
}

TEST(Resume, OfOneDeviceIsExact) {
  // In batches of 8. The network has batch normalisation, the images are cropped and flipped at random.
  expect_exact_continuation({.network = "mid", .seed = 3});
}

TEST(Resume, OfTwoDevicesIsExact) { expect_exact_continuation({.network = "mid", .n_devices = 2, .seed = 3}); }

TEST(Resume, OfTheOriginalsRuleKeepsTheDividedLearningRate) {
  expect_exact_continuation({.n_devices = 2, .rule = GradientRule::sum});
}

TEST(Resume, OfAdamIsExact) {
  expect_exact_continuation({.seed = 3, .rate = 0.001f, .optimizer = "adam"});
  expect_exact_continuation({.n_devices = 2, .rate = 0.001f, .optimizer = "adam"});
}

void choose(SavedRun& run, const AlgorithmTable& algorithms) {
  ModelState state = run.model.state();
  state.algorithms = algorithms;
  run.model.restore(state);
}

TEST(Resume, UsesTheAlgorithmsThatWereMeasured) {
  Folder whole_folder, folder;
  SavedRun whole({.measure = true}, whole_folder.path(), 2);
  // As if a CPU had found everywhere that the direct algorithm is the fastest; a GPU has none of that name, and
  // measures.
  AlgorithmTable direct = whole.model.algorithms();
  for (auto& [key, algorithm] : direct.chosen) algorithm = "direct";
  choose(whole, direct);
  whole.trainer.run();
  SavedRun first({.measure = true}, folder.path(), 1);
  choose(first, whole.model.algorithms());  // measured once more, others may be the fastest, and give other bits
  first.trainer.run();
  SavedRun second({}, folder.path(), 2);  // by the fixed rule, until it is resumed
  EXPECT_NE(second.model.algorithms(), first.model.algorithms());
  resume(folder.path(), second.trainer);
  EXPECT_EQ(second.model.algorithms(), first.model.algorithms());
  second.trainer.run();
  expect_same_bits(whole, second);
}

class Saved : public testing::Test {
 protected:
  Saved() {
    SavedRun run(options, folder.path(), 2);
    run.trainer.run();
  }
  /// What resume() says to a training of `options`, which must be left as it was.
  std::string refusal(const Training::Options& options, const std::string& path,
                      const DatasetPtr& train = train_set()) {
    SavedRun run(options, folder / "other", 4, train);
    const ModelState before = run.model.state();
    const std::string sentence = sentence_of([&] { resume(path, run.trainer); });
    EXPECT_EQ(run.model.state().parameters, before.parameters);
    EXPECT_EQ(run.updater->iteration(), 0);
    return sentence;
  }
  void expect_refusal(const std::string& words, const Training::Options& options,
                      const DatasetPtr& train = train_set()) {
    const std::string sentence = refusal(options, folder.path(), train);
    EXPECT_NE(sentence.find(words), std::string::npos) << "it says: " << sentence;
  }
  Training::Options options{};
  Folder folder;
  std::string last = folder / "snapshot_epoch_2";
};

TEST_F(Saved, HoldsWhatItsHeaderSaysAndNothingElse) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(last)) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, (std::vector<std::string>{"model.bin", "optimizer.bin", "rank_0.json", "snapshot.json"}));
  EXPECT_EQ(fs::file_size(last + "/model.bin"), 5146u * 4);
  names.clear();
  for (const auto& entry : fs::directory_iterator(folder.path())) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, (std::vector<std::string>{".lock", "latest", "log", "snapshot_epoch_1", "snapshot_epoch_2"}));
}

TEST_F(Saved, IsNotOfAnotherTraining) {
  expect_refusal("Give --model tiny.", {.network = "mid"});
  expect_refusal("Give --batchsize 8.", {.batch_size = 4});
  expect_refusal("by the optimizer momentum, this one is by adam. Give --optimizer momentum.", {.optimizer = "adam"});
  expect_refusal("1 device a rank, this one has mean over 2 devices", {.n_devices = 2});
  expect_refusal("from seed 0, those of this training from seed 1", {.seed = 1});
  expect_refusal("was trained on other data", {}, images(49));
  expect_refusal("the same data, but in other shards", {}, split_dataset_n_random(train_set(), 1, 7)[0]);
  SavedRun run(options, folder / "two", 1);
  Training two({.n_devices = 2, .rule = GradientRule::sum}, train_set());
  Trainer trainer(*two.updater, 1, folder / "two");
  trainer.extend(Snapshot());
  trainer.run();
  EXPECT_NE(refusal({.n_devices = 2}, folder / "two").find("sum over 2 devices a rank, this one has mean over"),
            std::string::npos);
}

TEST_F(Saved, IsRefusedWhenAnyOfItsFilesIsDamaged) {
  const std::string good = folder / "good";
  fs::rename(last, good);
  for (const char* name : {"model.bin", "optimizer.bin", "rank_0.json", "snapshot.json"}) {
    const std::string file = std::string("/") + name;
    const auto damage = [&](const auto& how) {
      fs::remove_all(last);
      fs::copy(good, last);
      how(last + file);
      return refusal(options, last);
    };
    const std::string cut = damage([](const std::string& path) { fs::resize_file(path, fs::file_size(path) / 2); });
    EXPECT_NE(cut.find(name), std::string::npos) << cut;
    EXPECT_NE(cut.find("is damaged"), std::string::npos) << cut;
    const std::string missing = damage([](const std::string& path) { fs::remove(path); });
    if (std::string(name) != "snapshot.json") {
      EXPECT_NE(missing.find(std::string(name) + " can't be read: No such file"), std::string::npos) << missing;
      const std::string flipped = damage([](const std::string& path) {
        std::fstream stream(path, std::ios::in | std::ios::out | std::ios::binary);
        stream.seekp(40);
        const char old = static_cast<char>(stream.peek());
        stream.seekp(40);
        stream.put(static_cast<char>(old ^ 1));
      });
      EXPECT_NE(flipped.find("its checksum isn't that of what was written"), std::string::npos) << flipped;
    }
  }
}

TEST_F(Saved, TheNewestIsTheOneThatWasWrittenLast) {
  // A new training into the same folder: its first snapshot is newer than the old training's second.
  SavedRun run(options, folder.path(), 1);
  run.trainer.run();
  SavedRun resumed(options, folder.path(), 4);
  testing::internal::CaptureStdout();
  resume(folder.path(), resumed.trainer);
  EXPECT_EQ(
      testing::internal::GetCapturedStdout(),
      fmt::format("Going on from {}/snapshot_epoch_1: 1 epoch, 4 iterations are done; the learning rate is 0.05.\n",
                  folder.path()));
  SavedRun named(options, folder.path(), 4);
  resume(last, named.trainer);
  EXPECT_EQ(named.updater->epoch(), 2);
}

/// Which snapshot a training goes on from, and what it says of the others.
std::pair<std::int64_t, std::string> resumed_from(const std::string& path, const Training::Options& options) {
  SavedRun run(options, path, 9);
  testing::internal::CaptureStdout();
  resume(path, run.trainer);
  return {run.updater->epoch(), testing::internal::GetCapturedStdout()};
}

TEST_F(Saved, TheNewestThatIsSoundIsTakenWhateverLiesBesideIt) {
  fs::create_directories(folder / "snapshot_epoch_7");  // empty
  fs::create_directories(folder / "snapshot_epoch_8");
  std::ofstream(folder / "snapshot_epoch_8/snapshot.json") << "[]";  // not one
  std::ofstream(folder / "snapshot_epoch_9") << "a file";
  auto [epoch, said] = resumed_from(folder.path(), options);
  EXPECT_EQ(epoch, 2);
  EXPECT_NE(said.find("Passed over: " + folder.path() + "/snapshot_epoch_7/snapshot.json can't be read"),
            std::string::npos)
      << said;
  EXPECT_NE(said.find("snapshot_epoch_8/snapshot.json isn't a snapshot of format"), std::string::npos) << said;

  fs::resize_file(last + "/optimizer.bin", 10);
  std::tie(epoch, said) = resumed_from(folder.path(), options);
  EXPECT_EQ(epoch, 1);
  EXPECT_NE(said.find("Passed over: " + last + "/optimizer.bin is damaged"), std::string::npos) << said;

  fs::resize_file(folder / "snapshot_epoch_1/model.bin", 10);
  EXPECT_NE(refusal(options, folder.path()).find("that could be used: "), std::string::npos);
}

TEST_F(Saved, AClockThatJumpedChangesNothing) {
  // The first epoch's snapshot seems to be of the year 2100.
  const std::string manifest = folder / "snapshot_epoch_1/snapshot.json";
  nlohmann::json json = parse_json(read_file(manifest));
  json["written"] = 4102444800.0;
  std::ofstream(manifest) << json;
  EXPECT_EQ(resumed_from(folder.path(), options).first, 2);
}

TEST_F(Saved, OfAnotherPrecisionGoesOnAndSaysWhatThatChanges) {
  const std::string manifest = last + "/snapshot.json";
  nlohmann::json json = parse_json(read_file(manifest));
  EXPECT_EQ(json["subject"]["precision"], "fp32");
  EXPECT_EQ(resumed_from(folder.path(), options).second.find("is of a training in"), std::string::npos);
  json["subject"]["precision"] = "bf16";
  std::ofstream(manifest) << json;
  const auto [epoch, said] = resumed_from(folder.path(), options);
  EXPECT_EQ(epoch, 2);
  EXPECT_NE(said.find("is of a training in bf16, this one is in fp32"), std::string::npos) << said;
}

TEST_F(Saved, WhatAKillBetweenTwoRenamingsLeftIsFound) {
  fs::rename(last, last + ".old");
  EXPECT_EQ(resumed_from(folder.path(), options).first, 2);
}

TEST_F(Saved, APipeIsNotWaitedFor) {
  fs::remove(folder / "latest");
  ASSERT_EQ(mkfifo((folder / "latest").c_str(), 0600), 0);
  EXPECT_EQ(resumed_from(folder.path(), options).first, 2);
}

TEST_F(Saved, IsOfThesePixels) {
  const auto same_labels = std::make_shared<Images>(train_set()->size(), 1, true);
  expect_refusal("was trained on other data", {}, same_labels);
}

TEST_F(Saved, ALoopOfLinksIsNoFolder) {
  fs::create_directory_symlink(folder / "b", folder / "a");
  fs::create_directory_symlink(folder / "a", folder / "b");
  EXPECT_NE(refusal(options, folder / "a").find("There is no snapshot in"), std::string::npos);
}

TEST_F(Saved, MoreEpochsThanAreAskedFor) {
  SavedRun run(options, folder.path(), 1);
  try {
    resume(last, run.trainer);
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("has 2 epochs behind it, and --epoch asks for 1 in all"),
              std::string::npos)
        << error.what();
  }
}

TEST_F(Saved, NoneIsThere) {
  EXPECT_NE(refusal(options, folder / "nowhere").find("There is no snapshot in"), std::string::npos);
  fs::create_directories(folder / "empty/snapshot_epoch_3.part");  // what a kill leaves
  EXPECT_NE(refusal(options, folder / "empty").find("There is no snapshot in"), std::string::npos);
}

TEST_F(Saved, OlderOnesAreRemovedAndWhatKillsHaveLeft) {
  const auto kept = [&](int keep, int n_epochs) {
    Training training(options, train_set());
    Trainer trainer(*training.updater, n_epochs, folder.path());
    trainer.extend(Snapshot(keep));
    fs::create_directories(folder / "snapshot_epoch_9.part/half");
    fs::create_directories(folder / "snapshot_epoch_8/unreadable");
    trainer.run();
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder.path()))
      if (entry.path().filename().string().starts_with("snapshot_")) names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    return names;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(kept(Snapshot::usual_keep, 4),
            (Names{"snapshot_epoch_2", "snapshot_epoch_3", "snapshot_epoch_4", "snapshot_epoch_8"}));
  // By when they were written: the third and fourth epochs' are of the training before.
  EXPECT_EQ(kept(3, 2), (Names{"snapshot_epoch_1", "snapshot_epoch_2", "snapshot_epoch_4", "snapshot_epoch_8"}));
  EXPECT_EQ(kept(1, 2), (Names{"snapshot_epoch_2", "snapshot_epoch_8"}));
  EXPECT_EQ(kept(0, 3), (Names{"snapshot_epoch_1", "snapshot_epoch_2", "snapshot_epoch_3", "snapshot_epoch_8"}));
}

TEST_F(Saved, WhatAKillHasLeftIsReplaced) {
  fs::create_directories(folder / "snapshot_epoch_3.part");
  std::ofstream(folder / "snapshot_epoch_3.part/rubbish") << "half";
  for (const char* file : {"latest.1.part", "log.1.part", "result.json.1.part"}) std::ofstream(folder / file) << "half";
  SavedRun resumed(options, folder.path(), 3);
  resume(folder.path(), resumed.trainer);
  resumed.trainer.run();
  for (const auto& entry : fs::directory_iterator(folder.path()))
    EXPECT_FALSE(entry.path().string().ends_with(".part")) << entry.path();
  EXPECT_FALSE(fs::exists(folder / "snapshot_epoch_3.part"));
  EXPECT_FALSE(fs::exists(folder / "snapshot_epoch_3/rubbish"));
  SavedRun again(options, folder.path(), 4);
  resume(folder.path(), again.trainer);
  EXPECT_EQ(again.updater->epoch(), 3);
}

TEST_F(Saved, AFullDiskLeavesTheLastGoodOne) {
  SavedRun whole(options, folder / "whole", 4);
  whole.trainer.run();
  for (const rlim_t bytes : {0, 100, 10000, 20000}) {
    SCOPED_TRACE(bytes);
    Folder full;
    SavedRun run(options, full.path(), 4);
    run.trainer.extend(FullDisk(3, bytes));
    const std::string sentence = sentence_of([&] { run.trainer.run(); });
    EXPECT_EQ(sentence.find("The snapshot of epoch 3 failed. "), 0u) << sentence;
    EXPECT_NE(sentence.find(fmt::format("can't be written: File too large. The last good snapshot is "
                                        "{0}/snapshot_epoch_2: --resume {0}/snapshot_epoch_2 goes on from there.",
                                        full.path())),
              std::string::npos)
        << sentence;
    EXPECT_FALSE(fs::exists(full / "snapshot_epoch_3"));
    EXPECT_FALSE(fs::exists(full / "snapshot_epoch_3.part"));
    SavedRun resumed(options, full.path(), 4);
    resume(full.path(), resumed.trainer);
    EXPECT_EQ(resumed.updater->epoch(), 2);
    resumed.trainer.run();
    expect_same_bits(whole, resumed);
  }
}

TEST_F(Saved, AFolderThatCannotBeMadeIsToldByItsName) {
  Folder top;
  std::string deep = top.path();
  // Its log still has a name of at most 4,095 letters, and a snapshot hasn't.
  for (std::size_t rest; (rest = 4077 - deep.size()) > 0;) deep += "/" + std::string(rest > 250 ? 100 : rest - 1, 'd');
  SavedRun run(options, deep, 1);
  EXPECT_SENTENCE(run.trainer.run(), "The snapshot of epoch 1 failed. " + deep +
                                         "/snapshot_epoch_1.part can't be used: File name too long.");
}

}  // namespace
}  // namespace odori
