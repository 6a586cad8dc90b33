// Task 2: several ranks, one device each. All blanks are tried on two nodes with two ranks each; the device, which
// depends on how ranks are placed, also on other placements.
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "checks/division.h"
#include "checks/findings.h"

namespace odori::grader {
namespace {

const RunPlan block{.nodes = {0, 0, 1, 1}}, cyclic{.nodes = {0, 1, 0, 1}}, uneven{.nodes = {0, 0, 0, 1}},
    one_node{.nodes = {0, 0, 0, 0}};

constexpr const char *scatter = "scatter_dataset()", *setup = "optimizer->setup()",
                     *evaluation = "multi_node_evaluator->evaluate()";

int calls(const RankSeen& rank, const char* collective) {
  return static_cast<int>(std::count(rank.collectives.begin(), rank.collectives.end(), collective));
}

/// The ranks of which something is true.
template <typename Condition>
std::vector<int> ranks_with(const Evidence& evidence, Condition condition) {
  std::vector<int> ranks;
  for (std::size_t rank = 0; rank < evidence.ranks.size(); ++rank)
    if (condition(evidence.ranks[rank])) ranks.push_back(static_cast<int>(rank));
  return ranks;
}

std::vector<int> all_but(const std::vector<int>& ranks, const Evidence& evidence) {
  std::vector<int> others;
  for (int rank = 0; rank < static_cast<int>(evidence.ranks.size()); ++rank)
    if (std::find(ranks.begin(), ranks.end(), rank) == ranks.end()) others.push_back(rank);
  return others;
}

// ---- Blank 1: the device

/// On each node the ranks need devices of their own, among as many as there are ranks on the node. Which rank takes
/// which is free: counting backwards is as right as intra_rank.
Found find_in_devices(const Evidence& evidence, const std::vector<int>& nodes) {
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
    if (each([](int rank) { return rank; })) return "global_rank";
    if (nodes != block.nodes) return "rank_modulo";
    if (each([&](int rank) { return nodes[static_cast<std::size_t>(rank)]; })) return "node_for_device";
    if (each([](int) { return 0; })) return "first_device_for_all";
    if (each([&](int) { return devices.front(); })) return "size_for_rank";
    return "wrong_devices";
  }();
  return found(key, {{"devices", list(devices)}, {"nodes", list(nodes)}, {"device", devices.front()}});
}

// ---- Blank 2: who loads

Found find_in_loading(const Evidence& evidence) {
  const auto came_by = ranks_with(evidence, [](const RankSeen& rank) { return !rank.collectives.empty(); });
  const std::vector<int> loaders = ranks_with(evidence, [](const RankSeen& rank) { return rank.loaded_data; });
  const int n_ranks = static_cast<int>(evidence.ranks.size());
  if (loaders.empty()) return came_by.empty() ? Found() : found("nobody_loads");
  if (loaders == std::vector{0})
    return evidence.data_reads > 1 ? found("files_read_again", {{"n", evidence.data_reads}}) : Found();
  if (static_cast<int>(loaders.size()) == n_ranks) return found("every_rank_loads", {{"n", n_ranks}});
  if (loaders.front() != 0)
    return loaders.size() == 1 ? found("another_rank_loads", {{"rank", loaders.front()}})
                               : found("others_load", {{"ranks", list(loaders)}});
  if (loaders == std::vector{0, 2}) return found("one_rank_a_node_loads", {{"ranks", list(loaders)}});
  return found("too_many_ranks_load", {{"ranks", list(loaders)}});
}

// ---- Blanks 3 and 4: the shards

/// A shard as an iterator shows it; nothing if the rank didn't come that far.
using ShardOf = std::optional<IteratorSeen> (*)(const RankSeen&);

std::optional<IteratorSeen> train_shard(const RankSeen& rank) {
  return rank.train_iterators.empty() ? std::nullopt : std::optional(rank.train_iterators.front());
}
std::optional<IteratorSeen> test_shard(const RankSeen& rank) { return rank.test_iterator; }

/// Some ranks have no shard: was it scattered at all, and from the rank that has the data?
Found find_in_scattering(const Evidence& evidence) {
  const auto& ranks = evidence.ranks;
  for (const RankSeen& rank : ranks)
    for (const int root : rank.scatter_roots)
      if (root != 0) return found("another_root", {{"root", root}});
  // What scatter_dataset itself refused is told best in its own words.
  if (std::any_of(ranks.begin(), ranks.end(),
                  [](const RankSeen& rank) { return rank.error && rank.error->starts_with("scatter_dataset"); }))
    return {};
  const auto twice = ranks_with(evidence, [](const RankSeen& rank) { return calls(rank, scatter) >= 2; });
  if (evidence.ending == Ending::failed && twice.empty()) return found("data_not_scattered");
  if (!twice.empty() && twice.size() < ranks.size())
    return found("scattered_by_some_ranks", {{"ranks", list(twice)}, {"others", list(all_but(twice, evidence))}});
  return {};
}

/// The seed is free, and neighbours may overlap by a picture where the ranks' number doesn't divide the set: that makes
/// shards equal.
Found find_in_shards(const std::vector<Pictures>& shards, std::size_t whole) {
  const std::size_t n = shards.size(), share = whole / n;
  const Division seen = divide(shards, whole);
  if (seen.all_the_same && seen.covered == whole) return found("whole_set_for_each_rank", {{"whole", whole}, {"n", n}});
  if (seen.all_the_same) return found("same_shard_for_all", {{"covered", seen.covered}, {"whole", whole}});
  if (seen.repeated > 0) return found("picture_repeated", {{"repeated", seen.repeated}});
  if (seen.covered < whole)
    return found("data_left_out", {{"left", whole - seen.covered}, {"whole", whole}, {"share", share}});
  if (seen.largest > share + 1)
    return found("shards_too_large", {{"largest", seen.largest}, {"share", share}, {"shared", seen.shared}});
  if (seen.in_order || seen.every_nth) return found("shards_not_shuffled", {{"n", n}});
  return {};
}

/// Of training data also this: shards that differ by a picture (force_equal_length = false) can make a rank's epoch end
/// an update later than the others', so that they wait for each other in different calls. Test shards may differ:
/// an evaluation is summed up once, at its end.
Found find_unequal(const std::vector<Pictures>& shards) {
  const Division seen = divide(shards, 0);
  if (seen.smallest == seen.largest) return {};
  return found("shards_unequal", {{"smallest", seen.smallest}, {"largest", seen.largest}});
}

std::vector<Pictures> all_shards(const Evidence& evidence, ShardOf shard_of) {
  std::vector<Pictures> shards;
  for (const RankSeen& rank : evidence.ranks) {
    const auto shard = shard_of(rank);
    if (!shard) return {};
    Pictures& all = shards.emplace_back(shard->pictures);
    all.insert(all.end(), shard->not_counted.begin(), shard->not_counted.end());
  }
  return shards;
}

Found find_in_training_data(const Evidence& evidence, const RunData& data) {
  const std::vector<Pictures> shards = all_shards(evidence, train_shard);
  if (shards.empty()) return find_in_scattering(evidence);
  const std::size_t whole = data.sets.train->size(), n_test = data.sets.test->size();
  if (is_test_set(data, shards, updates_of_ranks(evidence)))
    return found("test_data_trained_on", {{"test", n_test}, {"train", whole}});
  const Found wrong = find_in_shards(shards, whole);
  return wrong ? wrong : find_unequal(shards);
}

Found find_in_test_data(const Evidence& evidence, const RunData& data) {
  const std::vector<Pictures> shards = all_shards(evidence, test_shard);
  if (shards.empty()) return find_in_scattering(evidence);
  const std::size_t whole = data.sets.test->size(), n_train = data.sets.train->size();
  if (divide(shards, whole).outside > 0) return found("tested_on_training_data", {{"train", n_train}, {"test", whole}});
  if (Found wrong = find_in_shards(shards, whole)) return wrong;
  std::vector<Pictures> counted;
  for (const RankSeen& rank : evidence.ranks) counted.push_back(rank.test_iterator->pictures);
  const Division seen = divide(counted, whole);  // in the evaluation each picture has to count once
  return seen.shared > 0 ? found("pictures_counted_twice", {{"shared", seen.shared}}) : Found();
}

// ---- Blank 5: the optimizer

/// Ranks that don't end an update with the same weights: what did they do instead?
Found find_apart(const Evidence& evidence, const RunData& data, const Updates& updates, const Disagreement& apart) {
  const auto wrapped = ranks_with(evidence, [](const RankSeen& rank) { return calls(rank, setup) > 0; });
  const Step& others = updates.front()[static_cast<std::size_t>(apart.other)];
  const bool in_training_set = std::all_of(others.pictures.begin(), others.pictures.end(), [&](std::int64_t picture) {
    return picture >= 0 && picture < static_cast<std::int64_t>(data.sets.train->size());
  });
  if (apart.update == 1 && wrapped.empty() && in_training_set && !others.pictures.empty()) {
    const std::vector<float> start = Reference(data, 1, data.seed).parameters();
    const std::vector<float> by_itself = alone(data, others.pictures, data.seed);
    if (distance(others.parameters, by_itself, start) < same_weights) return found("gradients_not_averaged");
    return found("optimizer_not_wrapped", {{"one", apart.one}, {"other", apart.other}});
  }
  return found("ranks_disagree", {{"update", apart.update}, {"one", apart.one}, {"other", apart.other}});
}

Found find_in_weights(const Evidence& evidence, const RunData& data) {
  const Updates updates = updates_of_ranks(evidence);
  if (const auto apart = find_disagreement(updates)) return find_apart(evidence, data, updates, *apart);
  const auto wrong = find_wrong_weights(data, updates);
  return wrong ? explain(*wrong, data) : Found();
}

Found find_partly_wrapped_optimizer(const Evidence& evidence, const RunData&) {
  const auto wrapped = ranks_with(evidence, [](const RankSeen& rank) { return calls(rank, setup) > 0; });
  const auto set_up = ranks_with(evidence, [](const RankSeen& rank) { return rank.model_device.has_value(); });
  if (wrapped.empty() || set_up.size() < evidence.ranks.size() || wrapped.size() == evidence.ranks.size()) return {};
  return found("optimizer_wrapped_on_some_ranks",
               {{"ranks", list(wrapped)}, {"others", list(all_but(wrapped, evidence))}});
}

// ---- Blank 6: the evaluator

Found find_in_evaluation(const Evidence& evidence, const RunData& data) {
  const auto wrapped = ranks_with(evidence, [](const RankSeen& rank) { return calls(rank, evaluation) > 0; });
  const auto by_itself = ranks_with(
      evidence, [](const RankSeen& rank) { return !rank.evaluations.empty() && calls(rank, evaluation) == 0; });
  if (!wrapped.empty() && !by_itself.empty())
    return found("evaluator_wrapped_on_some_ranks",
                 {{"ranks", list(wrapped)}, {"others", list(all_but(wrapped, evidence))}});
  for (const RankSeen& rank : evidence.ranks) {
    if (rank.evaluations.empty() || !rank.test_iterator) continue;
    const std::size_t shard = rank.test_iterator->pictures.size(), whole = data.sets.test->size();
    if (wrapped.empty() && shard != whole && static_cast<std::size_t>(rank.evaluations.back().samples) == shard)
      return found("evaluator_not_wrapped", {{"seen", shard}, {"whole", whole}});
    if (Found wrong = find_wrong_evaluation(rank, data)) return wrong;
  }
  return {};
}

// ---- All blanks

Check device_check(const char* name, const RunPlan& plan) {
  return {1,
          name,
          [plan](Runs& runs) {
            const bool ends = runs.of(block).ending == Ending::finished;  // or it will end nowhere else
            if (!ends) return find_in_devices(runs.of(block), block.nodes);
            const Found wrong = find_in_devices(runs.of(plan), plan.nodes);
            return wrong || plan == block ? wrong : find_untrained(runs.of(plan), runs.data());
          },
          {block, plan}};
}

using Find = Found (*)(const Evidence&, const RunData&);

Check on_two_nodes(int blank, const char* name, Find find) {
  return {blank, name, [find](Runs& runs) { return find(runs.of(block), runs.data()); }, {block}};
}

}  // namespace

std::vector<Check> checks_of_multi_node() {
  std::vector<Check> checks{
      device_check("DeviceOnTwoNodes", block),
      device_check("DeviceWhereRanksAreDealtOut", cyclic),
      device_check("DeviceOnUnevenNodes", uneven),
      device_check("DeviceOnOneNode", one_node),
      on_two_nodes(2, "RootAloneLoads",
                   [](const Evidence& evidence, const RunData&) { return find_in_loading(evidence); }),
      on_two_nodes(3, "TrainingDataIsScattered", find_in_training_data),
      on_two_nodes(4, "TestDataIsScattered", find_in_test_data),
      on_two_nodes(5, "OptimizerIsWrappedOnAllRanks", find_partly_wrapped_optimizer),
      on_two_nodes(5, "RanksTrainOneModel", find_in_weights),
      on_two_nodes(6, "EvaluatesTheTestData", find_in_test_data),
      on_two_nodes(6, "EveryRankReportsTheWholeTestSet", find_in_evaluation),
  };
  for (int blank = 1; blank <= 6; ++blank) {
    checks.push_back(on_two_nodes(blank, "TrainsToTheEnd", find_early_end));
    checks.push_back(on_two_nodes(blank, "WeightsAreTheGraders", find_in_weights));
    checks.push_back(on_two_nodes(blank, "EvaluationIsTheGraders", find_in_evaluation));
    checks.push_back(on_two_nodes(blank, "EvidenceIsOfOneTraining",
                                  [](const Evidence& evidence, const RunData&) { return find_forgery(evidence); }));
  }
  return checks;
}

}  // namespace odori::grader
