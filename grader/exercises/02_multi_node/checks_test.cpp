// SPDX-License-Identifier: Apache-2.0
// The checks of task 2, on evidence put together here: what each misconception makes of a right training.
#include <algorithm>

#include "blanks/blanks.h"
#include "fabricated.h"
#include "observe/refusal.h"

namespace odori::grader::test::of_multi_node {
namespace {

TEST(MultiNode, FindsNothingInARightTraining) {
  for (int blank = 1; blank <= 6; ++blank) EXPECT_EQ(multi_node(blank, [](RankSeen&, int) {}), "right") << blank;
}

/// An answer that is right on some placements alone.
TEST(MultiNode, TriesEveryPlacement) {
  using Nodes = std::vector<int>;
  for (const Nodes& wrong : {Nodes{0, 0, 1, 1}, {0, 0}, {0, 1, 2}, {0, 1, 0}, {0, 1, 1, 1}, {0, 0, 0, 0, 1}, {0}}) {
    const auto changed_on = [&](Evidence& evidence, const RunPlan& plan) {
      if (plan.nodes == wrong)
        change_evaluation(evidence.ranks.back(), [](EvaluationSeen& seen) { seen.loss *= 1.01; });
    };
    EXPECT_EQ(verdict_on("multi_node", 6, changed_on), "loss_differs") << list(wrong);
  }
}

TEST(MultiNode, NoFlagHasTheSameValueThroughoutNorItsDefault) {
  const auto values = [](auto value) {
    std::set<double> all;
    for (const RunPlan& plan : exam_of(task_named("multi_node")).situations)
      all.insert(static_cast<double>(value(plan)));
    return all;
  };
  for (const auto& all : {values([](const RunPlan& plan) { return plan.batch_size; }),
                          values([](const RunPlan& plan) { return plan.learning_rate; })}) {
    EXPECT_GE(all.size(), 2u);
    for (const double kits : {32.0, static_cast<double>(0.05f)}) EXPECT_FALSE(all.contains(kits));
  }
  const auto seeds = values([](const RunPlan& plan) { return plan.programs_seed(7); });
  EXPECT_GE(seeds.size(), 2u);
  EXPECT_TRUE(seeds.contains(0)) << "an answer can shuffle only where the seed isn't 0";
}

TEST(MultiNode, LetsRanksCountTheirDevicesBackwards) {
  const auto backwards = [](Evidence& evidence, const RunPlan& plan) {
    for (std::size_t rank = 0; rank < plan.nodes.size(); ++rank)
      evidence.ranks[rank].device = static_cast<int>(
          std::count(plan.nodes.begin(), plan.nodes.end(), plan.nodes[rank]) - 1 - *evidence.ranks[rank].device);
  };
  EXPECT_EQ(verdict_on("multi_node", 1, backwards), "right");
}

TEST(MultiNode, NamesMistakesOfRanksDevices) {
  const auto devices = [](auto of) {
    return verdict_on("multi_node", 1, [&](Evidence& evidence, const RunPlan& plan) {
      for (std::size_t rank = 0; rank < evidence.ranks.size(); ++rank)
        evidence.ranks[rank].device = of(static_cast<int>(rank), plan.nodes);
    });
  };
  using Nodes = std::vector<int>;
  EXPECT_EQ(devices([](int rank, const Nodes&) { return rank; }), "global_rank");
  EXPECT_EQ(devices([](int rank, const Nodes&) { return rank % 2; }), "rank_modulo");
  EXPECT_EQ(devices([](int rank, const Nodes& nodes) { return nodes[static_cast<std::size_t>(rank)]; }),
            "node_for_device");
  EXPECT_EQ(devices([](int, const Nodes&) { return 0; }), "first_device_for_all");
  EXPECT_EQ(devices([](int, const Nodes&) { return 2; }), "size_for_rank");
  EXPECT_EQ(devices([](int rank, const Nodes&) { return rank == 3 ? 5 : rank % 2; }), "wrong_devices");
}

TEST(MultiNode, NamesMistakesOfWhoLoads) {
  const auto loaders = [](const std::vector<int>& ranks) {
    return multi_node(
        2, [&](RankSeen& seen, int rank) { seen.loaded_data = std::count(ranks.begin(), ranks.end(), rank); });
  };
  EXPECT_EQ(loaders({}), "nobody_loads");
  EXPECT_EQ(loaders({0, 1, 2, 3}), "every_rank_loads");
  EXPECT_EQ(loaders({1, 2, 3}), "others_load");
  EXPECT_EQ(loaders({3}), "another_rank_loads");
  EXPECT_EQ(loaders({0, 2}), "one_rank_a_node_loads");
  EXPECT_EQ(loaders({0, 1}), "too_many_ranks_load");
  // What the library says isn't enough: the files were seen to be opened again.
  for (const int blank : {2, 3, 6})
    EXPECT_EQ(verdict_on("multi_node", blank, [](Evidence& evidence, const RunPlan&) { evidence.data_reads = 4; }),
              "files_read_again");
  EXPECT_EQ(multi_node(3, [](RankSeen& seen, int) { seen.loaded_data = true; }), "read_here_too");
}

TEST(MultiNode, NamesMistakesOfTrainingShards) {
  const auto shards = [](auto change) {
    return multi_node(3, [&](RankSeen& seen, int rank) { change(seen.train_iterators.front().images, rank); });
  };
  const auto size = n_train();
  EXPECT_EQ(shards([&](Images& shard, int) { shard = whole_set(size); }), "whole_set_for_each_rank");
  EXPECT_EQ(shards([&](Images& shard, int) { shard = parts_of(size, 4)[0]; }), "same_shard_for_all");
  EXPECT_EQ(shards([&](Images& shard, int) { shard.resize(5); }), "data_left_out");
  EXPECT_EQ(shards([&](Images& shard, int) { shard.push_back(shard[0]); }), "image_repeated");
  const auto in_order = [&](Images& shard, int rank) {
    shard = whole_set(14);
    for (auto& image : shard) image += static_cast<std::int64_t>(size) * rank / 4;
  };
  EXPECT_EQ(shards(in_order), "shards_not_shuffled");
  const auto rest_to_the_last = [&](Images& shard, int rank) {
    const Images order = whole_set_order(size, 5);
    shard.assign(order.begin() + 13 * rank, rank == 3 ? order.end() : order.begin() + 13 * (rank + 1));
  };
  EXPECT_EQ(shards(rest_to_the_last), "shards_unequal");
  const auto two_halves = [&](Images& shard, int rank) {
    shard = parts_of(size - 1, 2)[static_cast<std::size_t>(rank / 2)];
    shard.push_back(52);
  };
  EXPECT_EQ(shards(two_halves), "shards_too_large");
  const auto a_half_a_node = [&](Images& shard, int rank) {
    shard = parts_of(size - 1, 2)[static_cast<std::size_t>(rank % 2)];
  };
  EXPECT_EQ(shards(a_half_a_node), "shards_too_large");
}

TEST(MultiNode, NamesMistakesOfScattering) {
  const auto stopped = [](int blank, auto change) {
    return verdict_on("multi_node", blank, [&](Evidence& evidence, const RunPlan&) {
      evidence.ending = Ending::failed;
      for (std::size_t rank = 0; rank < evidence.ranks.size(); ++rank) {
        RankSeen& seen = evidence.ranks[rank];
        seen.train_iterators.clear();
        seen.test_iterator.reset();
        seen.collectives = {"scatter_dataset()", "scatter_dataset()"};
        seen.error = "An iterator needs a data set: none was given.";
        change(seen, static_cast<int>(rank));
      }
    });
  };
  const auto once = [](RankSeen& seen, int) { seen.collectives.pop_back(); };
  EXPECT_EQ(stopped(3, once), "data_not_scattered");
  EXPECT_EQ(stopped(4, once), "data_not_scattered");
  const auto before_any = [](RankSeen& seen, int rank) { seen.collectives.resize(rank == 0 ? 1 : 0); };
  EXPECT_EQ(stopped(3, before_any), "data_not_scattered");
  const auto refused = [](RankSeen& seen, int) {
    seen.collectives.pop_back();
    seen.error = "A sentence of the library's, whatever it says.";
    seen.events = {{refusal::other_data, {}}};
  };
  EXPECT_EQ(stopped(3, refused), "stopped_by_library");
  const auto only_root = [](RankSeen& seen, int rank) {
    if (rank > 0) seen.collectives.pop_back();
  };
  EXPECT_EQ(stopped(3, only_root), "scattered_by_some_ranks");
  EXPECT_EQ(stopped(3, [](RankSeen& seen, int) { seen.scatter_roots = {1}; }), "another_root");
}

TEST(MultiNode, NamesMistakesOfTestShards) {
  const auto shards = [](auto change) {
    return multi_node(4, [&](RankSeen& seen, int rank) { change(*seen.test_iterator, rank); });
  };
  EXPECT_EQ(shards([](IteratorSeen& shard, int rank) {
              shard = over(parts_of(n_train(), 4)[static_cast<std::size_t>(rank)]);
            }),
            "tested_on_training_data");
  EXPECT_EQ(shards([](IteratorSeen& shard, int) { shard = over(whole_set(n_test())); }), "whole_set_for_each_rank");
  const auto all_counted = [](IteratorSeen& shard, int) {
    shard.images.insert(shard.images.end(), shard.not_counted.begin(), shard.not_counted.end());
    shard.not_counted.clear();
  };
  EXPECT_EQ(shards(all_counted), "images_counted_twice");
  // Shards whose sizes differ by one give the same result, and nobody waits for anybody meanwhile.
  EXPECT_EQ(shards([](IteratorSeen& shard, int) { shard.not_counted.clear(); }), "right");
}

/// Where flags change the rate, or how many images an update takes.
TEST(MultiNode, NamesAnAnswerThatDoesWhatTheFlagsDo) {
  const auto trained = [](auto change) {
    return verdict_on("multi_node", 5, [&](Evidence& evidence, const RunPlan& plan) {
      std::vector<Images> shards;
      for (const RankSeen& seen : evidence.ranks) shards.push_back(seen.train_iterators.front().images);
      const Updates updates = train(plan, shards, [&](double epochs) {
        Sgd sgd = sgd_of(plan, epochs);
        change(sgd, plan, epochs);
        return sgd;
      });
      for (std::size_t rank = 0; rank < shards.size(); ++rank)
        for (std::size_t update = 0; update < updates.size(); ++update)
          evidence.ranks[rank].steps[update] = {updates[update][rank]};
    });
  };
  EXPECT_EQ(trained([](Sgd&, const RunPlan&, double) {}), "right");
  EXPECT_EQ(trained([](Sgd& sgd, const RunPlan& plan, double) { sgd.rate *= plan.scaled ? plan.ranks() : 1; }),
            "scaled_rate_changed");
  EXPECT_EQ(trained([](Sgd& sgd, const RunPlan& plan, double epochs) {
              if (plan.scaled && epochs > 0) sgd.rate = plan.ranks() * plan.learning_rate;  // no warm-up
            }),
            "scaled_rate_changed");
  EXPECT_EQ(trained([](Sgd& sgd, const RunPlan& plan, double epochs) {
              if (plan.scaled && epochs > 0) sgd.momentum *= 1.5;  // velocities that follow the rate
            }),
            "momentum_changed");
  EXPECT_EQ(trained([](Sgd& sgd, const RunPlan& plan, double) { sgd.rate *= plan.accumulate; }),
            "learning_rate_changed");
}

TEST(MultiNode, NamesMistakesOfTheRanksOptimizer) {
  const auto by_itself = [&](const Images& images, std::uint64_t seed) {
    return train({.nodes = {0}, .seed = seed}, {images}).front().front().parameters;
  };
  const auto apart = [](auto weights_of) {
    return multi_node(5, [&](RankSeen& seen, int rank) {
      std::erase(seen.collectives, "optimizer->setup()");
      for (auto& update : seen.steps) update.front().parameters = weights_of(update.front().images, rank);
    });
  };
  EXPECT_EQ(apart([&](const Images& images, int rank) { return by_itself(images, static_cast<unsigned>(rank)); }),
            "optimizer_not_wrapped");
  EXPECT_EQ(apart([&](const Images& images, int) { return by_itself(images, 0); }), "gradients_not_averaged");
  const auto mean_of_the_second_half = [&](const Images& images, int) {
    std::vector<float> weights = by_itself(images, 0);
    std::fill(weights.begin() + static_cast<std::ptrdiff_t>(weights.size() / 2), weights.end(), 0.5f);
    return weights;
  };
  EXPECT_EQ(apart(mean_of_the_second_half), "ranks_disagree");
  EXPECT_EQ(
      multi_node(5, [](RankSeen& seen, int rank) { seen.steps[1].front().parameters[0] += static_cast<float>(rank); }),
      "ranks_disagree");
  EXPECT_EQ(multi_node(5,
                       [](RankSeen& seen, int rank) {
                         if (rank != 2) std::erase(seen.collectives, "optimizer->setup()");
                       }),
            "optimizer_wrapped_on_some_ranks");
  EXPECT_EQ(verdict_on("multi_node", 5,
                       [](Evidence& evidence, const RunPlan&) {
                         if (evidence.ranks.size() < 2) return;
                         evidence.ending = Ending::crashed;
                         auto& calls = evidence.ranks[1].collectives;
                         calls.erase(std::find(calls.begin(), calls.end(), "optimizer->setup()"), calls.end());
                       }),
            "right")
      << "rank 1 died before it came there: its crash is told, not what it left undone";
}

TEST(MultiNode, NamesMistakesOfTheRanksEvaluator) {
  const auto own_shard = [](RankSeen& seen, int) {
    std::erase(seen.collectives, "multi_node_evaluator->evaluate()");
    evaluate_each_epoch(seen, {.epochs = 2}, seen.test_iterator->images);
  };
  EXPECT_EQ(multi_node(6, own_shard), "evaluator_not_wrapped");
  EXPECT_EQ(multi_node(6,
                       [&](RankSeen& seen, int rank) {
                         if (rank > 0) own_shard(seen, rank);
                       }),
            "evaluator_wrapped_on_some_ranks");
  EXPECT_EQ(multi_node(6,
                       [](RankSeen& seen, int rank) {
                         if (rank == 3) seen.observations.back().accuracy += 0.1;
                       }),
            "accuracy_differs");
  EXPECT_EQ(multi_node(6,
                       [](RankSeen& seen, int rank) {
                         if (rank == 3) seen.observations.front().loss *= 1.01;
                       }),
            "loss_differs")
      << "in the first epoch alone";
  EXPECT_EQ(multi_node(6,
                       [](RankSeen& seen, int rank) {
                         if (rank == 0) seen.test_iterator->images = whole_set(n_test());
                       }),
            "evaluated_beyond_shard");
  const auto added_up = [&](RankSeen& seen, int rank) {
    const std::vector<ReportSeen> of_all = seen.observations;
    own_shard(seen, rank);
    seen.observations = of_all;
  };
  EXPECT_EQ(multi_node(6, added_up), "right") << "the sum is the whole test set's, whoever has made it";
  EXPECT_EQ(multi_node(6,
                       [](RankSeen& seen, int rank) {
                         if (rank == 1) seen.observations.pop_back();
                       }),
            "nothing_reported")
      << "in the last epoch";
}

TEST(Checks, TellTheLibrarysSentence) {
  const auto stopped = [](Evidence& evidence, const RunPlan&) {
    evidence.ending = Ending::failed;
    evidence.ranks.back().error = "A sentence that says what was wrong, what was expected, and what to do about it.";
  };
  EXPECT_EQ(verdict_on("multi_gpu", 4, stopped), "stopped_by_library");
  EXPECT_EQ(verdict_on("multi_node", 4, stopped), "stopped_by_library");
}

}  // namespace
}  // namespace odori::grader::test::of_multi_node
