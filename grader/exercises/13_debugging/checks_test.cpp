// SPDX-License-Identifier: Apache-2.0
// The checks of task 13, on evidence put together here.
#include "fabricated.h"
#include "faults.h"

namespace odori::grader::test::of_debugging {
namespace {

using faults::diagnoses_asked;

/// Who, line and why of each program.
std::vector<float> right_diagnoses() {
  const Diagnosis all[] = {{Who::rank_0, Line::D, Why::not_all_ranks_call},
                           {Who::all_but_rank_0, Line::C, Why::parameters_differ},
                           {Who::all, Line::C, Why::sum_is_no_mean},
                           {Who::with_larger_shards, Line::A, Why::other_number_of_updates}};
  std::vector<float> values;
  for (const auto& [who, line, why] : all)
    for (const int choice : {static_cast<int>(who), static_cast<int>(line), static_cast<int>(why)})
      values.push_back(static_cast<float>(choice));
  return values;
}

Evidence right(const RunPlan& plan) {
  Evidence evidence = right_run(plan);
  if (plan == diagnoses_asked) evidence.ranks.front().values = {right_diagnoses()};
  return evidence;
}

int program_of(const RunPlan& plan) { return plan.flags.size() < 2 ? 0 : std::stoi(plan.flags[1]); }

/// The verdict on a blank whose program's runs are changed.
std::string verdict(int blank, const std::function<void(Evidence&, const RunPlan&)>& change) {
  return verdict_on(
      "debugging", blank,
      [&](Evidence& evidence, const RunPlan& plan) {
        if (program_of(plan) == (blank + 1) / 2) change(evidence, plan);
      },
      right);
}

/// The verdict on a blank whose program updates in this way.
std::string trained(int blank, const std::function<Sgd(const RunPlan&)>& sgd) {
  return verdict(blank, [&](Evidence& evidence, const RunPlan& plan) {
    std::vector<Images> shards;
    for (const RankSeen& rank : evidence.ranks) {
      shards.push_back(rank.train_iterators.front().images);
    }
    const Updates updates = train(plan, shards, sgd(plan));
    for (std::size_t rank = 0; rank < evidence.ranks.size(); ++rank) {
      evidence.ranks[rank].steps.clear();
      for (const auto& update : updates) evidence.ranks[rank].steps.push_back({update[rank]});
      evaluate_each_epoch(evidence.ranks[rank], plan, whole_set(n_test()));
    }
  });
}

TEST(Debugging, FindsNothingInRepairedPrograms) {
  for (int blank = 1; blank <= 8; ++blank)
    EXPECT_EQ(verdict(blank, [](Evidence&, const RunPlan&) {}), "right") << blank;
}

TEST(Debugging, NamesASumThatSomeRanksDoNotMake) {
  EXPECT_EQ(verdict(1,
                    [](Evidence& evidence, const RunPlan&) {
                      evidence.ending = Ending::hung;
                      evidence.ranks.front().collectives.push_back("comm->sum()");
                    }),
            "sum_on_some_ranks");
}

TEST(Debugging, NamesTheResultOfOneShard) {
  EXPECT_EQ(verdict(1,
                    [](Evidence& evidence, const RunPlan& plan) {
                      RankSeen& first = evidence.ranks.front();
                      evaluate_each_epoch(first, plan, first.test_iterator->images);
                    }),
            "faults_own_result");
  EXPECT_EQ(verdict(1,
                    [](Evidence& evidence, const RunPlan& plan) {
                      RankSeen& last = evidence.ranks.back();
                      evaluate_each_epoch(last, plan, last.test_iterator->images);
                    }),
            "right")
      << "rank 0 prints";
}

TEST(Debugging, NamesRanksThatAreApart) {
  EXPECT_EQ(verdict(3, [](Evidence& evidence, const RunPlan&) { evidence.ranks[1].steps[0][0].parameters[3] += 1; }),
            "faults_ranks_apart");
}

TEST(Debugging, TellsTheSumFromARateThatIsDivided) {
  const auto by = [](double rate_factor, double decay_factor) {
    return [=](const RunPlan& plan) {
      Sgd sgd = sgd_of(plan);
      sgd.rate *= rate_factor == 0 ? plan.ranks() : rate_factor;
      sgd.decay *= decay_factor == 0 ? 1.0 / plan.ranks() : decay_factor;
      return sgd;
    };
  };
  EXPECT_EQ(trained(5, by(0, 0)), "faults_gradients_summed");
  EXPECT_EQ(trained(5, by(1, 0)), "faults_rate_divided");
  EXPECT_EQ(trained(5, by(2, 1)), "learning_rate_changed");
  EXPECT_EQ(trained(5, by(1, 1)), "right");
}

TEST(Debugging, NamesUnequalShardsAndImagesThatAreLeftOut) {
  const auto shard = [](auto change) {
    return verdict(7, [=](Evidence& evidence, const RunPlan&) {
      for (std::size_t rank = 0; rank < evidence.ranks.size(); ++rank)
        change(evidence.ranks[rank].train_iterators.front().images, rank);
    });
  };
  EXPECT_EQ(shard([](Images& images, std::size_t rank) { images.resize(images.size() - (rank > 0 ? 1 : 0)); }),
            "faults_shards_unequal");
  EXPECT_EQ(shard([](Images& images, std::size_t) { images.resize(images.size() - 3); }), "faults_images_left_out");
  EXPECT_EQ(shard([](Images& images, std::size_t) { images.push_back(images.front()); }), "faults_images_shared");
}

TEST(Debugging, NamesDevicesOfOtherNodes) {
  EXPECT_EQ(verdict(1,
                    [](Evidence& evidence, const RunPlan&) {
                      for (std::size_t rank = 0; rank < evidence.ranks.size(); ++rank)
                        evidence.ranks[rank].device = static_cast<int>(rank);
                    }),
            "faults_devices");
}

/// The verdict on a diagnosis of which one choice is another one.
std::string diagnosed(int blank, int choice, float to) {
  return verdict_on(
      "debugging", blank,
      [&](Evidence& evidence, const RunPlan& plan) {
        if (plan == diagnoses_asked)
          evidence.ranks.front()
              .values.front()[static_cast<std::size_t>(blank / 2 - 1) * 3 + static_cast<std::size_t>(choice)] = to;
      },
      right);
}

TEST(Debugging, NamesWhatIsWrongWithADiagnosis) {
  for (const int blank : {2, 4, 6, 8}) {
    EXPECT_EQ(diagnosed(blank, 0, static_cast<float>(Who::on_further_nodes)), "diagnosis_ranks") << blank;
    EXPECT_EQ(diagnosed(blank, 1, static_cast<float>(Line::F)), "diagnosis_line") << blank;
    EXPECT_EQ(diagnosed(blank, 2, static_cast<float>(Why::another_root)), "diagnosis_why") << blank;
  }
  EXPECT_EQ(diagnosed(4, 0, static_cast<float>(Who::all)), "right") << "each rank has its own parameters";
  EXPECT_EQ(diagnosed(2, 0, static_cast<float>(Who::all_but_rank_0)), "right") << "each of them leaves the call out";
}

TEST(Debugging, ShowsTheRankTable) {
  Fabricated runs([](Evidence&, const RunPlan&) {}, right);
  const ShownFigure shown = exam_of(task_named("debugging")).shows(runs);
  ASSERT_EQ(shown.figure.curves.size(), 4u);
  for (const Curve& curve : shown.figure.curves) {
    ASSERT_EQ(curve.values.size(), 3u);
    EXPECT_EQ(curve.values.front(), 8.0) << "calls of ranks_on()";
    EXPECT_EQ(curve.values.front(), curve.values.back());
  }
  const Messages messages(ODORI_FOLDER, "ja");
  for (const std::string& key : shown.figure.bars) EXPECT_NE(messages.text(key, {}), key);
}

}  // namespace
}  // namespace odori::grader::test::of_debugging
