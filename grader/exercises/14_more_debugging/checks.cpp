// SPDX-License-Identifier: Apache-2.0
// Task 14: four more programs with a fault each, judged as those of task 13.
#include <algorithm>

#include "exercises/13_debugging/faults.h"
#include "more_debugging_cases.h"

namespace odori::grader {
namespace {

using namespace faults;

const std::vector<RunPlan> of_three{
    run_of(1, {.nodes = {0, 0, 1}, .batch_size = 6, .learning_rate = 0.03f, .seed = 1}),
    run_of(2, {.nodes = {0, 1, 1}, .batch_size = 5, .learning_rate = 0.02f, .seed = 2, .epochs = 4}),
    run_of(3, {.nodes = {0, 0, 1}, .batch_size = 6, .learning_rate = 0.01f, .seed = 3}),
    run_of(4, {.nodes = {0, 1, 0}, .batch_size = 5, .learning_rate = 0.03f, .seed = 1})};
const std::vector<RunPlan> others{
    run_of(1, {.nodes = {0, 1}, .batch_size = 5, .learning_rate = 0.02f, .seed = 3}),
    run_of(2, {.nodes = {0, 0}, .batch_size = 6, .learning_rate = 0.03f, .epochs = 3}),
    run_of(3, {.nodes = {0, 1, 0, 1}, .batch_size = 3, .learning_rate = 0.02f, .seed = 1}),
    run_of(4, {.nodes = {0, 0, 1, 1}, .batch_size = 6, .learning_rate = 0.02f, .seed = 2, .epochs = 1})};

bool gave_no_result(const Evidence& evidence) { return evidence.ending != Ending::finished; }

// ---- Program 1: the order of calls

/// Also where the run ends well: MPI sends a short broadcast without waiting for receivers, and the sum then meets the
/// others'. NCCL's kernels would wait.
Found find_in_order(const Situation& situation) {
  return find_calls_apart(situation.evidence()) ? found("orders_differ") : Found();
}

/// The rate is rank 0's.
Found find_in_rate(const Situation& situation) {
  const Updates updates = updates_of_ranks(situation.evidence());
  return find_disagreement(updates) ? found("rates_differ") : Found();
}

// ---- Program 2: the order of images

/// A rank's images, one epoch after another; the last one may be cut.
std::vector<Images> epochs_of(const RankSeen& rank) {
  std::vector<Images> epochs;
  if (rank.train_iterators.empty()) return epochs;
  const std::size_t length =
      rank.train_iterators.front().images.size() + rank.train_iterators.front().not_counted.size();
  for (const std::vector<Step>& update : rank.steps)
    for (const Step& step : update)
      for (const std::int64_t image : step.images) {
        if (epochs.empty() || epochs.back().size() == length) epochs.emplace_back();
        epochs.back().push_back(image);
      }
  return epochs;
}

Found find_in_orders(const Situation& situation) {
  const std::vector<RankSeen>& ranks = situation.evidence().ranks;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const std::vector<Images> epochs = epochs_of(ranks[rank]);
    for (std::size_t b = 0; b < epochs.size(); ++b) {
      if (std::set(epochs[b].begin(), epochs[b].end()).size() < epochs[b].size())
        return found("image_twice_in_an_epoch", {{"rank", rank}, {"epoch", b + 1}});
      for (std::size_t a = 0; a < b; ++a)
        if (epochs[a].size() == epochs[b].size() && epochs[a] == epochs[b])
          return found("order_repeated", {{"rank", rank}, {"one", a + 1}, {"other", b + 1}});
    }
    if (!epochs.empty() && std::ranges::is_sorted(epochs.front())) return found("order_not_random", {{"rank", rank}});
  }
  return {};
}

// ---- Program 4: the file

using Event = facts::Event;

/// How many collective calls a rank had made, and which file it was.
struct Use {
  std::int64_t calls, file;
};

std::vector<Use> uses(const RankSeen& rank, const char* what) {
  std::vector<Use> all;
  for (const Event& event : rank.events)
    if (event.what == what && event.about.size() == 2) all.push_back({event.about[0], event.about[1]});
  return all;
}

/// A rank's file is complete for another one only if both have made a collective call between writing and reading:
/// whether it comes to a race in this run does not matter.
Found find_in_files(const Situation& situation) {
  const std::vector<RankSeen>& ranks = situation.evidence().ranks;
  for (std::size_t reader = 0; reader < ranks.size(); ++reader)
    for (const Use& read : uses(ranks[reader], parameters_read)) {
      bool written = false;
      for (std::size_t writer = 0; writer < ranks.size(); ++writer)
        for (const Use& write : uses(ranks[writer], parameters_written)) {
          if (write.file != read.file) continue;
          written |= write.calls < read.calls || writer == reader;
          if (writer != reader && write.calls >= read.calls)
            return found("read_too_early", {{"reader", reader}, {"writer", writer}});
        }
      if (!written) return found("read_too_early", {{"reader", reader}, {"writer", 0}});
    }
  if (gave_no_result(situation.evidence())) return {};
  const auto writers =
      ranks_with(situation.evidence(), [](const RankSeen& r) { return !uses(r, parameters_written).empty(); });
  if (writers.size() != 1) return found("written_by", {{"n", writers.size()}});
  const auto without = [](const RankSeen& rank) {
    return uses(rank, parameters_read).empty() && calls(rank, "comm->broadcast()") == 0;
  };
  const auto silent = ranks_with(situation.evidence(), without);
  return silent.empty() ? Found() : found("file_not_read", {{"ranks", list(silent)}});
}

/// Each rank has shown the parameters of the last update.
Found find_in_parameters(const Situation& situation) {
  const Evidence& evidence = situation.evidence();
  if (gave_no_result(evidence)) return {};
  for (std::size_t rank = 0; rank < evidence.ranks.size(); ++rank) {
    const RankSeen& seen = evidence.ranks[rank];
    if (seen.steps.empty() || seen.steps.back().empty()) return {};
    if (seen.values.empty() || seen.values.back() != seen.steps.back().front().parameters)
      return found("other_parameters", {{"rank", rank}});
  }
  return {};
}

}  // namespace

Exam exam_of_more_debugging() {
  std::vector<RunPlan> situations = of_three;
  situations.insert(situations.end(), others.begin(), others.end());
  situations.push_back(diagnoses_asked);
  const auto but_program_2 = [](const Situation& situation) {
    return is_of(situation, 2) ? Found() : find_in_shards(situation);
  };
  return {
      situations,
      {{1, "AllRanksMakeTheSameCalls", in_program(1, find_in_order)},
       {1, "RatesAreTheSame", in_program(1, find_in_rate)},
       {2, "DiagnosisOfProgramOne",
        in_diagnosis(1, {{Who::rank_0, Who::all_but_rank_0}, {Line::C, Line::E}, Why::calls_in_different_orders})},
       {3, "EachEpochHasAnOrder", in_program(2, find_in_orders)},
       {4, "DiagnosisOfProgramTwo", in_diagnosis(2, {{Who::all}, {Line::C}, Why::order_repeats})},
       {5, "RanksHaveDevicesOfTheirOwn", in_program(3, find_in_devices)},
       {6, "DiagnosisOfProgramThree", in_diagnosis(3, {{Who::on_further_nodes}, {Line::C}, Why::number_of_the_job})},
       {7, "FilesAreReadWhenTheyAreComplete", in_program(4, find_in_files)},
       {7, "AllRanksHaveTheFilesParameters", in_program(4, find_in_parameters)},
       {8, "DiagnosisOfProgramFour",
        in_diagnosis(4, {{Who::all_but_rank_0}, {Line::D, Line::E}, Why::read_before_written})},
       {0, "DevicesAreOfTheRanks", find_in_devices},
       {0, "ShardsAreAllImages", but_program_2},
       {0, "RanksTrainOneModel", find_in_weights},
       {0, "ResultsAreOfTheWholeTestSet", find_in_result},
       {0, "TrainsToTheEnd", find_in_ending},
       {0, "EpochsGoThroughAllImages", find_uneven_epochs},
       {0, "EvidenceIsOfOneTraining", find_forgery}},
      [](Runs& whole) { return rank_table(whole, of_three); }};
}

}  // namespace odori::grader
