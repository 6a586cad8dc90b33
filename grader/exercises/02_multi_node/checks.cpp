// SPDX-License-Identifier: Apache-2.0
// Task 2: several ranks, one device each.
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "checks/findings.h"
#include "observe/refusal.h"

namespace odori::grader {
namespace {

// An answer can be right on some placements of the ranks alone, with some values of the flags, or for some epochs.
const RunPlan block{.nodes = {0, 0, 1, 1}},
    one_node{.nodes = {0, 0}, .batch_size = 6, .learning_rate = 0.025f, .seed = 1, .epochs = 5},
    a_rank_a_node{.nodes = {0, 1, 2}, .batch_size = 5, .seed = {}},
    dealt_out{.nodes = {0, 1, 0},
              .batch_size = 4,
              .learning_rate = 0.025f,
              .seed = 3,
              .scaled = true,
              .flags = {"--communicator", "tree"}},
    more_on_the_second{.nodes = {0, 1, 1, 1}, .batch_size = 3, .learning_rate = 0.3f, .accumulate = 2},
    more_on_the_first{
        .nodes = {0, 0, 0, 0, 1}, .learning_rate = 0.025f, .seed = 1, .flags = {"--communicator", "naive"}},
    alone{.nodes = {0}, .batch_size = 8, .seed = 1};

constexpr const char *scatter = "scatter_dataset()", *setup = "optimizer->setup()",
                     *evaluation = "multi_node_evaluator->evaluate()";

std::vector<int> all_but(const std::vector<int>& ranks, const Evidence& evidence) {
  std::vector<int> others;
  for (int rank = 0; rank < static_cast<int>(evidence.ranks.size()); ++rank)
    if (std::find(ranks.begin(), ranks.end(), rank) == ranks.end()) others.push_back(rank);
  return others;
}

// ---- Blank 1: the device

/// On each node the ranks need devices of their own, among as many as there are ranks on the node. Which rank takes
/// which is free: counting backwards is as right as intra_rank.
Found find_in_devices(const Situation& situation) {
  const Evidence& evidence = situation.evidence();
  const std::vector<int>& nodes = situation.plan.nodes;
  std::vector<int> devices;
  for (const RankSeen& rank : evidence.ranks) {
    if (!rank.device) return {};
    devices.push_back(*rank.device);
  }
  std::map<int, std::set<int>> of_node;
  for (std::size_t rank = 0; rank < nodes.size(); ++rank) of_node[nodes[rank]].insert(devices[rank]);
  const auto ranks_on = [&](int node) { return static_cast<int>(std::count(nodes.begin(), nodes.end(), node)); };
  const bool right = std::all_of(of_node.begin(), of_node.end(), [&](const auto& entry) {
    const auto& [node, used] = entry;
    return static_cast<int>(used.size()) == ranks_on(node) && *used.begin() == 0 &&
           *used.rbegin() == ranks_on(node) - 1;
  });
  if (right) return {};

  const int n_ranks = static_cast<int>(nodes.size());
  const auto each = [&](auto expected) {  // is it this on every rank?
    for (int rank = 0; rank < n_ranks; ++rank)
      if (devices[static_cast<std::size_t>(rank)] != expected(rank)) return false;
    return true;
  };
  const auto key = [&] {
    if (nodes != block.nodes) return "rank_modulo";  // there other mistakes come to the same devices
    if (each([](int rank) { return rank; })) return "global_rank";
    if (each([&](int rank) { return nodes[static_cast<std::size_t>(rank)]; })) return "node_for_device";
    if (each([](int) { return 0; })) return "first_device_for_all";
    if (each([&](int) { return devices.front(); })) return "size_for_rank";
    return "wrong_devices";
  }();
  return found(key, {{"devices", list(devices)}, {"nodes", list(nodes)}, {"device", devices.front()}});
}

// ---- Blank 2: who loads

/// The files were opened by more than the one rank that said so, or more than once by it.
Found find_more_reading(const Evidence& evidence) {
  return evidence.data_reads > 1 ? found("files_read_again", {{"n", evidence.data_reads}}) : Found();
}

std::vector<int> loaders_of(const Evidence& evidence) {
  return ranks_with(evidence, [](const RankSeen& rank) { return rank.loaded_data; });
}

Found find_in_loading(const Situation& situation) {
  const Evidence& evidence = situation.evidence();
  const auto came_by = ranks_with(evidence, [](const RankSeen& rank) { return !rank.collectives.empty(); });
  const std::vector<int> loaders = loaders_of(evidence), &nodes = situation.plan.nodes;
  const int n_ranks = static_cast<int>(evidence.ranks.size());
  if (loaders.empty()) return came_by.empty() ? Found() : found("nobody_loads");
  if (loaders == std::vector{0}) return find_more_reading(evidence);
  if (static_cast<int>(loaders.size()) == n_ranks) return found("every_rank_loads", {{"n", n_ranks}});
  if (loaders.front() != 0)
    return loaders.size() == 1 ? found("another_rank_loads", {{"rank", loaders.front()}})
                               : found("others_load", {{"ranks", list(loaders)}});
  const auto is_first_of_node = [&](int rank) {
    const auto place = nodes.begin() + rank;
    return std::find(nodes.begin(), place, *place) == place;
  };
  const auto n_nodes = std::set(nodes.begin(), nodes.end()).size();
  if (loaders.size() == n_nodes && std::all_of(loaders.begin(), loaders.end(), is_first_of_node))
    return found("one_rank_a_node_loads", {{"ranks", list(loaders)}});
  return found("too_many_ranks_load", {{"ranks", list(loaders)}});
}

/// Another blank than the second can read the set as well, beside the root or on the root once more.
Found find_reading_elsewhere(const Situation& situation) {
  std::vector<int> loaders = loaders_of(situation.evidence());
  std::erase(loaders, 0);
  if (!loaders.empty()) return found("read_here_too", {{"ranks", list(loaders)}});
  return find_more_reading(situation.evidence());
}

// ---- Blanks 3 and 4: the shards

/// A shard as an iterator shows it; nothing if the rank didn't come that far.
using ShardOf = std::optional<IteratorSeen> (*)(const RankSeen&);

std::optional<IteratorSeen> train_shard(const RankSeen& rank) {
  return rank.train_iterators.empty() ? std::nullopt : std::optional(rank.train_iterators.front());
}
std::optional<IteratorSeen> test_shard(const RankSeen& rank) { return rank.test_iterator; }

/// A rank that crashed made fewer calls than it would have made: what it did not do tells nothing.
bool ended_early(const Evidence& evidence) { return evidence.ending == Ending::crashed && !find_calls_apart(evidence); }

/// Some ranks have no shard: was it scattered at all, and from the rank that has the data?
Found find_in_scattering(const Evidence& evidence) {
  const auto& ranks = evidence.ranks;
  for (const RankSeen& rank : ranks)
    for (const int root : rank.scatter_roots)
      if (root != 0) return found("another_root", {{"root", root}, {"against", 2}});
  // What scatter_dataset itself refused is told best in its own words.
  if (std::ranges::any_of(ranks, [](const RankSeen& rank) { return was_refused(rank, refusal::other_data); }))
    return {};
  const auto twice = ranks_with(evidence, [](const RankSeen& rank) { return calls(rank, scatter) >= 2; });
  if (evidence.ending == Ending::failed && twice.empty()) return found("data_not_scattered");
  if (!twice.empty() && twice.size() < ranks.size() && !ended_early(evidence))
    return found("scattered_by_some_ranks", {{"ranks", list(twice)}, {"others", list(all_but(twice, evidence))}});
  return {};
}

/// The seed is free. Where the ranks' number doesn't divide the set, an image of another shard, or of the same one once
/// more, may make a shard as large as the largest.
Found find_in_shards(const std::vector<Images>& shards, const Dataset& set) {
  const std::size_t whole = set.size(), n = shards.size(), share = whole / n;
  const Division seen = divide(shards, whole);
  if (seen.all_the_same && seen.covered == whole) return found("whole_set_for_each_rank", {{"whole", whole}, {"n", n}});
  if (seen.all_the_same) return found("same_shard_for_all", {{"covered", seen.covered}, {"whole", whole}});
  if (seen.repeated > (n - whole % n) % n) return found("image_repeated", {{"repeated", seen.repeated}});
  const bool too_large = seen.largest > share + 1;
  if (seen.covered < whole && !(too_large && seen.shared > 0))
    return found("data_left_out", {{"left", whole - seen.covered}, {"whole", whole}, {"share", share}});
  if (too_large)
    return found("shards_too_large", {{"largest", seen.largest}, {"share", share}, {"shared", seen.shared}});
  if (seen.in_order) return found("shards_not_shuffled", {{"n", n}});
  return seen.outside == 0 && follows_classes(shards, set) ? found("shards_by_class", {{"n", n}}) : Found();
}

/// Of training data also this: shards that differ by an image (force_equal_length = false) can make a rank's epoch end
/// an update later than the others', so that they wait for each other in different calls. Test shards may differ:
/// an evaluation is summed up once, at its end.
Found find_unequal(const std::vector<Images>& shards) {
  const Division seen = divide(shards, 0);
  if (seen.smallest == seen.largest) return {};
  return found("shards_unequal", {{"smallest", seen.smallest}, {"largest", seen.largest}});
}

std::vector<Images> all_shards(const Evidence& evidence, ShardOf shard_of) {
  std::vector<Images> shards;
  for (const RankSeen& rank : evidence.ranks) {
    const auto shard = shard_of(rank);
    if (!shard) return {};
    Images& all = shards.emplace_back(shard->images);
    all.insert(all.end(), shard->not_counted.begin(), shard->not_counted.end());
  }
  return shards;
}

Found find_in_training_data(const Situation& situation) {
  const Evidence& evidence = situation.evidence();
  const std::vector<Images> shards = all_shards(evidence, train_shard);
  if (shards.empty()) return find_in_scattering(evidence);
  const TrainTest& sets = situation.data().sets;
  const std::size_t whole = sets.train->size(), n_test = sets.test->size();
  if (is_test_set(situation, shards, updates_of_ranks(evidence)))
    return found("test_data_trained_on", {{"test", n_test}, {"train", whole}});
  const Found wrong = find_in_shards(shards, *sets.train);
  return wrong ? wrong : find_unequal(shards);
}

Found find_in_test_data(const Situation& situation) {
  const Evidence& evidence = situation.evidence();
  const TrainTest& sets = situation.data().sets;
  const std::vector<Images> shards = all_shards(evidence, test_shard);
  if (shards.empty()) return find_in_scattering(evidence);
  const std::size_t whole = sets.test->size(), n_train = sets.train->size();
  if (divide(shards, whole).outside > 0) return found("tested_on_training_data", {{"train", n_train}, {"test", whole}});
  if (Found wrong = find_in_shards(shards, *sets.test)) return wrong;
  std::vector<Images> counted;
  for (const RankSeen& rank : evidence.ranks) counted.push_back(rank.test_iterator->images);
  const Division seen = divide(counted, whole);  // in the evaluation each image has to count once
  return seen.shared > 0 ? found("images_counted_twice", {{"shared", seen.shared}}) : Found();
}

// ---- Blank 5: the optimizer

/// Ranks that don't end an update with the same weights: what did they do instead?
Found find_apart(const Situation& situation, const Updates& updates, const Disagreement& apart) {
  const Step& others = updates.front()[static_cast<std::size_t>(apart.other)];
  const auto alone_from_start_of = [&](int rank) {
    return apart.update == 1 && learnt_alone(situation.data(), situation.plan, others, rank);
  };
  if (alone_from_start_of(0)) return found("gradients_not_averaged");
  if (alone_from_start_of(apart.other))
    return found("optimizer_not_wrapped", {{"one", apart.one}, {"other", apart.other}});
  return found("ranks_disagree", {{"update", apart.update}, {"one", apart.one}, {"other", apart.other}});
}

Found find_in_weights(const Situation& situation) {
  const Updates updates = updates_of_ranks(situation.evidence());
  if (const auto apart = find_disagreement(updates)) return find_apart(situation, updates, *apart);
  const RunPlan& other = situation.plan.learning_rate == block.learning_rate ? one_node : block;
  return find_in_updates(situation, other, updates_of_ranks);
}

Found find_partly_wrapped_optimizer(const Situation& situation) {
  const Evidence& evidence = situation.evidence();
  const auto wrapped = ranks_with(evidence, [](const RankSeen& rank) { return calls(rank, setup) > 0; });
  const auto set_up = ranks_with(evidence, [](const RankSeen& rank) { return rank.model_device.has_value(); });
  if (wrapped.empty() || set_up.size() < evidence.ranks.size() || wrapped.size() == evidence.ranks.size()) return {};
  if (ended_early(evidence)) return {};
  return found("optimizer_wrapped_on_some_ranks",
               {{"ranks", list(wrapped)}, {"others", list(all_but(wrapped, evidence))}});
}

// ---- Blank 6: the evaluator

/// Its iterator may be of the learner's own making: whatever it goes through, the result has to be right.
Found find_training_data_evaluated(const Situation& situation) {
  const std::vector<Images> shards = all_shards(situation.evidence(), test_shard);
  const TrainTest& sets = situation.data().sets;
  const std::size_t n_test = sets.test->size();
  if (divide(shards, n_test).outside == 0) return {};
  return found("evaluator_on_training_data", {{"train", sets.train->size()}, {"test", n_test}});
}

/// The result is right, but it isn't put together from those of the shards.
Found find_beyond_shard(const Situation& situation) {
  const std::vector<Images> gone_through = all_shards(situation.evidence(), test_shard);
  const std::size_t n = gone_through.size(), share = n == 0 ? 0 : situation.data().sets.test->size() / n;
  for (std::size_t rank = 0; rank < n; ++rank)
    if (const std::size_t seen = gone_through[rank].size(); seen > share + 1)
      return found("evaluated_beyond_shard", {{"rank", rank}, {"seen", seen}, {"share", share}});
  return {};
}

Found find_in_evaluation(const Situation& situation) {
  const Evidence& evidence = situation.evidence();
  const auto wrapped = ranks_with(evidence, [](const RankSeen& rank) { return calls(rank, evaluation) > 0; });
  const auto by_itself = ranks_with(
      evidence, [](const RankSeen& rank) { return !rank.evaluations.empty() && calls(rank, evaluation) == 0; });
  if (!wrapped.empty() && !by_itself.empty())
    return found("evaluator_wrapped_on_some_ranks",
                 {{"ranks", list(wrapped)}, {"others", list(all_but(wrapped, evidence))}});
  const std::size_t whole = situation.data().sets.test->size();
  const auto silent = ranks_with(evidence, [&](const RankSeen& rank) {
    return rank.observations.size() < static_cast<std::size_t>(situation.plan.epochs);
  });
  if (!silent.empty() && evidence.ending == Ending::finished)
    return found("nothing_reported", {{"ranks", list(silent)}});
  for (const RankSeen& rank : evidence.ranks) {
    if (!rank.test_iterator) continue;
    const Found wrong = find_wrong_evaluation(rank, situation.data());
    if (!wrong) continue;
    const std::size_t shard = rank.test_iterator->images.size();
    if (wrapped.empty() && shard != whole && wrong->key == "evaluation_of_other_images" &&
        wrong->values.at("samples") == std::to_string(shard))
      return found("evaluator_not_wrapped", {{"seen", shard}, {"whole", whole}});
    return wrong;
  }
  return find_beyond_shard(situation);
}

}  // namespace

Exam exam_of_multi_node() {
  return {{block, one_node, a_rank_a_node, dealt_out, more_on_the_second, more_on_the_first, alone},
          {{1, "RanksHaveDevicesOfTheirOwn", find_in_devices},
           {2, "RootAloneLoads", find_in_loading},
           {3, "TrainingDataIsScattered", find_in_training_data},
           {4, "TestDataIsScattered", find_in_test_data},
           {5, "OptimizerIsWrappedOnAllRanks", find_partly_wrapped_optimizer},
           {5, "RanksTrainOneModel", find_in_weights},
           {6, "EvaluatesTheTestData", find_training_data_evaluated},
           {6, "EveryRankReportsTheWholeTestSet", find_in_evaluation},
           {0, "TrainsToTheEnd", find_early_end},
           {0, "DataIsReadOnce", find_reading_elsewhere},
           {0, "EpochsGoThroughAllImages", find_uneven_epochs},
           {0, "EvidenceIsOfOneTraining", find_forgery}}};
}

}  // namespace odori::grader
