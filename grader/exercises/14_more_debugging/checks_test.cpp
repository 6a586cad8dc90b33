// SPDX-License-Identifier: Apache-2.0
// The checks of task 14, on evidence put together here.
#include "exercises/13_debugging/faults.h"
#include "fabricated.h"
#include "more_debugging_cases.h"

namespace odori::grader::test::of_more_debugging {
namespace {

using faults::diagnoses_asked;

int program_of(const RunPlan& plan) { return plan.flags.size() < 2 ? 0 : std::stoi(plan.flags[1]); }

constexpr std::int64_t file = 77;

Evidence right(const RunPlan& plan) {
  Evidence evidence = right_run(plan);
  if (plan == diagnoses_asked) {
    const Diagnosis all[] = {{Who::rank_0, Line::C, Why::calls_in_different_orders},
                             {Who::all, Line::C, Why::order_repeats},
                             {Who::on_further_nodes, Line::C, Why::number_of_the_job},
                             {Who::all_but_rank_0, Line::D, Why::read_before_written}};
    std::vector<float> values;
    for (const auto& [who, line, why] : all)
      for (const int choice : {static_cast<int>(who), static_cast<int>(line), static_cast<int>(why)})
        values.push_back(static_cast<float>(choice));
    evidence.ranks.front().values = {values};
  }
  if (program_of(plan) != 4) return evidence;
  evidence.ranks.front().events.push_back({parameters_written, {9, file}});
  for (RankSeen& rank : evidence.ranks) {
    rank.events.push_back({parameters_read, {10, file}});
    rank.values = {rank.steps.back().front().parameters};
  }
  return evidence;
}

std::string verdict(int blank, const std::function<void(Evidence&, const RunPlan&)>& change) {
  return verdict_on(
      "more_debugging", blank,
      [&](Evidence& evidence, const RunPlan& plan) {
        if (program_of(plan) == (blank + 1) / 2) change(evidence, plan);
      },
      right);
}

TEST(MoreDebugging, FindsNothingInRepairedPrograms) {
  for (int blank = 1; blank <= 8; ++blank)
    EXPECT_EQ(verdict(blank, [](Evidence&, const RunPlan&) {}), "right") << blank;
}

TEST(MoreDebugging, NamesOrdersAndRatesThatDiffer) {
  EXPECT_EQ(verdict(1,
                    [](Evidence& evidence, const RunPlan&) {
                      evidence.ending = Ending::hung;
                      for (std::size_t rank = 0; rank < evidence.ranks.size(); ++rank)
                        evidence.ranks[rank].collectives = {rank == 0 ? "comm->broadcast()" : "comm->sum()"};
                    }),
            "orders_differ");
  EXPECT_EQ(verdict(1, [](Evidence& evidence, const RunPlan&) { evidence.ranks[1].steps[0][0].parameters[0] += 1; }),
            "rates_differ");
}

/// The verdict on program 2 with these images, an epoch a list, on rank 0; each update has one image.
std::string with_epochs(const std::vector<Images>& epochs) {
  return verdict(3, [&](Evidence& evidence, const RunPlan&) {
    RankSeen& rank = evidence.ranks.front();
    rank.train_iterators.front().images = epochs.front();
    rank.train_iterators.front().not_counted.clear();
    rank.steps.clear();
    for (const Images& epoch : epochs)
      for (const std::int64_t image : epoch) rank.steps.push_back({Step{0, {image}, {}}});
  });
}

TEST(MoreDebugging, NamesOrdersThatRepeat) {
  EXPECT_EQ(with_epochs({{2, 0, 1}, {2, 0, 1}}), "order_repeated");
  EXPECT_EQ(with_epochs({{2, 0, 1}, {0, 2, 1}, {0, 2, 1}}), "order_repeated");
  EXPECT_EQ(with_epochs({{2, 0, 1}, {0, 2, 2}}), "image_twice_in_an_epoch");
  EXPECT_EQ(with_epochs({{0, 1, 2}, {0, 2, 1}}), "order_not_random");
}

TEST(MoreDebugging, NamesDevicesOfOtherNodes) {
  EXPECT_EQ(verdict(5,
                    [](Evidence& evidence, const RunPlan&) {
                      for (std::size_t rank = 0; rank < evidence.ranks.size(); ++rank)
                        evidence.ranks[rank].device = static_cast<int>(rank);
                    }),
            "faults_devices");
}

TEST(MoreDebugging, NamesFilesThatAreReadTooEarly) {
  const auto events = [](auto change) {
    return verdict(7, [=](Evidence& evidence, const RunPlan&) {
      for (std::size_t rank = 0; rank < evidence.ranks.size(); ++rank) change(evidence.ranks[rank], rank);
    });
  };
  EXPECT_EQ(events([](RankSeen& seen, std::size_t) { seen.events.back().about = {9, file}; }), "read_too_early");
  EXPECT_EQ(events([](RankSeen& seen, std::size_t rank) {
              if (rank == 0) seen.events.erase(seen.events.begin());
            }),
            "read_too_early")
      << "it was not written in time";
  EXPECT_EQ(events([](RankSeen& seen, std::size_t rank) {
              if (rank > 0) seen.events.insert(seen.events.begin(), {parameters_written, {8, file}});
            }),
            "written_by");
  EXPECT_EQ(events([](RankSeen& seen, std::size_t rank) {
              if (rank > 0) seen.events.clear();
            }),
            "file_not_read");
  EXPECT_EQ(events([](RankSeen& seen, std::size_t rank) {
              if (rank > 0) seen.events.clear(), seen.collectives.push_back("comm->broadcast()");
            }),
            "right")
      << "rank 0 reads, and sends";
  EXPECT_EQ(events([](RankSeen& seen, std::size_t) { seen.values.front().front() += 1; }), "other_parameters");
}

TEST(MoreDebugging, NamesWhatIsWrongWithADiagnosis) {
  const auto diagnosed = [](int blank, int choice, float to) {
    return verdict_on(
        "more_debugging", blank,
        [&](Evidence& evidence, const RunPlan& plan) {
          if (plan == diagnoses_asked)
            evidence.ranks.front()
                .values.front()[static_cast<std::size_t>(blank / 2 - 1) * 3 + static_cast<std::size_t>(choice)] = to;
        },
        right);
  };
  for (const int blank : {2, 4, 6, 8}) {
    EXPECT_EQ(diagnosed(blank, 0, static_cast<float>(Who::with_larger_shards)), "diagnosis_ranks") << blank;
    EXPECT_EQ(diagnosed(blank, 1, static_cast<float>(Line::A)), "diagnosis_line") << blank;
    EXPECT_EQ(diagnosed(blank, 2, static_cast<float>(Why::another_root)), "diagnosis_why") << blank;
  }
}

}  // namespace
}  // namespace odori::grader::test::of_more_debugging
