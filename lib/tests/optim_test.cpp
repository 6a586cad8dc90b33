// SPDX-License-Identifier: Apache-2.0
// Adam against its paper's algorithm in double, element by element, and parameter groups of momentum SGD.
#include "backend/reference/adam.h"
#include "backend/reference/momentum_sgd.h"
#include "optim/adam.h"
#include "train_support.h"

namespace odori {
namespace {

using namespace test;

/// A model whose gradients a test writes.
class OptimizerTest : public testing::Test {
 protected:
  OptimizerTest() { model_.to_device(pool_.use(0)); }
  std::size_t size() { return model_.memory().parameters.size(); }
  /// Gradients of update `t`: of both signs and many magnitudes, some exactly 0.
  std::vector<float> write_gradients(int t) {
    std::vector<float> g(size());
    for (std::size_t i = 0; i < g.size(); ++i) {
      const double phase = static_cast<double>(i) * 0.7 + t;
      g[i] = i % 11 == 0 ? 0 : static_cast<float>(std::sin(phase) * std::pow(10.0, static_cast<double>(i % 7) - 4));
    }
    model_.device().write(model_.memory().gradients, 0, g);
    return g;
  }
  std::vector<float> parameters() { return read(model_.device(), model_.memory().parameters); }

  DevicePool pool_{device_under_test()};
  Classifier model_{create_network("tiny", 10), 1, 7};
};

TEST_F(OptimizerTest, AdamFollowsItsPaper) {
  constexpr double rate = 0.001, decay = 0.01;
  Adam adam(static_cast<float>(rate));
  adam.setup(model_);
  adam.add_hook(std::make_unique<WeightDecay>(static_cast<float>(decay)));
  const std::vector<float> initial = parameters();
  std::vector<double> p(initial.begin(), initial.end()), m(p.size()), v(p.size());
  for (int t = 1; t <= 200; ++t) {
    const std::vector<float> written = write_gradients(t);
    std::vector<double> g(written.begin(), written.end());
    for (std::size_t i = 0; i < g.size(); ++i) g[i] += decay * p[i];
    reference::adam<double>(p, g, m, v, t, rate);
    ASSERT_TRUE(adam.update());
    const std::vector<float> seen = parameters();
    for (std::size_t i = 0; i < p.size(); ++i)
      ASSERT_NEAR(seen[i], p[i], 1e-4 * rate * t + 1e-7 * std::abs(p[i]) * t) << "element " << i << ", update " << t;
  }
  EXPECT_EQ(adam.n_updates(), 200);
}

TEST_F(OptimizerTest, AdamsFirstStepIsTheRateWhateverTheGradient) {
  Adam adam(0.5f);
  adam.setup(model_);
  const std::vector<float> before = parameters(), g = write_gradients(0);
  adam.update();
  const std::vector<float> after = parameters();
  for (std::size_t i = 0; i < g.size(); ++i)
    EXPECT_NEAR(after[i], before[i] - (g[i] > 0 ? 0.5 : g[i] < 0 ? -0.5 : 0), std::abs(g[i]) > 1e-5 ? 1e-3 : 0.5);
}

TEST_F(OptimizerTest, AdamUpdatesItsShardAndKeepsStateOfItAlone) {
  const Range shard{size() / 3, size() / 3 * 2};
  const std::vector<float> before = parameters();
  Adam adam(0.01f), whole(0.01f);
  adam.set_shard(shard);
  adam.setup(model_);
  for (int t = 1; t <= 3; ++t) {
    write_gradients(t);
    ASSERT_TRUE(adam.finish_exchange());
    adam.update(shard);
  }
  const std::vector<float> of_shard = parameters();
  const std::vector<std::vector<float>> state = adam.state();
  model_.device().write(model_.memory().parameters, 0, before);
  whole.setup(model_);
  for (int t = 1; t <= 3; ++t) write_gradients(t), whole.update();
  const std::vector<float> of_whole = parameters();
  for (std::size_t i = 0; i < before.size(); ++i)
    EXPECT_EQ(of_shard[i], shard.begin <= i && i < shard.end ? of_whole[i] : before[i]) << i;

  // An optimizer that restores the state continues with the same bits.
  Adam again(0.01f);
  again.set_shard(shard);
  again.setup(model_);
  again.restore(state);
  again.set_n_updates(3);
  std::vector<std::vector<float>> after;
  for (Adam* one : {&adam, &again}) {
    model_.device().write(model_.memory().parameters, 0, of_shard);
    write_gradients(4);
    ASSERT_TRUE(one->finish_exchange());
    one->update(shard);
    after.push_back(parameters());
  }
  EXPECT_EQ(after[0], after[1]);
  EXPECT_EQ(again.state(), adam.state());
}

/// Biases eight times as fast, with weight decay; a layer is frozen after the first update; all else by the settings of
/// the optimizer.
TEST_F(OptimizerTest, ParameterGroupsHaveTheirOwnSettings) {
  MomentumSGD sgd(0.02f, 0.9f, MomentumRule::nesterov);
  const auto ending = [](const char* end) { return [end](const std::string& name) { return name.ends_with(end); }; };
  EXPECT_EQ(sgd.add_group({.contains = ending("/b"), .rate_factor = 8, .weight_decay = 0.01f}), 1u);
  const std::size_t frozen = sgd.add_group({.contains = ending("conv2/W")});
  sgd.setup(model_);
  struct Expected {
    std::vector<double> p, v;
    double factor, decay;
  };
  const auto values = [&](const Buffer& buffer, const ParameterView& view) {
    return model_.graph().read_parameter(buffer, view);
  };
  std::vector<Expected> expected;
  for (const auto& [name, view] : model_.parameters()) {
    const std::vector<float> p = values(model_.memory().parameters, view);
    expected.push_back({{p.begin(), p.end()}, std::vector<double>(p.size()), 1, 0});
    if (name.ends_with("/b")) expected.back().factor = 8, expected.back().decay = 0.01;
  }
  for (int t = 1; t <= 3; ++t) {
    write_gradients(t);
    const double rate = 0.02 / t;  // which acts on the whole velocity
    sgd.set_learning_rate(static_cast<float>(rate));
    if (t == 2) sgd.group(frozen).rate_factor = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const auto& [name, view] = model_.parameters()[i];
      auto& [p, v, factor, decay] = expected[i];
      if (t == 2 && name.ends_with("conv2/W")) factor = 0;
      const std::vector<float> g = values(model_.memory().gradients, view);
      reference::nesterov_sgd<double>(p, {g.begin(), g.end()}, v, rate * factor, 0.9, decay);
    }
    sgd.update();
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const auto& [name, view] = model_.parameters()[i];
      const std::vector<float> seen = values(model_.memory().parameters, view);
      for (std::size_t k = 0; k < seen.size(); ++k)
        ASSERT_NEAR(seen[k], expected[i].p[k], 2e-6 * (1 + std::abs(expected[i].p[k])))
            << name << " " << k << ", " << t;
    }
  }
}

TEST_F(OptimizerTest, AGroupWithoutParametersIsRefusedAndSoAreTooManyGroups) {
  MomentumSGD sgd;
  const auto none = [](const std::string&) { return false; };
  sgd.add_group({.contains = none});
  EXPECT_SENTENCE(sgd.setup(model_), "Parameter group 1 contains none of the model's");
  EXPECT_SENTENCE(sgd.add_group({.contains = none}), "before optimizer.setup(model)");
  MomentumSGD many;
  for (int i = 0; i < 7; ++i) many.add_group({.contains = none});
  EXPECT_SENTENCE(many.add_group({.contains = none}), "at most 7 parameter groups");
  EXPECT_SENTENCE(MomentumSGD().add_group({}), "needs `contains`");
}

TEST_F(OptimizerTest, StateOfAnotherOptimizerIsRefused) {
  Adam adam;
  MomentumSGD momentum;
  adam.setup(model_);
  momentum.setup(model_);
  EXPECT_EQ(adam.state().size(), 2 * momentum.state().size());
  EXPECT_SENTENCE(adam.restore(momentum.state()), "of another network or another optimizer");
}

TEST(Optimizers, AreMadeByName) {
  for (const std::string& name : optimizer_names()) {
    const auto optimizer = create_optimizer(name, 0.25f);
    EXPECT_EQ(optimizer->name(), name);
    EXPECT_EQ(optimizer->learning_rate(), 0.25f);
  }
  EXPECT_SENTENCE(create_optimizer("sgd", 0.1f), "There is no optimizer \"sgd\". There are: momentum, adam.");
}

}  // namespace
}  // namespace odori
