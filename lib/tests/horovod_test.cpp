// SPDX-License-Identifier: Apache-2.0
// Horovod's names do what Horovod's do: against numbers that are written out.
#include "horovod/horovod.h"

#include <gtest/gtest.h>

#include <numeric>

#include "train_support.h"

namespace odori {
namespace {

using namespace test;

class HorovodWay : public testing::Test {
 protected:
  std::unique_ptr<Optimizer> wrap(Classifier& model, float rate, const horovod::DistributedOptions& options = {}) {
    model.to_device(pool.use(hvd.local_rank()));
    auto optimizer = hvd.DistributedOptimizer(std::make_unique<MomentumSGD>(rate), options);
    optimizer->setup(model);
    return optimizer;
  }
  SerialIterator of_rank(int rank) const { return {every(train, rank, hvd.size()), batch, {.shuffle = false}}; }
  static constexpr int batch = 4;
  const horovod::Horovod hvd = horovod::init("flat");
  DevicePool pool{device_under_test()};
  DatasetPtr train = images(96);
};

TEST_F(HorovodWay, TellsWhoIsWhoAndReducesNumbers) {
  const auto comm = create_communicator("flat");
  EXPECT_EQ(hvd.rank(), comm->rank());
  EXPECT_EQ(hvd.size(), comm->size());
  EXPECT_EQ(hvd.local_rank(), comm->intra_rank());
  EXPECT_EQ(hvd.local_size(), comm->intra_size());
  EXPECT_EQ(hvd.cross_rank(), comm->inter_rank());
  EXPECT_EQ(hvd.cross_size(), comm->inter_size());
  EXPECT_EQ(hvd.allreduce(hvd.rank() + 1), 0.5 * (hvd.size() + 1));
  EXPECT_EQ(hvd.allreduce(hvd.rank() + 1, horovod::Sum), 0.5 * hvd.size() * (hvd.size() + 1));
}

TEST_F(HorovodWay, AveragesWhatWasObserved) {
  Folder folder;
  Training training({}, train);
  Trainer trainer(*training.updater, 1, folder.path());
  trainer.observation() = {{"main/loss", 2.0 * hvd.rank()}, {"validation/main/accuracy", 0.5}};
  horovod::MetricAverage(hvd).run(trainer);
  EXPECT_EQ(trainer.observation(),
            (std::map<std::string, double>{{"main/loss", hvd.size() - 1.0}, {"validation/main/accuracy", 0.5}}));
}

TEST_F(HorovodWay, EveryRankGetsWhatTheRootHas) {
  const int root = hvd.size() - 1;
  const auto number_of = [](int rank) { return static_cast<float>(rank + 3); };
  Classifier model(create_network("mid", 10), batch, 7);
  const auto optimizer = wrap(model, 0.1f * number_of(hvd.rank()));
  Device& device = model.device();
  Buffer &parameters = model.memory().parameters, &statistics = model.memory().statistics;
  device.write(parameters, 0, std::vector<float>(parameters.size(), number_of(hvd.rank())));
  device.write(statistics, 0, std::vector<float>(statistics.size(), number_of(hvd.rank())));
  std::vector<std::vector<float>> velocities = optimizer->state();
  for (auto& of_parameter : velocities) std::fill(of_parameter.begin(), of_parameter.end(), number_of(hvd.rank()));
  optimizer->restore(velocities);

  hvd.broadcast_parameters(model, root);
  hvd.broadcast_optimizer_state(*optimizer, root);
  EXPECT_EQ(read(device, parameters), std::vector<float>(parameters.size(), number_of(root)));
  EXPECT_EQ(read(device, statistics), std::vector<float>(statistics.size(), number_of(root)));
  for (auto& of_parameter : velocities) std::fill(of_parameter.begin(), of_parameter.end(), number_of(root));
  EXPECT_TRUE(optimizer->state() == velocities);
  EXPECT_EQ(optimizer->learning_rate(), 0.1f * number_of(root));
}

TEST_F(HorovodWay, AnUpdateIsByTheMeanOverAllPassesOfAllRanks) {
  constexpr float rate = 0.05f;
  for (const Dtype compression : {horovod::Compression::none, horovod::Compression::fp16})
    for (const int passes : {1, 3}) {
      Classifier model(create_network("tiny", 10), batch, 7), plain(create_network("tiny", 10), batch, 7);
      const auto optimizer = wrap(model, rate, {compression, passes});
      plain.to_device(pool.current());
      std::vector<double> expected;
      double largest = 0;
      for (const float p : read(plain.device(), plain.memory().parameters)) expected.push_back(p);
      for (int rank = 0; rank < hvd.size(); ++rank) {
        SerialIterator iterator = of_rank(rank);
        for (int pass = 0; pass < passes; ++pass) {
          plain.forward_backward(*iterator.next());
          const std::vector<float> gradient = read(plain.device(), plain.memory().gradients);
          for (std::size_t i = 0; i < expected.size(); ++i) {
            expected[i] -= rate * gradient[i] / (passes * hvd.size());
            largest = std::max(largest, std::abs(double{gradient[i]}));
          }
        }
      }
      StandardUpdater updater(of_rank(hvd.rank()), *optimizer);
      updater.update();
      double off = 0;
      const std::vector<float> seen = read(model.device(), model.memory().parameters);
      for (std::size_t i = 0; i < seen.size(); ++i) off = std::max(off, std::abs(seen[i] - expected[i]));
      // Each rank's part is rounded to 11 bits, and each sum on the way.
      const double fp16 = (hvd.size() + 1) * 0x1p-11 * rate * largest;
      if (compression == horovod::Compression::none) {
        EXPECT_LT(off, rounding()) << passes;
      } else {
        EXPECT_LT(off, fp16) << passes;
        EXPECT_GT(off, 0.01 * fp16) << "told apart from fp32";
      }
    }
}

}  // namespace
}  // namespace odori
