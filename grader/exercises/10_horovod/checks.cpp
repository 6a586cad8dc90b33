// SPDX-License-Identifier: Apache-2.0
// Task 10: Horovod's terms.
#include <algorithm>
#include <set>

#include "checks/findings.h"
#include "files/json.h"
#include "horovod_cases.h"

namespace odori::grader {
namespace {

const KnownCheckpoint checkpoint{.epochs = 1, .of_weights = 0.75f, .of_lengths = -0.02f};

const RunPlan block{.nodes = {0, 0, 1, 1}, .batch_size = 6, .learning_rate = 0.02f, .epochs = 5},
    uneven{.nodes = {0, 1, 1, 1}, .batch_size = 4, .learning_rate = 0.01f, .seed = 3},
    one_node{.nodes = {0, 0}, .batch_size = 6, .learning_rate = 0.03f, .seed = 1, .epochs = 3},
    resumed{.nodes = {0, 1, 0},
            .batch_size = 5,
            .learning_rate = 0.01f,
            .seed = 2,
            .epochs = 6,
            .flags = {"--resume", "checkpoint"},
            .test_cases = json_text(nlohmann::json(checkpoint))};

constexpr const char* average = "hvd.allreduce()";

bool is_resumed(const RunPlan& plan) { return !plan.test_cases.empty(); }

std::ptrdiff_t events(const RankSeen& rank, const char* name) {
  return std::ranges::count(rank.events, name, &facts::Event::what);
}

/// A collective call that some ranks made and others did not. Not told of a crash: a rank that crashed made fewer
/// calls.
Found find_on_some_ranks(const Evidence& evidence, const char* collective, const char* key) {
  const auto call = ranks_with(evidence, [&](const RankSeen& rank) { return calls(rank, collective) > 0; });
  const auto others = ranks_with(evidence, [&](const RankSeen& rank) { return calls(rank, collective) == 0; });
  if (call.empty() || others.empty() || (evidence.ending == Ending::crashed && !find_calls_apart(evidence))) return {};
  return found(key, {{"ranks", list(call)}, {"others", list(others)}, {"call", collective}});
}

// ---- Blank 1: the device

/// On each node the ranks need devices of their own, among as many as there are ranks on the node, in any order.
Found find_in_devices(const Situation& situation) {
  const Evidence& evidence = situation.evidence();
  const std::vector<int>& nodes = situation.plan.nodes;
  std::vector<int> devices;
  std::map<int, std::set<int>> of_node;
  for (std::size_t rank = 0; rank < nodes.size(); ++rank) {
    if (!evidence.ranks[rank].device) return {};
    devices.push_back(*evidence.ranks[rank].device);
    of_node[nodes[rank]].insert(devices.back());
  }
  const auto ranks_on = [&](int node) { return static_cast<int>(std::ranges::count(nodes, node)); };
  const auto is_right = [&](const auto& entry) {
    const auto& [node, used] = entry;
    return static_cast<int>(used.size()) == ranks_on(node) && *used.begin() == 0 &&
           *used.rbegin() == ranks_on(node) - 1;
  };
  if (std::ranges::all_of(of_node, is_right)) return {};
  const auto each = [&](auto expected) {
    for (std::size_t rank = 0; rank < nodes.size(); ++rank)
      if (devices[rank] != expected(static_cast<int>(rank), nodes[rank])) return false;
    return true;
  };
  const char* const key = each([&](int, int node) { return ranks_on(node); })               ? "hvd_local_size"
                          : each([](int rank, int) { return rank; })                        ? "hvd_rank"
                          : each([&](int rank, int node) { return rank % ranks_on(node); }) ? "hvd_rank_modulo"
                          : each([](int, int node) { return node; })                        ? "hvd_cross_rank"
                          : each([](int, int) { return 0; })                                ? "hvd_device_0"
                                                                                            : "hvd_devices";
  return found(key, {{"devices", list(devices)}, {"nodes", list(nodes)}});
}

// ---- Blank 2: the data and the epochs

/// Of each rank; nothing if one did not come that far.
std::vector<Images> training_data(const Evidence& evidence) {
  std::vector<Images> of_ranks;
  for (const RankSeen& rank : evidence.ranks) {
    if (rank.train_iterators.empty()) return {};
    const IteratorSeen& iterator = rank.train_iterators.front();
    Images& images = of_ranks.emplace_back(iterator.images);
    images.insert(images.end(), iterator.not_counted.begin(), iterator.not_counted.end());
  }
  return of_ranks;
}

bool each_has_whole_set(const std::vector<Images>& data, std::size_t whole) {
  const Division seen = divide(data, whole);
  return seen.all_the_same && seen.covered == whole;
}

/// By how many epochs each image is trained on --epoch times: of shares, that many; of the whole set on each of n
/// ranks, the n-th part of it, rounded up.
int epochs_in_all(const Situation& situation) {
  const int n = situation.plan.ranks(), epochs = situation.plan.epochs;
  const bool whole = each_has_whole_set(training_data(situation.evidence()), situation.data().sets.train->size());
  return whole ? (epochs + n - 1) / n : epochs;
}

int epochs_seen(const Evidence& evidence) { return static_cast<int>(evidence.ranks.front().observations.size()); }

Found find_in_epochs(const Situation& situation) {
  const Evidence& evidence = situation.evidence();
  if (evidence.ending != Ending::finished || is_resumed(situation.plan)) return {};
  const int n = situation.plan.ranks(), epochs = situation.plan.epochs;
  const int seen = epochs_seen(evidence), expected = epochs_in_all(situation);
  if (seen == expected) return {};
  const bool whole = expected < epochs;
  const int down = epochs / n, up = (epochs + n - 1) / n;
  const char* const key = whole && seen == epochs                  ? "hvd_neither_divided"
                          : whole && seen == down                  ? "hvd_epochs_rounded_down"
                          : !whole && (seen == down || seen == up) ? "hvd_both_divided"
                                                                   : "hvd_epochs";
  return found(key, {{"seen", seen}, {"expected", expected}, {"n", n}, {"epoch", epochs}, {"times", n * seen}});
}

Found find_in_training_data(const Situation& situation) {
  const std::vector<Images> data = training_data(situation.evidence());
  if (data.empty()) return {};
  const std::size_t n = data.size(), whole = situation.data().sets.train->size();
  if (is_test_set(situation, data, updates_of_ranks(situation.evidence())))
    return found("test_data_trained_on", {{"test", situation.data().sets.test->size()}, {"train", whole}});
  const Division seen = divide(data, whole);
  if (each_has_whole_set(data, whole)) return find_in_epochs(situation);
  if (seen.all_the_same) return found("hvd_same_share", {{"covered", seen.covered}, {"whole", whole}});
  if (seen.repeated >= n) return found("image_repeated", {{"repeated", seen.repeated}});
  if (seen.shared >= n) return found("hvd_shares_overlap", {{"shared", seen.shared}, {"n", n}});
  if (whole - seen.covered >= n)
    return found("data_left_out", {{"left", whole - seen.covered}, {"whole", whole}, {"share", whole / n}});
  if (seen.smallest != seen.largest)
    return found("hvd_shares_unequal", {{"smallest", seen.smallest}, {"largest", seen.largest}});
  return find_in_epochs(situation);
}

// ---- Blanks 3 and 4: the rate and the optimizer

Found find_in_batch(const Situation& situation) {
  const auto expected = static_cast<std::int64_t>(situation.plan.batch_size);
  const int n = situation.plan.ranks();
  for (const RankSeen& rank : situation.evidence().ranks) {
    const std::int64_t seen = rank.refused_batch             ? *rank.refused_batch
                              : rank.train_iterators.empty() ? expected
                                                             : rank.train_iterators.front().batch_size;
    if (seen != expected)
      return found(seen == expected / n ? "hvd_batch_divided" : "hvd_batch_changed",
                   {{"seen", seen}, {"expected", expected}, {"n", n}});
  }
  return {};
}

Found find_partly_wrapped_optimizer(const Situation& situation) {
  const Evidence& evidence = situation.evidence();
  const auto set_up = ranks_with(evidence, [](const RankSeen& rank) { return rank.model_device.has_value(); });
  if (set_up.size() < evidence.ranks.size()) return {};
  return find_on_some_ranks(evidence, "optimizer->setup()", "hvd_wrapped_on_some_ranks");
}

std::optional<WrongWeights> find_wrong(const Situation& situation, const Updates& updates) {
  const RunPlan& plan = situation.plan;
  const RunData& data = situation.data();
  const Sgd sgd{.rate = static_cast<double>(plan.learning_rate) * plan.ranks()};
  StartingPoint start;
  for (const float weight : first_weights(data, plan.programs_seed(data.seed))) {
    start.weights.push_back(checkpoint.weight(weight));
    start.earlier.push_back(checkpoint.weight(weight) - checkpoint.velocity(weight));
  }
  return find_wrong_weights(
      data, plan, updates, static_cast<std::size_t>(plan.batch_size), [&](std::size_t) { return sgd; },
      is_resumed(plan) ? &start : nullptr);
}

/// What a rate is that isn't the scaled one.
Found find_in_rate(const WrongWeights& wrong, const RunPlan& plan) {
  const double n = plan.ranks(), own = plan.learning_rate;
  const auto is = [&](double rate) { return std::abs(*wrong.rate / rate - 1) < 1e-2; };
  const char* const key = is(own) ? "hvd_rate_not_scaled" : is(own * n * n) ? "hvd_rate_scaled_twice" : "hvd_rate";
  return found(key, {{"seen", measured(*wrong.rate, wrong.expected.rate)},
                     {"expected", fmt::format("{:.6g}", wrong.expected.rate)},
                     {"rate", fmt::format("{:.6g}", own)},
                     {"n", plan.ranks()}});
}

Found find_in_weights(const Situation& situation) {
  const Updates updates = updates_of_ranks(situation.evidence());
  if (const auto apart = find_disagreement(updates)) {
    const Step& other = updates.front()[static_cast<std::size_t>(apart->other)];
    if (apart->update == 1 && learnt_alone(situation.data(), situation.plan, other, 0))
      return found("hvd_gradients_not_averaged");
    return found("hvd_ranks_disagree", {{"update", apart->update}, {"one", apart->one}, {"other", apart->other}});
  }
  const auto wrong = find_wrong(situation, updates);
  if (!wrong) return {};
  const bool is_first_left_out =
      !is_resumed(situation.plan) &&
      updates.front().front().parameters ==
          first_weights(situation.data(), situation.plan.programs_seed(situation.data().seed));
  if (is_first_left_out) return found("hvd_first_update_left_out");
  const auto says = [&](const char* key, double seen, double expected) {
    return found(
        key,
        {{"seen", measured(seen, expected)}, {"expected", fmt::format("{:.6g}", expected)}, {"update", wrong->update}});
  };
  if (wrong->rate) return find_in_rate(*wrong, situation.plan);
  if (wrong->momentum) return says("momentum_changed", *wrong->momentum, wrong->expected.momentum);
  if (wrong->decay) return says("weight_decay_changed", *wrong->decay, wrong->expected.decay);
  return found("weights_differ", {{"update", wrong->update}});
}

// ---- Blank 5: the checkpoint

Found find_partly_broadcast(const Situation& situation) {
  for (const char* call : {"hvd.broadcast_parameters()", "hvd.broadcast_optimizer_state()", "hvd.broadcast_object()"})
    if (Found wrong = find_on_some_ranks(situation.evidence(), call, "hvd_broadcast_on_some_ranks")) return wrong;
  return {};
}

/// Results decide; which calls were made only explains them.
Found find_in_resume(const Situation& situation) {
  if (!is_resumed(situation.plan)) return {};
  const Evidence& evidence = situation.evidence();
  if (Found differ = find_refused(evidence, start_epochs_differ, "hvd_start_epochs_differ")) return differ;
  const auto loaders = ranks_with(evidence, [](const RankSeen& rank) { return events(rank, weights_loaded) > 0; });
  if (loaders.empty()) return evidence.ending == Ending::finished ? found("hvd_not_loaded") : Found();
  if (loaders != std::vector{0}) return found("hvd_loaded_by", {{"ranks", list(loaders)}});
  const Updates updates = updates_of_ranks(evidence);
  if (const auto apart = find_disagreement(updates)) {
    const auto called = [&](const char* call) { return calls(evidence.ranks.front(), call) > 0; };
    const char* const key = !called("hvd.broadcast_parameters()")        ? "hvd_parameters_not_broadcast"
                            : !called("hvd.broadcast_optimizer_state()") ? "hvd_state_not_broadcast"
                                                                         : "hvd_resumed_apart";
    return found(key, {{"update", apart->update}, {"one", apart->one}, {"other", apart->other}});
  }
  // Another rate has a better message.
  if (const auto wrong = find_wrong(situation, updates); wrong && wrong->update == 1 && !wrong->rate)
    return found("hvd_checkpoint_lost");
  if (evidence.ending != Ending::finished) return {};
  const int seen = epochs_seen(evidence), expected = epochs_in_all(situation) - checkpoint.epochs;
  if (seen == expected) return {};
  return found("hvd_start_epoch_lost", {{"seen", seen}, {"expected", expected}, {"over", checkpoint.epochs}});
}

// ---- Blank 6: the mean

Found find_in_results(const Situation& situation) {
  const std::vector<RankSeen>& ranks = situation.evidence().ranks;
  const std::size_t n = ranks.size(), whole = situation.data().sets.test->size();
  for (const RankSeen& rank : ranks) {
    const Found wrong = find_wrong_evaluation(rank, situation.data());
    if (!wrong) continue;
    const double reported = rank.observations.front().loss;
    double means = 0, all = 0;  // the sums of the ranks' means, and of all images' losses
    for (std::size_t other = 0; other < n; ++other) {
      if (ranks[other].evaluations.empty()) return wrong;
      const EvaluationSeen& own = ranks[other].evaluations.front();
      if (same(reported, own.loss))
        return found("hvd_own_result", {{"rank", other}, {"seen", own.samples}, {"whole", whole}});
      means += own.loss;
      all += own.loss * static_cast<double>(own.samples);
    }
    if (same(reported, means / static_cast<double>(n))) return found("hvd_mean_of_means", {{"n", n}, {"whole", whole}});
    if (same(reported, means)) return found("hvd_sum_of_means", {{"n", n}});
    const double count = std::round(all / reported);
    return count >= 1 && same(reported, all / count) ? found("hvd_divided_by", {{"count", count}, {"whole", whole}})
                                                     : wrong;
  }
  return {};
}

// ---- Blank 7: who calls

Found find_partly_averaged(const Situation& situation) {
  return find_on_some_ranks(situation.evidence(), average, "hvd_averaged_on_some_ranks");
}

Found find_in_saving(const Situation& situation) {
  const Evidence& evidence = situation.evidence();
  if (evidence.ending != Ending::finished) return {};
  const auto savers = ranks_with(evidence, [](const RankSeen& rank) { return events(rank, weights_saved) > 0; });
  if (savers.size() > 1 || (savers.size() == 1 && savers.front() != 0))
    return found("hvd_saved_by", {{"ranks", list(savers)}});
  const std::ptrdiff_t seen = events(evidence.ranks.front(), weights_saved);
  if (seen == epochs_seen(evidence)) return {};
  return found("hvd_saved_seldom", {{"seen", seen}, {"expected", epochs_seen(evidence)}});
}

Found find_early(const Situation& situation) {
  if (Found failure = find_failure(situation)) return failure;
  const Evidence& evidence = situation.evidence();
  if (evidence.ending != Ending::finished) return {};
  for (const RankSeen& rank : evidence.ranks)
    if (rank.steps.empty() || rank.observations.size() != evidence.ranks.front().observations.size())
      return found("ended_early", {{"seen", rank.observations.size()}, {"expected", epochs_in_all(situation)}});
  return {};
}

}  // namespace

Exam exam_of_horovod() {
  return {{block, uneven, one_node, resumed},
          {{1, "RanksHaveDevicesOfTheirOwn", find_in_devices},
           {2, "EachImageIsTrainedOnAsOftenAsAsked", find_in_training_data},
           {3, "BatchOfARankStays", find_in_batch},
           {4, "OptimizerIsWrappedOnAllRanks", find_partly_wrapped_optimizer},
           {5, "AllRanksBroadcast", find_partly_broadcast},
           {5, "AllRanksContinue", find_in_resume},
           {4, "RanksTrainOneModelAtTheScaledRate", find_in_weights},
           {7, "AllRanksAverage", find_partly_averaged},
           {6, "EveryRankReportsTheWholeTestSet", find_in_results},
           {7, "RankZeroSaves", find_in_saving},
           {0, "TrainsToTheEnd", find_early},
           {0, "EpochsGoThroughAllImages", find_uneven_epochs},
           {0, "EvidenceIsOfOneTraining", find_forgery}}};
}

}  // namespace odori::grader
