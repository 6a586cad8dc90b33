// SPDX-License-Identifier: Apache-2.0
// The checks of task 10, on evidence put together here: what each misconception makes of a right training.
#include "fabricated.h"
#include "files/json.h"
#include "horovod_cases.h"

namespace odori::grader::test::of_horovod {
namespace {

/// What differs from rank to rank in a right run, and what an answer may do otherwise.
struct Trained {
  double rate_factor = 0;                             // of --learnrate; 0: the number of ranks
  bool whole_set = false;                             // on every rank
  std::function<void(KnownCheckpoint&)> change = {};  // what is taken of the checkpoint
};

KnownCheckpoint known(const RunPlan& plan) { return parse_json(plan.test_cases).get<KnownCheckpoint>(); }

Evidence trained(const RunPlan& plan, const Trained& how) {
  const std::vector<int>& nodes = plan.nodes;
  const int n = plan.ranks();
  StartingPoint start;
  int epochs = how.whole_set ? (plan.epochs + n - 1) / n : plan.epochs;
  if (!plan.test_cases.empty()) {
    KnownCheckpoint checkpoint = known(plan);
    epochs -= checkpoint.epochs;
    if (how.change) how.change(checkpoint);
    for (const float w : first_weights(data(), plan.programs_seed(data().seed))) {
      start.weights.push_back(checkpoint.weight(w));
      start.earlier.push_back(checkpoint.weight(w) - checkpoint.velocity(w));
    }
  }
  const auto parts = how.whole_set ? std::vector<Images>(nodes.size(), whole_set(n_train())) : parts_of(n_train(), n);
  const double rate = static_cast<double>(plan.learning_rate) * (how.rate_factor == 0 ? n : how.rate_factor);
  const Updates updates = train(
      plan, parts, [&](double) { return Sgd{.rate = rate}; }, start.weights.empty() ? nullptr : &start);
  Evidence evidence{.ending = Ending::finished};
  RunPlan shown = plan;
  shown.epochs = epochs;
  for (int rank = 0; rank < n; ++rank) {
    const auto r = static_cast<std::size_t>(rank);
    const int device = static_cast<int>(std::count(nodes.begin(), nodes.begin() + rank, nodes[r]));
    RankSeen& seen = evidence.ranks.emplace_back(RankSeen{.device = device, .model_device = device});
    seen.train_iterators = {over(parts[r], true, plan.batch_size)};
    Images own;
    for (std::size_t image = r; image < n_test(); image += nodes.size())
      own.push_back(static_cast<std::int64_t>(image));
    seen.test_iterator = over(own, false);
    for (const auto& update : updates) seen.steps.push_back({update[r]});
    evaluate_each_epoch(seen, shown, whole_set(n_test()));
    const auto results = seen.observations;
    evaluate_each_epoch(seen, shown, own);
    seen.observations = results;
    seen.collectives = {"optimizer->setup()", "hvd.broadcast_parameters()", "hvd.broadcast_optimizer_state()",
                        "hvd.broadcast_object()", "hvd.allreduce()"};
    if (rank > 0) continue;
    if (!plan.test_cases.empty()) seen.events.push_back({weights_loaded, {}});
    for (int epoch = 0; epoch < epochs; ++epoch) seen.events.push_back({weights_saved, {}});
  }
  return evidence;
}

Evidence right(const RunPlan& plan) { return trained(plan, {}); }
std::string verdict(int blank, const Fabricated::Change& change) { return verdict_on("horovod", blank, change, right); }
/// What to make of each rank.
std::string of_ranks(int blank, const std::function<void(RankSeen&, int rank)>& change) {
  return verdict(blank, [&](Evidence& evidence, const RunPlan&) {
    for (std::size_t rank = 0; rank < evidence.ranks.size(); ++rank)
      change(evidence.ranks[rank], static_cast<int>(rank));
  });
}
/// The verdict on runs that were trained in this way.
std::string verdict_if(int blank, const Trained& how) {
  return verdict_on(
      "horovod", blank, [](Evidence&, const RunPlan&) {}, [&](const RunPlan& plan) { return trained(plan, how); });
}
/// The verdict on what the ranks of a resumed training did.
std::string resumed(const std::function<void(Evidence&)>& change) {
  return verdict(5, [&](Evidence& evidence, const RunPlan& plan) {
    if (!plan.test_cases.empty()) change(evidence);
  });
}
void remove_call(RankSeen& rank, const std::string& call) { std::erase(rank.collectives, call); }

TEST(Horovod, FindsNothingInARightTraining) {
  for (int blank = 1; blank <= 7; ++blank) {
    EXPECT_EQ(verdict(blank, [](Evidence&, const RunPlan&) {}), "right") << blank;
    EXPECT_EQ(verdict_if(blank, {.whole_set = true}), "right") << blank;
  }
}

TEST(Horovod, NamesMistakesOfDevices) {
  const auto devices = [](auto of) {
    return verdict(1, [&](Evidence& evidence, const RunPlan& plan) {
      for (std::size_t rank = 0; rank < evidence.ranks.size(); ++rank)
        evidence.ranks[rank].device = of(static_cast<int>(rank), plan.nodes);
    });
  };
  using Nodes = std::vector<int>;
  const auto node_of = [](int rank, const Nodes& nodes) { return nodes[static_cast<std::size_t>(rank)]; };
  EXPECT_EQ(devices([](int rank, const Nodes&) { return rank; }), "hvd_rank");
  EXPECT_EQ(devices([&](int rank, const Nodes& nodes) {
              return static_cast<int>(std::count(nodes.begin(), nodes.end(), node_of(rank, nodes)));
            }),
            "hvd_local_size");
  EXPECT_EQ(devices(node_of), "hvd_cross_rank");
  EXPECT_EQ(devices([](int, const Nodes&) { return 0; }), "hvd_device_0");
  EXPECT_EQ(devices([&](int rank, const Nodes& nodes) {
              return rank % static_cast<int>(std::count(nodes.begin(), nodes.end(), node_of(rank, nodes)));
            }),
            "hvd_rank_modulo")
      << "wrong on the nodes 0, 1, 0 alone";
  EXPECT_EQ(devices([](int rank, const Nodes&) { return rank % 2; }), "hvd_devices") << "wrong on 1 + 3 ranks alone";
}

TEST(Horovod, TellsSharesAndTheWholeSetByHowOftenImagesAreUsed) {
  const auto epochs = [](bool whole_set, const std::function<int(const RunPlan&)>& of) {
    return verdict_on(
        "horovod", 2,
        [&](Evidence& evidence, const RunPlan& plan) {
          for (RankSeen& rank : evidence.ranks)
            rank.observations.resize(static_cast<std::size_t>(of(plan)), rank.observations.back());
        },
        [&](const RunPlan& plan) { return trained(plan, {.whole_set = whole_set}); });
  };
  const auto all = [](const RunPlan& plan) { return plan.epochs; };
  const auto divided = [](const RunPlan& plan) { return (plan.epochs + plan.ranks() - 1) / plan.ranks(); };
  EXPECT_EQ(epochs(true, all), "hvd_neither_divided");
  EXPECT_EQ(epochs(false, divided), "hvd_both_divided");
  EXPECT_EQ(epochs(false, [](const RunPlan& plan) { return plan.epochs + 1; }), "hvd_epochs");
  const auto rounded_down = [](const RunPlan& plan) { return std::max(1, plan.epochs / plan.ranks()); };
  EXPECT_EQ(epochs(true, rounded_down), "hvd_epochs_rounded_down");
  EXPECT_EQ(epochs(false, rounded_down), "hvd_both_divided");
}

TEST(Horovod, NamesMistakesOfShares) {
  const auto share = [](auto change) {
    return of_ranks(2, [&](RankSeen& seen, int rank) { change(seen.train_iterators.front().images, rank); });
  };
  const Images order = whole_set(n_train());
  const auto few = static_cast<std::ptrdiff_t>(n_train() / 4);
  EXPECT_EQ(share([&](Images& images, int) { images.assign(order.begin(), order.begin() + few); }), "hvd_same_share");
  EXPECT_EQ(share([&](Images& images, int rank) {
              images.assign(order.begin() + rank / 2 * few, order.begin() + (rank / 2 + 1) * few);
            }),
            "hvd_shares_overlap");
  EXPECT_EQ(share([](Images& images, int) { images.resize(images.size() / 2); }), "data_left_out");
  EXPECT_EQ(share([](Images& images, int rank) {
              if (rank == 0) images.pop_back();
            }),
            "hvd_shares_unequal");
  EXPECT_EQ(share([](Images& images, int) { std::fill(images.begin(), images.begin() + 6, images.front()); }),
            "image_repeated");
}

TEST(Horovod, NamesMistakesOfRateAndBatch) {
  EXPECT_EQ(verdict_if(3, {.rate_factor = 1}), "right") << "the weights are blank 4's check";
  EXPECT_EQ(verdict_if(4, {.rate_factor = 1}), "hvd_rate_not_scaled");
  EXPECT_EQ(verdict_if(5, {.rate_factor = 1}), "right") << "the rate is not the checkpoint's";
  EXPECT_EQ(verdict_if(4, {.rate_factor = 16}), "hvd_rate_scaled_twice");
  EXPECT_EQ(verdict_if(4, {.rate_factor = 2}), "hvd_rate");
  EXPECT_EQ(of_ranks(3, [](RankSeen& seen, int) { seen.train_iterators.front().batch_size *= 2; }),
            "hvd_batch_changed");
  EXPECT_EQ(of_ranks(3, [](RankSeen& seen, int) { seen.train_iterators.front().batch_size /= 4; }),
            "hvd_batch_divided");
  EXPECT_EQ(of_ranks(3,
                     [](RankSeen& seen, int) {
                       seen.train_iterators.clear();
                       seen.refused_batch = 64;
                     }),
            "hvd_batch_changed");
}

TEST(Horovod, NamesMistakesOfTheOptimizer) {
  EXPECT_EQ(of_ranks(4,
                     [](RankSeen& seen, int rank) {
                       if (rank > 0) remove_call(seen, "optimizer->setup()");
                     }),
            "hvd_wrapped_on_some_ranks");
  EXPECT_EQ(of_ranks(4,
                     [](RankSeen& seen, int rank) {
                       if (rank > 0) seen.steps[1].front().parameters[0] += 1;
                     }),
            "hvd_ranks_disagree");
  const auto alone = [](Evidence& evidence, const RunPlan& plan) {
    for (RankSeen& rank : evidence.ranks) {
      const Updates updates = train(plan, {rank.train_iterators.front().images}, Sgd{.rate = 0.1});
      for (std::size_t update = 0; update < updates.size(); ++update) rank.steps[update] = updates[update];
    }
  };
  EXPECT_EQ(verdict(4, alone), "hvd_gradients_not_averaged");
}

TEST(Horovod, NamesMistakesOfResuming) {
  const auto apart_without = [](const char* call) {
    return resumed([&](Evidence& evidence) {
      evidence.ranks.back().steps[0].front().parameters[0] += 1;
      for (RankSeen& rank : evidence.ranks) remove_call(rank, call);
    });
  };
  EXPECT_EQ(apart_without("hvd.broadcast_parameters()"), "hvd_parameters_not_broadcast");
  EXPECT_EQ(apart_without("hvd.broadcast_optimizer_state()"), "hvd_state_not_broadcast");
  EXPECT_EQ(apart_without("none"), "hvd_resumed_apart");
  EXPECT_EQ(verdict_if(5, {.change = [](KnownCheckpoint& seen) { seen.of_weights = 1; }}), "hvd_checkpoint_lost");
  EXPECT_EQ(verdict_if(5, {.change = [](KnownCheckpoint& seen) { seen.of_lengths = 0; }}), "hvd_checkpoint_lost");
  EXPECT_EQ(resumed([](Evidence& evidence) {
              evidence.ranks[1].events.push_back({weights_loaded, {}});
            }),
            "hvd_loaded_by");
  EXPECT_EQ(resumed([](Evidence& evidence) { evidence.ranks[0].events.clear(); }), "hvd_not_loaded");
  EXPECT_EQ(resumed([](Evidence& evidence) {
              for (RankSeen& rank : evidence.ranks) rank.observations.push_back(rank.observations.back());
            }),
            "hvd_start_epoch_lost");
  EXPECT_EQ(resumed([](Evidence& evidence) {
              evidence.ending = Ending::failed;
              for (RankSeen& rank : evidence.ranks) {
                rank.error = "The ranks don't start with the same epoch: 1, 0, 0.";
                rank.events.push_back({start_epochs_differ, {}});
              }
            }),
            "hvd_start_epochs_differ");
  const auto inside = [](Evidence& evidence, const RunPlan&) {
    evidence.ending = Ending::hung;
    for (std::size_t rank = 1; rank < evidence.ranks.size(); ++rank)
      remove_call(evidence.ranks[rank], "hvd.broadcast_parameters()");
  };
  EXPECT_EQ(verdict(5, inside), "hvd_broadcast_on_some_ranks");
}

TEST(Horovod, NamesMistakesOfTheMean) {
  const auto results = [](auto of) {
    return verdict(6, [&](Evidence& evidence, const RunPlan&) {
      std::vector<RankSeen> ranks = evidence.ranks;
      for (RankSeen& rank : evidence.ranks)
        for (std::size_t epoch = 0; epoch < rank.observations.size(); ++epoch)
          rank.observations[epoch].loss = of(ranks, rank, epoch);
    });
  };
  EXPECT_EQ(results([](const auto&, const RankSeen& rank, std::size_t epoch) { return rank.evaluations[epoch].loss; }),
            "hvd_own_result");
  EXPECT_EQ(results([](const auto& ranks, const RankSeen&, std::size_t epoch) {
              double sum = 0;
              for (const RankSeen& rank : ranks) sum += rank.evaluations[epoch].loss;
              return sum / static_cast<double>(ranks.size());
            }),
            "hvd_mean_of_means");
  EXPECT_EQ(results([](const auto& ranks, const RankSeen&, std::size_t epoch) {
              double sum = 0;
              for (const RankSeen& rank : ranks) sum += rank.evaluations[epoch].loss;
              return sum;
            }),
            "hvd_sum_of_means");
  EXPECT_EQ(results([](const auto& ranks, const RankSeen& own, std::size_t epoch) {
              double sum = 0;
              for (const RankSeen& rank : ranks)
                sum += rank.evaluations[epoch].loss * static_cast<double>(rank.evaluations[epoch].samples);
              return sum / static_cast<double>(own.evaluations[epoch].samples * ranks.size());
            }),
            "hvd_divided_by");
  EXPECT_EQ(results([](const auto&, const RankSeen&, std::size_t) { return 1.5; }), "loss_differs");
}

TEST(Horovod, NamesMistakesOfWhoCallsWhat) {
  EXPECT_EQ(of_ranks(7, [](RankSeen& seen, int) { seen.events = {{weights_saved, {}}}; }), "hvd_saved_by");
  EXPECT_EQ(of_ranks(7,
                     [](RankSeen& seen, int) {
                       std::erase_if(seen.events, [](const auto& event) { return event.what == weights_saved; });
                     }),
            "hvd_saved_seldom");
  const auto inside = [](Evidence& evidence, const RunPlan&) {
    evidence.ending = Ending::hung;
    for (std::size_t rank = 1; rank < evidence.ranks.size(); ++rank)
      remove_call(evidence.ranks[rank], "hvd.allreduce()");
  };
  EXPECT_EQ(verdict(7, inside), "hvd_averaged_on_some_ranks");
}

}  // namespace
}  // namespace odori::grader::test::of_horovod
