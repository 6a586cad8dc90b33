// SPDX-License-Identifier: Apache-2.0
// After the first iterations, training takes no memory: tensors, masks and scratch memory are all there.
//
// What remains is oneDNN's own, for the length of a call: tables of arguments, and the packed matrices of its sgemm in
// the linear layers, together far smaller than one tensor.
#include <gtest/gtest.h>

#include "backend/device_pool.h"
#include "bench/allocations.h"
#include "bench/measure.h"
#include "model/classifier.h"
#include "optim/momentum_sgd.h"
#include "optim/weight_decay.h"

namespace odori {
namespace {

class AllocationTest : public testing::TestWithParam<int> {};

TEST_P(AllocationTest, AnIterationTakesNoMemory) {
  constexpr int batch_size = 64;
  constexpr std::size_t largest_tensor = std::size_t{batch_size} * 32 * 32 * 32 * sizeof(float);
  DevicePool pool({.request = DeviceRequest::cpu, .threads_per_device = GetParam()});
  const bench::RandomImages images(batch_size);
  const Batch batch = images.batch(batch_size);
  Classifier model(create_network("mid", 10), batch_size, 0);
  bench::count_allocations();
  model.to_device(pool.use(0));
  EXPECT_GE(bench::allocations().bytes, largest_tensor) << "The counting itself doesn't work.";
  MomentumSGD optimizer(0.05f);
  optimizer.setup(model);
  optimizer.add_hook(std::make_unique<WeightDecay>(5e-4f));
  const auto iterate = [&] {
    model.forward_backward(batch);
    optimizer.update();
    model.take_metrics();
  };

  iterate();
  iterate();
  bench::count_allocations();
  for (int i = 0; i < 5; ++i) iterate();
  const bench::Allocations taken = bench::allocations();
  EXPECT_EQ(taken.kept, 0);
  EXPECT_LT(taken.largest, largest_tensor / 4);
}

INSTANTIATE_TEST_SUITE_P(Threads, AllocationTest, testing::Values(1, 2));

}  // namespace
}  // namespace odori
