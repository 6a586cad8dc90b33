// SPDX-License-Identifier: Apache-2.0
// The cut into stages; a stage's steps and what it refuses; schedules in virtual time; gradients next to one device's.
#include "pipeline_support.h"

#include <gtest/gtest.h>

#include <numeric>

#include "numbers/random.h"
#include "sentence_of.h"
#include "virtual_pipeline.h"

namespace odori {
namespace {

using test::sentence_of;

double area(const mlp::Layer& layer, bool) { return static_cast<double>(layer.in) * static_cast<double>(layer.out); }

/// All forwards, then all backwards, the newest first.
Order all_then_all(int m) {
  Order order(2 * static_cast<std::size_t>(m));
  for (int i = 0; i < m; ++i) {
    order[static_cast<std::size_t>(i)] = {Phase::forward, i};
    order[order.size() - 1 - static_cast<std::size_t>(i)] = {Phase::backward, i};
  }
  return order;
}

/// A micro-batch is forwarded as soon as it may be held: p - rank of them.
Order few_at_once(int rank, int p, int m) {
  Order order;
  for (int next = 0, done = 0; done < m;)
    if (next < m && next - done < p - rank)
      order.push_back({Phase::forward, next++});
    else
      order.push_back({Phase::backward, done++});
  return order;
}

double formula(int p, int m) { return 1 - m / (m + p - 1.0); }

/// With the messages of each step in one call, as far as there are two.
void iterate(const Order& order, Stage& stage, Peers& peers) {
  const bool first = peers.rank() == 0, last = peers.rank() + 1 == peers.size();
  Message made;
  const auto get = [&](bool any, int from, std::size_t n) {
    std::vector<float> values(any ? n : 0);
    if (any && made.to != nobody) peers.exchange(made.values, made.to, values, from);
    if (any && made.to == nobody) peers.receive(values, from);
    if (const auto& [waiting, to] = made; !any && to != nobody) peers.send(waiting, to);
    return values;
  };
  for (const auto [pass, i] : order) {
    if (pass == Phase::forward) {
      std::vector<float> x = get(!first, peers.rank() - 1, stage.input_size());
      if (first) x = stage.images(i);
      made.values = stage.forward(i, x);
      made.to = last ? nobody : peers.rank() + 1;
    } else {
      std::vector<float> dy = get(!last, peers.rank() + 1, stage.output_size());
      if (last) dy = stage.loss_gradient(i);
      made.values = stage.backward(i, dy);
      made.to = first ? nobody : peers.rank() - 1;
    }
  }
  get(false, nobody, 0);
  const auto parts = static_cast<float>(stage.micro_batches());
  for (float& value : stage.gradients) value *= 1 / parts;
}

const PipelineFunctions functions{area, all_then_all, few_at_once, formula, iterate};

mlp::Images random_images(std::size_t n, std::size_t pixels, int classes) {
  mlp::Images images{std::vector<float>(n * pixels), std::vector<int>(n)};
  RandomSequence(3, RandomUse::synthetic_data).fill_normal(images.x, 1.0f);
  for (std::size_t i = 0; i < n; ++i) images.labels[i] = static_cast<int>(i) % classes;
  return images;
}

TEST(Cut, MakesTheLargestCostAsSmallAsPossible) {
  const std::vector<mlp::Layer> layers =
      mlp::make_layers(std::vector<std::size_t>{5, 1, 1, 1, 1, 4, 1});  // 5 1 1 1 4 4
  const auto begins = [&](int p) {
    std::vector<std::size_t> all;
    for (const Range& range : cut(layers, area, p)) all.push_back(range.begin);
    EXPECT_EQ(cut(layers, area, p).back().end, layers.size());
    return all;
  };
  EXPECT_EQ(begins(1), (std::vector<std::size_t>{0}));
  EXPECT_EQ(begins(2), (std::vector<std::size_t>{0, 4})) << "8 and 8";
  EXPECT_EQ(begins(3), (std::vector<std::size_t>{0, 2, 5})) << "6, 6 and 4";
  EXPECT_EQ(begins(6), (std::vector<std::size_t>{0, 1, 2, 3, 4, 5}));
  const std::vector<mlp::Layer> first_is_large = mlp::make_layers(std::vector<std::size_t>{8, 1, 1, 1, 1, 1});
  EXPECT_EQ(cut(first_is_large, area, 3).at(2).begin, 3u) << "8, 2 and 2";
  EXPECT_NE(sentence_of([&] { cut(layers, area, 7); }).find("6 layers can't be cut into 7 stages"), std::string::npos);
  EXPECT_NE(sentence_of([&] {
              cut(
                  layers, [](const mlp::Layer&, bool) { return 0.0; }, 2);
            }).find("cost_of() is 0"),
            std::string::npos);
}

TEST(Stage, RefusesWhatIsNotItsTurn) {
  const std::vector<mlp::Layer> layers = mlp::make_layers(std::vector<std::size_t>{6, 5, 4, 3});
  Stage first(layers, {0, 2}, 0), last(layers, {2, 3}, 0);
  EXPECT_NE(sentence_of([&] { first.begin(random_images(7, 6, 3), 2); }).find("7 images can't be split into 2"),
            std::string::npos);
  for (Stage* stage : {&first, &last}) stage->begin(random_images(6, 6, 3), 3);
  EXPECT_EQ(first.input_size(), 12u);
  EXPECT_EQ(first.output_size(), 8u);
  const auto refused = [](auto call, const char* words) {
    EXPECT_NE(sentence_of(call).find(words), std::string::npos) << sentence_of(call);
  };
  refused([&] { first.images(3); }, "there is no such micro-batch. They are counted from 0 to 2.");
  refused([&] { first.backward(0, std::vector<float>(8)); }, "no activations of micro-batch 0 are held");
  refused([&] { last.forward(1, std::vector<float>(12)); }, "the input has 12 values, but this stage takes 8");
  const std::vector<float> middle = first.forward(1, first.images(1));
  refused([&] { first.forward(1, first.images(1)); }, "the activations of micro-batch 1 are held already");
  refused([&] { first.loss_gradient(1); }, "The loss is known on the last rank alone");
  refused([&] { last.loss_gradient(1); }, "no activations of micro-batch 1");
  last.forward(1, middle);
  refused([&] { first.backward(1, std::vector<float>(6)); },
          "the gradient has 6 values, but this stage's output has 8");
  EXPECT_EQ(last.backward(1, last.loss_gradient(1)).size(), 8u);
  EXPECT_TRUE(first.backward(1, std::vector<float>(8)).empty()) << "nobody trains images";
  EXPECT_EQ(first.most_held(), 1);
}

TEST(Pipeline, HasTheGradientsOfOneDevice) {
  const auto comm = create_communicator("flat");
  const std::vector<mlp::Layer> layers = mlp::make_layers(std::vector<std::size_t>{6, 5, 7, 4, 3});
  MpiPeers peers(*comm);
  for (const int m : {1, 2, 5})
    for (const bool gpipe : {true, false}) {
      Stage stage(layers, cut(layers, area, comm->size())[static_cast<std::size_t>(comm->rank())], 11),
          whole(layers, {0, layers.size()}, 11);
      const mlp::Images images = random_images(10, 6, 3);
      stage.begin(images, m);
      iterate(functions.order(gpipe, comm->rank(), comm->size(), m), stage, peers);
      whole.begin(images, 1);
      whole.forward(0, whole.images(0));
      whole.backward(0, whole.loss_gradient(0));
      for (std::size_t i = 0; i < stage.gradients.size(); ++i)
        EXPECT_NEAR(stage.gradients[i], whole.gradients[stage.range().begin + i], 1e-6) << m << ' ' << i;
      EXPECT_EQ(stage.most_held(), gpipe ? m : std::min(m, comm->size() - comm->rank()));
      if (!stage.is_last()) continue;
      EXPECT_NEAR(stage.loss().mean, whole.loss().mean, 1e-6);
      EXPECT_EQ(stage.loss().correct, whole.loss().correct);
    }
}

TEST(MpiPeers, RefuseRanksThatDoNotExist) {
  const auto comm = create_communicator("flat");
  MpiPeers peers(*comm);
  std::vector<float> values(1), others(1);
  for (const int rank : {-1, comm->size(), comm->rank()}) {
    EXPECT_NE(sentence_of([&] { peers.send(values, rank); }).find("send: rank"), std::string::npos);
    EXPECT_NE(sentence_of([&] { peers.receive(values, rank); }).find("receive: rank"), std::string::npos);
    EXPECT_NE(sentence_of([&] { peers.exchange(values, rank, others, rank); }).find("exchange: rank"),
              std::string::npos);
  }
}

TEST(Schedules, AreDrawnInVirtualTime) {
  const auto comm = create_communicator("flat");
  if (comm->rank() == 0) testing::internal::CaptureStdout();
  show_schedules(functions, 4, *comm);
  if (comm->rank() != 0) return;
  const std::string text = testing::internal::GetCapturedStdout();
  const char* const expected[] = {
      "GPipe: 12 units of time, ranks idle for 0.0 % of it (your formula: 0.0 %)\n  rank 0  ABCDddccbbaa  holds 4\n"
      "1F1B: 12 units of time, ranks idle for 0.0 % of it (your formula: 0.0 %)\n  rank 0  AaaBbbCccDdd  holds 1\n",
      "GPipe: 15 units of time, ranks idle for 20.0 % of it (your formula: 20.0 %)\n"
      "  rank 0  ABCD...ddccbbaa  holds 4\n  rank 1  .ABCDddccbbaa..  holds 4\n"
      "1F1B: 15 units of time, ranks idle for 20.0 % of it (your formula: 20.0 %)\n"
      "  rank 0  AB..aaCbbDcc.dd  holds 2\n  rank 1  .AaaBbbCccDdd..  holds 1\n",
      "ranks idle for 33.3 % of it (your formula: 33.3 %)\n"};
  EXPECT_NE(text.find(expected[comm->size() - 1]), std::string::npos) << text;
}

TEST(Schedules, TakeTheirMessagesTimeToo) {
  const cost::Link link{.latency = 0.5, .bandwidth = 8};  // one value: 1 s
  const auto seconds = [&](bool gpipe, int p, int m) {
    const cost::Cluster cluster{.nodes = p, .between = link};
    return run_in_virtual_time(functions, orders_of(functions, gpipe, p, m), m, cluster, 10, {}, {}).result.seconds;
  };
  EXPECT_DOUBLE_EQ(seconds(true, 4, 1), 4 * (10 + 20) + 6 * 1) << "there and back";
  EXPECT_DOUBLE_EQ(seconds(false, 4, 1), 4 * (10 + 20) + 6 * 1);
  for (const bool gpipe : {true, false}) {
    EXPECT_GT(seconds(gpipe, 64, 8), (8 + 63) * 30) << "the bubble without messages";
    EXPECT_LT(seconds(gpipe, 64, 8), (8 + 63) * (30 + 4));
  }
}

/// Forgets that each micro-batch adds the mean over its own images.
void sum_up(const Order& order, Stage& stage, Peers& peers) {
  iterate(order, stage, peers);
  for (float& value : stage.gradients) value *= static_cast<float>(stage.micro_batches());
}
/// The last stage takes another input for micro-batch 1 than it was sent.
void change_an_input(const Order& order, Stage& stage, Peers& peers) {
  std::vector<float> received(1);
  if (!stage.is_last()) return iterate(order, stage, peers);
  for (const auto [pass, i] : order)
    if (pass == Phase::forward) {
      peers.receive(received, peers.rank() - 1);
      stage.forward(i, {received.front() + (i == 1 ? 0.5f : 0.0f)});
    } else {
      peers.send(stage.backward(i, stage.loss_gradient(i)), peers.rank() - 1);
    }
  for (float& value : stage.gradients) value /= static_cast<float>(stage.micro_batches());
}

TEST(Schedules, HaveTheGradientsOfOneDeviceOnManySimulatedRanks) {
  for (const auto& [p, m] : {std::pair(1, 4), {2, 1}, {3, 5}, {64, 8}, {1000, 2}})
    for (const bool gpipe : {true, false}) {
      const auto run = [&, p = p, m = m](auto* compute_gradients) {
        PipelineFunctions tried = functions;
        tried.compute_gradients = compute_gradients;
        return run_in_virtual_time(tried, orders_of(tried, gpipe, p, m), m, {.nodes = p}, 1, {}, {});
      };
      const std::vector<float> expected = gradients_of_one_device(p, m);
      EXPECT_EQ(std::ranges::count(expected, 0.0f), 0) << "all of them depend on what was sent";
      EXPECT_NO_THROW(check_gradients(run(iterate), expected)) << p << ", " << m;
      if (m == 1) continue;
      EXPECT_SENTENCE(check_gradients(run(sum_up), expected), "The gradients are WRONG: parameter 0 has");
      if (p > 1) EXPECT_SENTENCE(check_gradients(run(change_an_input), expected), "The gradients are WRONG");
    }
}

/// Both neighbours receive before they send.
void wait_for_ever(const Order& order, Stage& stage, Peers& peers) {
  std::vector<float> values(1);
  if (peers.size() > 1) peers.receive(values, peers.rank() == 0 ? 1 : 0);
  iterate(order, stage, peers);
}

TEST(Schedules, ThatNeverEndAreRefused) {
  const auto comm = create_communicator("flat");
  if (comm->size() == 1) return;
  PipelineFunctions wrong = functions;
  wrong.compute_gradients = wait_for_ever;
  EXPECT_NE(sentence_of([&] { show_schedules(wrong, 2, *comm); }), "") << "it would hang";
}

TEST(PipelineReport, ComparesTheFirstGradients) {
  const auto comm = create_communicator("flat");
  const std::vector<mlp::Layer> layers = mlp::make_layers(std::vector<std::size_t>{6, 5, 7, 4, 3});
  const Range own = cut(layers, area, comm->size())[static_cast<std::size_t>(comm->rank())];
  MpiPeers peers(*comm);
  for (const bool wrong : {false, true}) {
    Stage stage(layers, own, 5);
    stage.begin(random_images(8, 6, 3), 4);
    iterate(all_then_all(4), stage, peers);
    if (wrong && stage.is_last()) stage.gradients[0] *= 1.5f;
    PipelineReport report(stage, *comm);
    if (comm->rank() == 0) testing::internal::CaptureStdout();
    report.iteration_over(layers, 5);
    report.epoch_over(1);
    if (comm->rank() != 0) continue;
    const std::string text = testing::internal::GetCapturedStdout();
    const std::string found = fmt::format("First gradients: WRONG on rank {}", comm->size() - 1);
    EXPECT_NE(text.find(wrong ? found : "First gradients: as one device computes them"), std::string::npos) << text;
    EXPECT_NE(text.find("Epoch 1: main/loss "), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace odori
