// SPDX-License-Identifier: Apache-2.0
// How ranks exchange gradients: accumulated, in 16 bits, a step late, in buckets, or a part each: all against updates
// that are written out as plain arithmetic.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <string_view>

#include "bench/allocations.h"
#include "distributed/snapshot.h"
#include "exchange_training.h"
#include "own_strategy.h"
#include "trace/trace.h"
#include "train/log_report.h"
#include "train/throughput.h"

namespace odori {
namespace {

using namespace test;

class Exchange : public testing::TestWithParam<std::string> {
 protected:
  std::vector<int> one_each() const { return std::vector<int>(static_cast<std::size_t>(comm->size()), 1); }
  void expect_same_on_all_ranks(const std::vector<float>& numbers) {
    const auto* const bytes = reinterpret_cast<const char*>(numbers.data());
    const std::size_t own = std::hash<std::string_view>()({bytes, numbers.size() * sizeof(float)});
    for (const std::size_t of_rank : comm->all_gather(own)) EXPECT_EQ(of_rank, own);
  }
  /// Rank 0's folder.
  std::string shared(const Folder& own) {
    std::array<char, 256> path{};
    std::strcpy(path.data(), own.path().c_str());
    comm->broadcast(std::as_writable_bytes(std::span(path)));
    return path.data();
  }
  std::unique_ptr<Communicator> comm = create_communicator(GetParam());
};
INSTANTIATE_TEST_SUITE_P(Communicators, Exchange,
                         testing::ValuesIn(communicators_under_test({"flat", "ring", "pure_nccl"})),
                         [](const auto& info) { return info.param; });

TEST_P(Exchange, OfSeveralBatchesTakesTheMeanOverAllOfAllRanks) {
  for (const bool in_buckets : {false, true}) {
    std::vector<int> batches = one_each();
    for (std::size_t r = 0; r < batches.size(); ++r) batches[r] = 1 + static_cast<int>(r) % 3;  // some have less data
    RankTraining many(*comm, {.bucket_mib = in_buckets}, "tiny", batches[static_cast<std::size_t>(comm->rank())]);
    WrittenOut plain(comm->size());
    for (int i = 0; i < 5; ++i) {
      many.updater->update();
      plain.update(plain.gradient(batches));
      EXPECT_LT(plain.difference(many.parameters()), rounding()) << "after update " << i + 1;
    }
    expect_same_on_all_ranks(many.parameters());
  }
}

TEST_P(Exchange, ByAStrategyOutsideTheLibrary) {
  RankTraining many(std::make_unique<EverySecondIteration>(), *comm);
  WrittenOut plain(comm->size());
  std::vector<int> batches = one_each();
  for (int& n : batches) n = 2;
  for (int i = 0; i < 3; ++i) {
    const std::vector<float> before = many.parameters();
    many.updater->update();
    EXPECT_TRUE(many.parameters() == before) << "the first iteration of two updates nothing";
    many.updater->update();
    plain.update(plain.gradient(batches));
    EXPECT_LT(plain.difference(many.parameters()), rounding()) << "after update " << i + 1;
  }
  expect_same_on_all_ranks(many.parameters());
  EXPECT_EQ(many.updater->description(), "1 device, every second iteration");
}

TEST_P(Exchange, IsOneStepLateWithDoubleBuffering) {
  RankTraining many(*comm, {.double_buffering = true});
  WrittenOut plain(comm->size());
  many.updater->update();
  EXPECT_EQ(plain.difference(many.parameters()), 0) << "the first iteration updates nothing";
  std::vector<double> before = plain.gradient(one_each());
  for (int i = 2; i <= 7; ++i) {
    many.updater->update();
    const std::vector<double> now = plain.gradient(one_each());  // at the weights that the update leaves behind
    plain.update(before);
    before = now;
    EXPECT_LT(plain.difference(many.parameters()), rounding()) << "after iteration " << i;
  }
  EXPECT_EQ(many.updater->iteration(), 7);
  expect_same_on_all_ranks(many.parameters());
}

TEST_P(Exchange, InBucketsLeavesTheSameWeights) {
  const bool same_order = comm->size() <= 2;  // of adding: other slices may have another
  RankTraining at_once(*comm, {}, "mid"), in_buckets(*comm, {.bucket_mib = 1}, "mid");
  for (int i = 0; i < (same_order ? 2 : 1); ++i) {
    at_once.updater->update();
    in_buckets.updater->update();
  }
  if (same_order)
    EXPECT_TRUE(at_once.parameters() == in_buckets.parameters());
  else
    EXPECT_LT(difference(at_once.model.state(), in_buckets.model.state()), rounding());
  expect_same_on_all_ranks(in_buckets.parameters());
}

TEST_P(Exchange, IsSetUpForTheLastModelAlone) {
  RankTraining once(*comm, {.bucket_mib = 1}), twice(*comm, {.bucket_mib = 1});
  Classifier other(create_network("mid", 10), batch, 7);
  other.to_device(twice.pool.use(comm->intra_rank()));
  twice.optimizer->setup(other);
  twice.optimizer->setup(twice.model);
  for (RankTraining* training : {&once, &twice}) training->updater->update();
  EXPECT_TRUE(once.parameters() == twice.parameters());
}

TEST_P(Exchange, OfPartsLeavesTheSameWeightsAndTakesAPartOfTheMemory) {
  DevicePool pool(device_under_test());
  Device& device = pool.use(comm->intra_rank());
  std::size_t floats = 0;
  const auto kept_by = [&](const ExchangeOptions& options) {  // an optimizer, for as long as it is there
    Classifier model(create_network("vgg", 10), 1, 7);        // large enough for what else is allocated not to count
    model.to_device(device);
    floats = model.memory().parameters.size();
    const auto optimizer = create_multi_node_optimizer(std::make_unique<MomentumSGD>(rate), *comm, options);
    bench::count_allocations();
    optimizer->setup(model);
    return static_cast<double>(bench::allocations().kept);
  };
  if (!on_gpus()) {  // the host's memory is counted
    kept_by({});     // what MPI keeps for later
    const double velocities = static_cast<double>(floats * sizeof(float));
    const double huge_pages = 4 << 20;  // long vectors are rounded up to one, and are aligned in a mapping by one more
    EXPECT_NEAR(kept_by({}), velocities, 0.05 * velocities + huge_pages);
    EXPECT_NEAR(kept_by({.sharded = true}), velocities / comm->size(), 0.05 * velocities / comm->size() + huge_pages);
  }

  RankTraining tiny(*comm, {.sharded = true});
  WrittenOut plain(comm->size());
  for (int i = 0; i < 6; ++i) {
    tiny.updater->update();
    plain.update(plain.gradient(one_each()));
    EXPECT_LT(plain.difference(tiny.parameters()), rounding()) << "after update " << i + 1;
  }
  expect_same_on_all_ranks(tiny.parameters());
}

TEST_P(Exchange, ByAdamLeavesTheWeightsOfItsArithmetic) {
  for (const ExchangeOptions& options : {ExchangeOptions{}, {.bucket_mib = 1}, {.sharded = true}}) {
    RankTraining many(*comm, options, "tiny", 2, images(96), "adam");
    WrittenOut plain(comm->size(), images(96), "adam");
    const std::vector<int> two_each(static_cast<std::size_t>(comm->size()), 2);
    for (int i = 0; i < 6; ++i) {
      many.updater->update();
      plain.update(plain.gradient(two_each));
      EXPECT_LT(plain.difference(many.parameters()), rounding()) << "after update " << i + 1;
    }
    EXPECT_EQ(many.optimizer->n_updates(), 6);
    expect_same_on_all_ranks(many.parameters());
  }
  RankTraining late(*comm, {.double_buffering = true}, "tiny", {}, images(96), "adam");
  WrittenOut plain(comm->size(), images(96), "adam");
  late.updater->update();
  EXPECT_EQ(late.optimizer->n_updates(), 0) << "the first iteration updates nothing";
  const std::vector<double> first = plain.gradient(one_each());
  late.updater->update();
  plain.update(first);
  EXPECT_LT(plain.difference(late.parameters()), rounding());
}

TEST_P(Exchange, In16BitsIsAsRightAsTheseAre) {
  for (const ExchangeOptions& options :
       {ExchangeOptions{.dtype = Dtype::fp16}, {.dtype = Dtype::bf16}, {.dtype = Dtype::fp16, .bucket_mib = 1}}) {
    const Dtype dtype = options.dtype;
    RankTraining many(*comm, options);
    WrittenOut plain(comm->size());
    // Each rank's part is rounded, and each sum on the way; momentum adds up the gradients of all updates.
    const double unit = std::ldexp(1.0, dtype == Dtype::fp16 ? -11 : -8), n_ranks = comm->size();
    for (int i = 1; i <= 4; ++i) {
      many.updater->update();
      plain.update(plain.gradient(one_each()));
      const double seen = plain.difference(many.parameters());
      EXPECT_LT(seen, i * (n_ranks + 1) * unit * rate * plain.largest_gradient) << to_string(dtype) << ", update " << i;
      EXPECT_GT(seen, 0.01 * unit * rate * plain.largest_gradient) << to_string(dtype) << " is told apart from fp32";
    }
    expect_same_on_all_ranks(many.parameters());
  }
}

TEST_P(Exchange, UpdatesNothingByWhatHalvesCannotHold) {
  for (const ExchangeOptions& options : {ExchangeOptions{.dtype = Dtype::fp16},
                                         {.dtype = Dtype::bf16},
                                         {.dtype = Dtype::fp16, .bucket_mib = 1},
                                         {.dtype = Dtype::fp16, .double_buffering = true}}) {
    const Dtype dtype = options.dtype;
    RankTraining many(*comm, options);
    const std::vector<float> before = many.parameters();
    many.model.device().write(many.model.memory().gradients, 3, std::vector<float>(2, 70000.0f * 4));
    testing::internal::CaptureStderr();
    if (options.double_buffering) {
      EXPECT_FALSE(many.optimizer->update()) << "it has no mean yet";
    }
    EXPECT_EQ(many.optimizer->update(), dtype == Dtype::bf16);
    EXPECT_EQ(many.optimizer->n_updates(), dtype == Dtype::bf16);
    EXPECT_EQ(many.optimizer->exchange()->report().overflows, dtype == Dtype::fp16);
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_EQ(many.parameters() == before, dtype == Dtype::fp16);
    const bool tells = dtype == Dtype::fp16 && comm->rank() == 0;
    EXPECT_EQ(said.find("2 of the 5146 gradients of an update are infinite or nan in fp16") != std::string::npos, tells)
        << said;
  }
}

TEST_P(Exchange, GoesOnExactlyAfterASnapshot) {
  Folder own;
  const std::string folder = shared(own);
  const DatasetPtr train = images(static_cast<std::size_t>(18 * comm->size()));  // epochs end within a batch
  enum class Run { whole, first, second };  // the first part writes snapshots, the second one goes on from there
  const auto run = [&](const ExchangeOptions& options, const std::string& out, int epochs, Run which,
                       const std::string& optimizer = "momentum") {
    auto training = std::make_unique<RankTraining>(*comm, options, "tiny", 3, train, optimizer);
    Trainer trainer(*training->updater, epochs, out);
    if (which == Run::first) trainer.extend(Snapshot(*comm));
    if (which == Run::second) resume(out, trainer, comm.get());
    trainer.run();
    comm->barrier();
    return training;
  };
  const std::vector<std::pair<std::string, ExchangeOptions>> all{{"synchronous", {}},
                                                                 {"bucketed", {.dtype = Dtype::bf16, .bucket_mib = 1}},
                                                                 {"buffered", {.double_buffering = true}},
                                                                 {"sharded", {.sharded = true}}};
  for (const auto& [name, options] : all) {
    for (const std::string& optimizer : optimizer_names()) {
      const std::string out = folder + "/" + name + (optimizer == "momentum" ? "" : "_" + optimizer);
      const auto whole = run(options, out + "_whole", 3, Run::whole, optimizer);
      run(options, out, 1, Run::first, optimizer);
      const auto second = run(options, out, 3, Run::second, optimizer);
      EXPECT_TRUE(whole->parameters() == second->parameters()) << out;
      EXPECT_TRUE(whole->optimizer->state() == second->optimizer->state()) << out;
      EXPECT_EQ(whole->updater->iteration(), second->updater->iteration()) << out;
    }
  }
  EXPECT_SENTENCE(run({}, folder + "/sharded", 3, Run::second),
                  "3 batches an update, sharded a rank, this one has 1 device,");
  comm->barrier();
}

TEST_P(Exchange, CountsOverflowsAndSaysSoAtTheEnd) {
  Folder own;
  const std::string folder = shared(own);
  const DatasetPtr train = images(static_cast<std::size_t>(8 * comm->size()));
  const auto run = [&](int epochs, bool goes_on) {
    RankTraining many(*comm, {.dtype = Dtype::fp16}, "tiny", {}, train);
    Trainer trainer(*many.updater, epochs, folder);
    trainer.extend(Snapshot(*comm));
    if (comm->rank() == 0) trainer.extend(LogReport());
    if (goes_on) {
      resume(folder, trainer, comm.get());
    } else {
      const trace::File trace(own / "trace", comm->rank(), comm->size());
      many.model.device().write(many.model.memory().gradients, 3, std::vector<float>(1, 70000.0f * 4));
      many.optimizer->update();
    }
    trainer.run();
    if (comm->rank() == 0) report_throughput(trainer, train->size());
    comm->barrier();
  };
  testing::internal::CaptureStderr();
  run(1, false);
  testing::internal::GetCapturedStderr();
  EXPECT_NE(read_file(fmt::format("{}/trace.{}.json", own / "trace", comm->rank())).find(R"("name":"overflow")"),
            std::string::npos);
  testing::internal::CaptureStdout();
  run(2, true);
  const std::string said = testing::internal::GetCapturedStdout();
  if (comm->rank() > 0) return;
  EXPECT_NE(said.find("1 of 4 updates were left out: a gradient was infinite or nan in 16 bits."), said.npos) << said;
  EXPECT_NE(read_file(folder + "/result.json").find("\"overflows\": 1,"), std::string::npos);
}

TEST(Accumulation, SeesAnEpochThatBeginsWithinAnUpdate) {
  DevicePool pool(device_under_test());
  Classifier model(create_network("tiny", 10), batch, 7);
  model.to_device(pool.use(0));
  MomentumSGD optimizer(rate);
  optimizer.setup(model);
  StandardUpdater updater({images(20), batch, {.shuffle = false}}, optimizer, 3);  // 5 batches an epoch
  std::vector<bool> seen;
  for (int i = 0; i < 5; ++i) {
    updater.update();
    seen.push_back(updater.is_new_epoch());
  }
  EXPECT_EQ(seen, (std::vector<bool>{false, true, false, true, true}));
  EXPECT_EQ(updater.epoch(), 3);
  EXPECT_EQ(updater.description(), "1 device, 3 batches an update");
}

TEST(ExchangeOptions, ThatCannotBeAreRefused) {
  const auto comm = create_communicator("flat");
  EXPECT_SENTENCE(RankTraining(*comm, {.double_buffering = true, .bucket_mib = 25}), "two ways to hide one exchange");
  EXPECT_SENTENCE(RankTraining(*comm, {.dtype = Dtype::fp16, .sharded = true}), "--sharded exchanges shards");
  EXPECT_SENTENCE(create_multi_node_optimizer(nullptr, *comm), "was given no optimizer");
  MomentumSGD alone;
  EXPECT_SENTENCE(RankTraining(*comm, {.accumulate = 1000}), "takes more than an epoch");
  EXPECT_SENTENCE(alone.set_exchange({.sharded = true}), "This optimizer exchanges no gradients");
  const auto hierarchical = create_communicator("hierarchical");
  EXPECT_SENTENCE(RankTraining(*hierarchical, {.dtype = Dtype::fp16}),
                  "The communicator hierarchical exchanges gradients in fp32 alone.");
}

TEST(ExchangeOptions, ThatRanksDoNotShareAreNamed) {
  const auto comm = create_communicator("flat");
  if (comm->size() == 1) return;
  const bool last = comm->rank() == comm->size() - 1;
  EXPECT_SENTENCE(RankTraining(*comm, last ? ExchangeOptions{.dtype = Dtype::bf16} : ExchangeOptions{}),
                  comm->size() == 2 ? "in different ways: all at once, in fp32 (rank 0); bf16 (rank 1). Give every rank"
                                    : "in different ways: all at once, in fp32 (rank 0, 1");
  EXPECT_SENTENCE(RankTraining(*comm, {.bucket_mib = last ? 25 : 0}), "buckets of 25 MiB (rank ");
  RankTraining(*comm, {.bucket_mib = 25});  // and the ranks are still in step
}

TEST(ExchangeOptions, ACommunicatorThatExchangesNothingIsTold) {
  const auto said = [](const char* name) {
    const auto comm = create_communicator(name);
    testing::internal::CaptureStdout();
    RankTraining training(*comm, {});
    return testing::internal::GetCapturedStdout();
  };
  const auto all = create_communicator("flat");
  EXPECT_EQ(said("dummy").starts_with("The communicator dummy exchanges nothing"), all->size() > 1 && all->rank() == 0);
  EXPECT_EQ(said("flat"), "");
}

}  // namespace
}  // namespace odori
