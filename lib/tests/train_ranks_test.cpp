// SPDX-License-Identifier: Apache-2.0
// Several ranks train as one device does on all their data, evaluate every test image once, and save one snapshot.
#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "comm/communicator.h"
#include "distributed/multi_node_agreement.h"
#include "distributed/multi_node_evaluator.h"
#include "distributed/multi_node_optimizer.h"
#include "distributed/parameter_check.h"
#include "distributed/scatter.h"
#include "distributed/snapshot.h"
#include "on_nodes.h"
#include "train/log_report.h"
#include "train/throughput.h"
#include "train_support.h"

namespace odori {
namespace {

using namespace test;
namespace fs = std::filesystem;

/// One rank's training, put together as the program of several nodes does: ranks are seeded apart.
struct RankTraining {
  RankTraining(Communicator& comm, const std::string& network, std::vector<SerialIterator> iterators,
               const ExchangeOptions& options = {})
      : rank(static_cast<std::uint32_t>(comm.rank())),
        model(create_network(network, 10), iterators.front().batch_size(), rank, rank),
        optimizer(create_multi_node_optimizer(std::make_unique<MomentumSGD>(0.05f), comm, options)) {
    model.to_device(pool.use(comm.intra_rank()));
    optimizer->setup(model);
    optimizer->add_hook(std::make_unique<WeightDecay>(5e-4f));
    if (iterators.size() == 1)
      updater = std::make_unique<StandardUpdater>(iterators.front(), *optimizer);
    else
      updater = std::make_unique<ParallelUpdater>(
          iterators, *optimizer,
          std::map<std::string, int>{{"main", model.device().id()}, {"gpu1", model.device().id() + comm.intra_size()}},
          pool);
  }
  std::uint32_t rank;
  DevicePool pool{device_under_test()};
  Classifier model;
  std::unique_ptr<Optimizer> optimizer;
  std::unique_ptr<Updater> updater;
};

class Ranks : public testing::TestWithParam<std::string> {
 protected:
  /// Every rank trains its strided share, on one or two devices, and beside it the whole on one device.
  void expect_same_training(int n_devices) {
    const int n_shares = comm->size() * n_devices, batch = 24;
    const DatasetPtr train = images(12 * batch);
    std::vector<SerialIterator> iterators;
    for (int i = 0; i < n_devices; ++i)
      iterators.emplace_back(every(train, comm->rank() * n_devices + i, n_shares), batch / n_shares,
                             IteratorOptions{.shuffle = false});
    RankTraining many(*comm, "tiny", iterators);
    Training one({.batch_size = batch}, shares(train, 1, batch));
    ASSERT_EQ(difference(many.model.state(), one.model.state()), 0) << "all ranks start with rank 0's weights";
    for (int i = 1; i <= 10; ++i) {
      many.updater->update();
      one.updater->update();
      EXPECT_LT(difference(many.model.state(), one.model.state()), rounding()) << "after update " << i;
    }
  }
  std::unique_ptr<Communicator> comm = create_communicator(GetParam());
};

TEST_P(Ranks, TrainAsOneDeviceDoesOnTheWholeBatch) { expect_same_training(1); }
TEST_P(Ranks, OfTwoDevicesEachToo) { expect_same_training(2); }

TEST_P(Ranks, CountEveryTestImageOnceAndReportTheSameBits) {
  const int n = comm->size();
  const std::vector<std::size_t> sizes =
      on_gpus() ? std::vector<std::size_t>{1, 10} : std::vector<std::size_t>{1, 2, 7, 10, 21, 64};
  for (const std::size_t n_images : sizes) {  // few on emulated GPUs, which are slow
    for (const bool equal : {true, false}) {
      if (!equal && n_images < static_cast<std::size_t>(n)) continue;  // a rank without any image
      const DatasetPtr test = images(n_images, 5);
      const DatasetPtr shard =
          scatter_dataset(comm->rank() == 0 ? test : nullptr, *comm, {.shuffle = true, .force_equal_length = equal});
      RankTraining training(*comm, "mid", shares(images(64), 1, 4));
      training.updater->update();
      Device& device = training.model.device();
      Buffer& statistics = training.model.memory().statistics;
      std::vector<float> drifted = read(device, statistics);  // as ranks drift apart
      for (float& statistic : drifted) statistic += 0.25f * static_cast<float>(comm->rank());
      device.write(statistics, 0, drifted);
      const auto evaluator = create_multi_node_evaluator(
          std::make_unique<Evaluator>(SerialIterator(shard, 4, {.repeat = false, .shuffle = false}), training.model,
                                      device.id()),
          *comm);
      const Metrics metrics = evaluator->evaluate();
      // All ranks have one model now, so each can tell by itself what the whole set gives.
      Evaluator alone(SerialIterator(test, 4, {.repeat = false, .shuffle = false}), training.model, device.id());
      const Metrics expected = alone.evaluate();
      EXPECT_EQ(metrics.samples, static_cast<std::int64_t>(n_images));
      EXPECT_EQ(metrics.correct, expected.correct);
      EXPECT_NEAR(metrics.loss(), expected.loss(), 1e-5 * std::abs(expected.loss()));
      double of_root = metrics.loss_sum;
      comm->broadcast(std::as_writable_bytes(std::span(&of_root, 1)));
      EXPECT_EQ(metrics.loss_sum, of_root);
    }
  }
}

TEST_P(Ranks, AverageTheStatistics) {
  RankTraining training(*comm, "mid", shares(images(64), 1, 4));
  Device& device = training.model.device();
  Buffer& statistics = training.model.memory().statistics;
  const std::vector<float> before = read(device, statistics);
  std::vector<float> values = before;
  for (float& value : values) value += static_cast<float>(comm->rank()) * value;
  device.write(statistics, 0, values);
  average_statistics(training.model, *comm);
  values = read(device, statistics);
  const float mean_rank = 0.5f * static_cast<float>(comm->size() - 1);
  for (std::size_t i = 0; i < values.size(); ++i) ASSERT_NEAR(values[i], before[i] * (1 + mean_rank), 1e-5f) << i;
  Classifier tiny(create_network("tiny", 10), 4, 0);
  tiny.to_device(device);
  average_statistics(tiny, *comm);  // has none
}

INSTANTIATE_TEST_SUITE_P(Communicators, Ranks,
                         testing::ValuesIn(communicators_under_test({"naive", "flat", "pure_nccl"})),
                         [](const auto& info) { return info.param; });

class Shared : public testing::Test {
 protected:
  Shared() {
    std::array<char, 256> path{};
    if (comm->rank() == 0) std::strcpy(path.data(), (own / "shared").c_str());
    comm->broadcast(std::as_writable_bytes(std::span(path)));
    folder = path.data();
  }
  ~Shared() override { comm->barrier(); }  // rank 0's folder goes when nobody needs it any more

  struct SharedRun : RankTraining {
    SharedRun(Communicator& comm, const std::string& out, int n_epochs, const DatasetPtr& train,
              const ExchangeOptions& options = {})
        : RankTraining(comm, "mid",
                       {SerialIterator(every(train, comm.rank(), comm.size()), 4,
                                       {.seed = 3, .stream = static_cast<std::uint32_t>(comm.rank())})},
                       options),
          trainer(*updater, n_epochs, out) {
      trainer.extend(Snapshot(comm));
      if (comm.rank() == 0) trainer.extend(LogReport());
    }
    Trainer trainer;
  };
  /// The sentence on this rank; all ranks must have the same.
  void expect_on_every_rank(const std::string& sentence, const std::string& words) {
    EXPECT_NE(sentence.find(words), std::string::npos) << "it says: " << sentence;
    std::array<char, 1024> of_root{};
    if (comm->rank() == 0) std::strncpy(of_root.data(), sentence.c_str(), of_root.size() - 1);
    comm->broadcast(std::as_writable_bytes(std::span(of_root)));
    EXPECT_EQ(sentence, of_root.data());
  }

  std::unique_ptr<Communicator> comm = create_communicator("flat");
  Folder own;  // rank 0's is the shared one
  std::string folder;
  DatasetPtr train = images(static_cast<std::size_t>(10 * comm->size()));  // epochs end within a batch
};

TEST_F(Shared, ResumeIsExact) {
  SharedRun whole(*comm, folder + "/whole", 2, train);
  whole.trainer.run();
  SharedRun first(*comm, folder + "/parts", 1, train);
  first.trainer.run();
  SharedRun second(*comm, folder + "/parts", 2, train);
  resume(folder + "/parts", second.trainer, comm.get());
  second.trainer.run();
  const ModelState a = whole.model.state(), b = second.model.state();
  EXPECT_TRUE(a.parameters == b.parameters);
  EXPECT_TRUE(a.statistics == b.statistics);
  EXPECT_TRUE(whole.optimizer->state() == second.optimizer->state());
  EXPECT_EQ(whole.updater->iteration(), second.updater->iteration());
  for (int rank = 0; rank < comm->size(); ++rank)
    EXPECT_TRUE(fs::exists(fmt::format("{}/parts/snapshot_epoch_2/rank_{}.json", folder, rank)));
}

TEST_F(Shared, AFullDiskOfOneRankIsToldOnAllAndLeavesTheLastGoodOne) {
  SharedRun run(*comm, folder, 4, train);
  if (comm->rank() == comm->size() - 1) run.trainer.extend(FullDisk(2, 100));
  expect_on_every_rank(sentence_of([&] { run.trainer.run(); }),
                       fmt::format("rank_{}.json can't be written: File too large. The last good snapshot is "
                                   "{}/snapshot_epoch_1:",
                                   comm->size() - 1, folder));
  comm->barrier();
  EXPECT_FALSE(fs::exists(folder + "/snapshot_epoch_2"));
  SharedRun resumed(*comm, folder, 2, train);
  resume(folder, resumed.trainer, comm.get());
  EXPECT_EQ(resumed.updater->epoch(), 1);
}

TEST_F(Shared, ADamagedFileOfOneRankIsRefusedByAll) {
  SharedRun run(*comm, folder, 1, train);
  run.trainer.run();
  comm->barrier();
  const std::string name = fmt::format("rank_{}.json", comm->size() - 1);
  if (comm->rank() == 0) fs::resize_file(folder + "/snapshot_epoch_1/" + name, 10);
  comm->barrier();
  SharedRun resumed(*comm, folder, 2, train);
  expect_on_every_rank(sentence_of([&] { resume(folder, resumed.trainer, comm.get()); }), name + " is damaged");
}

TEST_F(Shared, TheNewestThatAllRanksSeeWholeIsTaken) {
  train = images(static_cast<std::size_t>(8 * comm->size()));
  SharedRun run(*comm, folder, 2, train);
  run.trainer.run();
  comm->barrier();
  std::string seen = folder;
  if (comm->rank() == comm->size() - 1) {
    seen = own / "seen";
    fs::copy(folder, seen, fs::copy_options::recursive);
    fs::remove(seen + "/snapshot_epoch_2/model.bin");
  }
  SharedRun resumed(*comm, folder, 3, train);
  testing::internal::CaptureStdout();
  resume(seen, resumed.trainer, comm.get());
  const std::string said = testing::internal::GetCapturedStdout();
  EXPECT_EQ(resumed.updater->epoch(), 1);
  if (comm->rank() == 0)
    EXPECT_NE(said.find("snapshot_epoch_2/model.bin can't be read"), std::string::npos) << said;
  else
    EXPECT_EQ(said, "");
}

TEST_F(Shared, ASnapshotOfAnotherNumberOfRanksGoesOnWithWhatCanBeTheSame) {
  train = images(static_cast<std::size_t>(8 * comm->size()));
  Training alone({.network = "mid", .batch_size = 4}, train);
  Trainer trainer(*alone.updater, 1, own / "alone");
  trainer.extend(Snapshot());
  trainer.run();
  SharedRun run(*comm, folder, 2, train);
  if (comm->size() == 1) return;  // then it is the same number
  testing::internal::CaptureStdout();
  resume(own / "alone", run.trainer, comm.get());
  const std::string said = testing::internal::GetCapturedStdout();
  const std::string sentence = fmt::format("1 rank wrote this snapshot, and this training has {0}: ", comm->size());
  EXPECT_EQ(said.find(sentence) != std::string::npos, comm->rank() == 0) << said;

  const ModelState a = alone.model.state(), b = run.model.state();
  EXPECT_TRUE(a.parameters == b.parameters);
  EXPECT_TRUE(a.statistics == b.statistics);
  EXPECT_TRUE(alone.optimizer.state() == run.optimizer->state()) << "velocities";
  EXPECT_EQ(alone.optimizer.learning_rate(), run.optimizer->learning_rate());
  EXPECT_EQ(alone.updater->iteration(), run.updater->iteration());
  EXPECT_EQ(b.random.stream, run.rank) << "random numbers of its own,";
  EXPECT_EQ(b.random.seed, run.rank);
  EXPECT_EQ(b.random.step, a.random.step) << "of which it takes none twice";

  // Each is where a training on so many ranks is that has come to the end of the first epoch.
  SerialIterator fresh(every(train, comm->rank(), comm->size()), 1,
                       {.seed = 3, .stream = static_cast<std::uint32_t>(comm->rank())});
  while (fresh.epoch() < 1) fresh.next();
  const IteratorState expected = fresh.state(), seen = run.updater->iterators().front().state();
  EXPECT_EQ(seen.epoch, 1);
  EXPECT_EQ(seen.position, 0);
  EXPECT_EQ(seen.order, expected.order);
  EXPECT_EQ(seen.random_position, expected.random_position);

  run.trainer.run();
  EXPECT_EQ(run.updater->epoch(), 2);
  const std::vector<float> parameters = read(run.model.device(), run.model.memory().parameters);
  std::vector<float> of_root = parameters;
  comm->broadcast(std::as_writable_bytes(std::span(of_root)));
  EXPECT_TRUE(parameters == of_root);

  SharedRun other(*comm, folder, 2, images(train->size(), 1));
  EXPECT_SENTENCE(resume(own / "alone", other.trainer, comm.get()), "was trained on other data");
}

TEST_F(Shared, VelocitiesInPartsAreThoseOfAnyNumberOfRanks) {
  if (on_gpus() || comm->size() == 1) return;
  train = images(static_cast<std::size_t>(8 * comm->size()));
  SharedRun parts(*comm, folder, 1, train, {.sharded = true});
  parts.trainer.run();
  const std::vector<std::vector<float>> velocities = parts.optimizer->state();
  // The same on one rank, which can't have parts.
  const auto change_manifest = [](const std::string& snapshot, const std::string& from, const std::string& to) {
    std::string text = read_file(snapshot + "/snapshot.json");
    ASSERT_NE(text.find(from), std::string::npos) << text;
    std::ofstream(snapshot + "/snapshot.json") << text.replace(text.find(from), from.size(), to);
  };
  const std::string of_one = own / "alone", snapshot = "/snapshot_epoch_1";
  fs::create_directory(of_one);
  fs::copy(folder + snapshot, of_one + snapshot);
  change_manifest(of_one + snapshot, "1 device, sharded", "1 device");
  Training alone({.network = "mid", .batch_size = 4}, train);
  Trainer trainer(*alone.updater, 2, of_one);
  trainer.extend(Snapshot());
  resume(of_one, trainer);
  EXPECT_TRUE(alone.optimizer.state() == velocities);
  trainer.run();
  // And back.
  change_manifest(of_one + "/snapshot_epoch_2", "1 device", "1 device, sharded");
  SharedRun again(*comm, folder, 2, train, {.sharded = true});
  resume(of_one, again.trainer, comm.get());
  EXPECT_TRUE(again.optimizer->state() == alone.optimizer.state());
}

TEST_F(Shared, RanksWithDifferentNetworksSayWhichParameterDiffers) {
  const bool last = comm->rank() == comm->size() - 1;
  if (comm->size() == 1) return;
  const std::vector<SerialIterator> iterators = shares(train, 1, 4);
  expect_on_every_rank(sentence_of([&] { RankTraining(*comm, last ? "mid" : "tiny", iterators); }),
                       "The ranks don't train the same network: parameter 1 is ");
  RankTraining(*comm, "tiny", iterators);  // and the ranks are still in step
}

TEST_F(Shared, ParametersOfDifferentShapesAreNamed) {
  DevicePool pool(device_under_test());
  Classifier model(create_network("tiny", comm->rank() == 0 ? 10 : 7), 4, 0);
  model.to_device(pool.use(comm->intra_rank()));
  if (comm->size() == 1) return agree_on_model(model, *comm);
  const NamedView& first = model.parameters()[model.parameters().size() - 2];  // of the last layer: its bias is last
  const auto of = [&](int n) { return fmt::format("{}, {} x {} x ", first.name, n, first.view.shape.c); };
  const std::string sentence = sentence_of([&] { agree_on_model(model, *comm); });
  expect_on_every_rank(sentence, of(10));
  EXPECT_NE(sentence.find(of(7)), std::string::npos) << sentence;
  EXPECT_NE(sentence.find(" on rank 1. Give every rank the same --model"), std::string::npos) << sentence;
}

/// Changes one number of the last but one parameter of the last rank, once.
class Drift : public Extension {
 public:
  Drift(int rank, int size) : drifts_(rank == size - 1) {}
  Trigger trigger() const override { return Trigger::iteration; }
  int priority() const override { return writer + 2; }
  std::string name() const override { return "Drift"; }
  void run(Trainer& trainer) override {
    if (trainer.updater().iteration() != 3 || !drifts_) return;
    Classifier& model = trainer.updater().model();
    const ParameterView& view = model.parameters()[model.parameters().size() - 2].view;
    Buffer& parameters = model.memory().parameters;
    std::vector<float> numbers(view.size());
    model.device().read(parameters, view.offset, numbers);
    numbers.back() += 1e-3f;
    model.device().write(parameters, view.offset, numbers);
  }

 private:
  bool drifts_;
};

TEST_F(Shared, ParametersThatDriftApartAreNamed) {
  SharedRun steady(*comm, folder + "/steady", 2, train);
  steady.trainer.extend(ParameterCheck(*comm, 1));
  testing::internal::CaptureStdout();
  steady.trainer.run();
  const std::string found = fmt::format("compared {} times, and no difference was found.\n", steady.trainer.updates());
  EXPECT_EQ(testing::internal::GetCapturedStdout().find(found) != std::string::npos, comm->rank() == 0);
  if (comm->size() == 1) return;
  SharedRun run(*comm, folder + "/drifting", 2, train);
  run.trainer.extend(Drift(comm->rank(), comm->size()));
  run.trainer.extend(ParameterCheck(*comm, 2));
  const NamedView& drifting = run.model.parameters()[run.model.parameters().size() - 2];
  expect_on_every_rank(sentence_of([&] { run.trainer.run(); }),
                       fmt::format("After update 4 the ranks no longer have the same parameters: rank {} differs from "
                                   "rank 0, first in {}. The",
                                   comm->size() - 1, drifting.name));
}

TEST_F(Shared, AResultOverASimulatedLinkSaysSo) {
  comm = create_on(nodes_of("0123", comm->size()), "flat", "10gbit,20us");
  SharedRun run(*comm, folder, 1, train);
  run.trainer.run();
  if (comm->rank() > 0) return;
  testing::internal::CaptureStdout();
  report_throughput(run.trainer, train->size());
  const std::string said = testing::internal::GetCapturedStdout(), result = read_file(folder + "/result.json");
  const bool link = comm->size() > 1;
  EXPECT_EQ(said.find("Measured over a simulated link between the nodes: 10 Gbit/s, 20 us\n") != said.npos, link)
      << said;
  EXPECT_EQ(result.find("\"simulated_link\": \"10 Gbit/s, 20 us\"") != result.npos, link) << result;
}

TEST_F(Shared, AStepFailsOnAllRanksWithTheSentenceOfTheLowestThatFailed) {
  collectively(comm.get(), [] {});
  const int from = comm->size() / 2;
  expect_on_every_rank(sentence_of([&] {
                         collectively(comm.get(), [&] {
                           if (comm->rank() >= from) fail("Rank {} says no.", comm->rank());
                         });
                       }),
                       fmt::format("Rank {} says no.", from));
  const std::string there = folder + "/no_folder/here";
  expect_on_every_rank(sentence_of([&] { collectively(comm.get(), [&] { fs::create_directory(there); }); }),
                       there + " can't be used: No such file or directory.");
}

}  // namespace
}  // namespace odori
