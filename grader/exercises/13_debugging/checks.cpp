// SPDX-License-Identifier: Apache-2.0
// Task 13: four programs with a fault each, judged as task 2 is, and a diagnosis of each fault.
#include "faults.h"

namespace odori::grader {
namespace {

using namespace faults;

// Of each program the first test case has 3 ranks: the rank table shows these.
const std::vector<RunPlan> of_three{
    run_of(1, {.nodes = {0, 0, 1}, .batch_size = 6, .learning_rate = 0.03f, .seed = 1}),
    run_of(2, {.nodes = {0, 1, 1}, .batch_size = 5, .learning_rate = 0.02f, .seed = 2}),
    run_of(3, {.nodes = {0, 0, 1}, .batch_size = 6, .learning_rate = 0.01f, .seed = 3}),
    run_of(4, {.nodes = {0, 1, 0}, .batch_size = 5, .learning_rate = 0.03f, .seed = 1})};
const std::vector<RunPlan> others{
    run_of(1, {.nodes = {0, 1}, .batch_size = 5, .learning_rate = 0.02f, .seed = 3, .epochs = 3}),
    run_of(2, {.nodes = {0, 0}, .batch_size = 6, .learning_rate = 0.03f, .seed = 1, .epochs = 3}),
    run_of(3, {.nodes = {0, 1, 1, 0}, .batch_size = 3, .learning_rate = 0.02f, .seed = 1}),
    run_of(4, {.nodes = {0, 0, 1, 1}, .batch_size = 6, .learning_rate = 0.02f, .seed = 2, .epochs = 3})};

constexpr const char* sum = "comm->sum()";

/// Some ranks enter comm->sum() more often than others.
Found find_in_sums(const Situation& situation) {
  const std::vector<RankSeen>& ranks = situation.evidence().ranks;
  std::vector<int> some, all;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank)
    (calls(ranks[rank], sum) > 0 ? some : all).push_back(static_cast<int>(rank));
  if (some.empty() || all.empty() || situation.evidence().ending == Ending::finished) return {};
  return found("sum_on_some_ranks", {{"ranks", list(some)}, {"others", list(all)}});
}

}  // namespace

Exam exam_of_debugging() {
  std::vector<RunPlan> situations = of_three;
  situations.insert(situations.end(), others.begin(), others.end());
  situations.push_back(diagnoses_asked);
  return {situations,
          {{1, "AllRanksSum", in_program(1, find_in_sums)},
           {1, "ResultIsOfTheWholeTestSet", in_program(1, find_in_result)},
           {1, "ProgramOneTrainsOneModel", in_program(1, find_in_weights)},
           {2, "DiagnosisOfProgramOne",
            in_diagnosis(1, {{Who::rank_0, Who::all_but_rank_0}, {Line::D}, Why::not_all_ranks_call})},
           {3, "ProgramTwoTrainsOneModel", in_program(2, find_in_weights)},
           {4, "DiagnosisOfProgramTwo",
            in_diagnosis(2, {{Who::all_but_rank_0, Who::all}, {Line::C}, Why::parameters_differ})},
           {5, "ProgramThreeTrainsByTheMean", in_program(3, find_in_weights)},
           {6, "DiagnosisOfProgramThree", in_diagnosis(3, {{Who::all}, {Line::C}, Why::sum_is_no_mean})},
           {7, "ShardsHaveOneSize", in_program(4, find_in_shards)},
           {7, "ProgramFourTrainsOneModel", in_program(4, find_in_weights)},
           {8, "DiagnosisOfProgramFour",
            in_diagnosis(4, {{Who::with_larger_shards}, {Line::A}, Why::other_number_of_updates})},
           {0, "RanksHaveDevicesOfTheirOwn", find_in_devices},
           {0, "ShardsAreAllImages", find_in_shards},
           {0, "ResultsAreOfTheWholeTestSet", find_in_result},
           {0, "TrainsToTheEnd", find_in_ending},
           {0, "EpochsGoThroughAllImages", find_uneven_epochs},
           {0, "EvidenceIsOfOneTraining", find_forgery}},
          [](Runs& whole) { return rank_table(whole, of_three); }};
}

}  // namespace odori::grader
