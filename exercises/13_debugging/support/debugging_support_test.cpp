// SPDX-License-Identifier: Apache-2.0
// The updater with an exchange in the program: it trains as the library's multi-node optimizer does.
#include "debugging_support.h"

#include <gtest/gtest.h>

#include <sstream>

#include "distributed/multi_node_optimizer.h"
#include "train_support.h"

namespace odori {
namespace {

using namespace test;

/// Parameters after three updates on this rank's images.
std::vector<std::vector<float>> trained(Communicator& comm, bool by_the_library) {
  DevicePool pool({.request = DeviceRequest::cpu});
  Classifier model(create_network("tiny", 10), 4, 5);
  model.to_device(pool.use(0));
  std::unique_ptr<Optimizer> optimizer = std::make_unique<MomentumSGD>(0.05f);
  if (by_the_library) optimizer = create_multi_node_optimizer(std::move(optimizer), comm);
  optimizer->setup(model);
  SerialIterator iterator(every(images(24), comm.rank(), comm.size()), 4, {.shuffle = false});
  const auto average = [&](std::span<float> gradients) {
    comm.group().all_reduce(gradients);
    for (float& gradient : gradients) gradient /= static_cast<float>(comm.size());
  };
  const auto updater = by_the_library
                           ? std::make_unique<StandardUpdater>(iterator, *optimizer)
                           : std::unique_ptr<StandardUpdater>(new ExchangingUpdater(iterator, *optimizer, average));
  for (int i = 0; i < 3; ++i) updater->update();
  return model.state().parameters;
}

TEST(ExchangingUpdater, UpdatesByWhatTheExchangeMakesOfTheGradients) {
  const auto comm = create_communicator("flat");
  const auto expected = trained(*comm, true), seen = trained(*comm, false);
  ASSERT_EQ(seen.size(), expected.size());
  for (std::size_t i = 0; i < seen.size(); ++i)
    for (std::size_t j = 0; j < seen[i].size(); ++j) EXPECT_NEAR(seen[i][j], expected[i][j], 1e-5);
}

TEST(PrintEpochs, IsRankZerosAlone) {
  const auto comm = create_communicator("flat");
  const Folder folder;
  Training training({}, images(16));
  Trainer trainer(*training.updater, 1, folder.path());
  print_epochs(trainer, *comm);
  EXPECT_EQ(trainer.extensions().size(), comm->rank() == 0 ? 2u : 0u);
}

TEST(Diagnoses, AreShownOnlyToTheGrader) {
  EXPECT_FALSE(report_diagnoses({[]() -> Diagnosis { throw std::runtime_error("It was asked."); }}));
}

}  // namespace
}  // namespace odori
