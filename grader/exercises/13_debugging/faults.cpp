// SPDX-License-Identifier: Apache-2.0
#include "faults.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "diagnosis_cases.h"
#include "files/json.h"

namespace odori::grader::faults {
namespace {

std::vector<std::string> flags_for(int program) { return {"--program", std::to_string(program)}; }

/// Are the updates those of the sum over the ranks, or of another multiple of the mean?
bool is_multiple(const Situation& situation, const Updates& updates, double rate_factor, double decay_factor) {
  const RunPlan& plan = situation.plan;
  Sgd sgd{.rate = plan.learning_rate * rate_factor};
  sgd.decay *= decay_factor;
  return !find_wrong_weights(situation.data(), plan, updates, static_cast<std::size_t>(plan.batch_size),
                             [&](std::size_t) { return sgd; });
}

}  // namespace

RunPlan run_of(int program, RunPlan plan) {
  plan.snapshots = false;
  plan.flags = flags_for(program);
  return plan;
}

bool is_of(const Situation& situation, int program) { return situation.plan.flags == flags_for(program); }

std::function<Found(const Situation&)> in_program(int program, Found (*find)(const Situation&)) {
  return [=](const Situation& situation) { return is_of(situation, program) ? find(situation) : Found(); };
}

const RunPlan diagnoses_asked{
    .nodes = {0}, .epochs = 0, .shows = 1, .test_cases = json_text(nlohmann::json(ask_for_diagnoses))};

std::function<Found(const Situation&)> in_diagnosis(int program, const Accepted& accepted) {
  return [=](const Situation& situation) -> Found {
    if (situation.plan != diagnoses_asked) return {};
    const std::vector<RankSeen>& ranks = situation.evidence().ranks;
    const std::size_t at = choices_of_diagnosis * static_cast<std::size_t>(program - 1);
    if (ranks.empty() || ranks.front().values.empty()) return {};
    const std::vector<float>& values = ranks.front().values.front();
    if (values.size() < at + choices_of_diagnosis) return {};
    const auto chosen = [&]<typename Choice>(Choice, std::size_t i) {
      return Choice(static_cast<int>(values[at + i]));
    };
    if (chosen(Why(), 2) != accepted.why) return found("diagnosis_why", {{"program", program}});
    if (!accepted.lines.contains(chosen(Line(), 1))) return found("diagnosis_line", {{"program", program}});
    if (!accepted.ranks.contains(chosen(Who(), 0))) return found("diagnosis_ranks", {{"program", program}});
    return {};
  };
}

Found find_in_devices(const Situation& situation) {
  const std::vector<int>& nodes = situation.plan.nodes;
  std::vector<int> devices;
  std::map<int, std::set<int>> of_node;
  for (std::size_t rank = 0; rank < nodes.size(); ++rank) {
    const std::optional<int> device = situation.evidence().ranks[rank].device;
    if (!device) return {};
    devices.push_back(*device);
    of_node[nodes[rank]].insert(*device);
  }
  for (const auto& [node, used] : of_node) {
    const auto ranks = static_cast<int>(std::ranges::count(nodes, node));
    if (static_cast<int>(used.size()) != ranks || *used.begin() != 0 || *used.rbegin() != ranks - 1)
      return found("faults_devices", {{"devices", list(devices)}, {"nodes", list(nodes)}});
  }
  return {};
}

Found find_in_shards(const Situation& situation) {
  std::vector<Images> shards;
  for (const RankSeen& rank : situation.evidence().ranks) {
    if (rank.train_iterators.empty()) return {};
    Images& images = shards.emplace_back(rank.train_iterators.front().images);
    const Images& others = rank.train_iterators.front().not_counted;
    images.insert(images.end(), others.begin(), others.end());
  }
  const std::size_t whole = situation.data().sets.train->size();
  const Division seen = divide(shards, whole);
  if (seen.smallest != seen.largest)
    return found("faults_shards_unequal", {{"smallest", seen.smallest}, {"largest", seen.largest}});
  if (const std::size_t most = (whole + shards.size() - 1) / shards.size(); seen.smallest > most)
    return found("faults_images_shared",
                 {{"each", seen.smallest}, {"most", most}, {"whole", whole}, {"n", shards.size()}});
  if (whole - seen.covered >= shards.size())
    return found("faults_images_left_out", {{"left", whole - seen.covered}, {"whole", whole}});
  return {};
}

Found find_in_weights(const Situation& situation) {
  const Updates updates = updates_of_ranks(situation.evidence());
  if (const auto apart = find_disagreement(updates))
    return found("faults_ranks_apart", {{"update", apart->update}, {"one", apart->one}, {"other", apart->other}});
  const auto wrong = find_wrong_weights(situation.data(), situation.plan, updates);
  if (!wrong) return {};
  const double n = situation.plan.ranks();
  if (n > 1 && is_multiple(situation, updates, n, 1 / n)) return found("faults_gradients_summed", {{"n", n}});
  if (n > 1 && is_multiple(situation, updates, 1, 1 / n)) return found("faults_rate_divided", {{"n", n}});
  const auto says = [&](const char* key, double seen, double expected) {
    return found(
        key,
        {{"seen", measured(seen, expected)}, {"expected", fmt::format("{:.6g}", expected)}, {"update", wrong->update}});
  };
  if (wrong->rate) return says("learning_rate_changed", *wrong->rate, wrong->expected.rate);
  if (wrong->momentum) return says("momentum_changed", *wrong->momentum, wrong->expected.momentum);
  if (wrong->decay) return says("weight_decay_changed", *wrong->decay, wrong->expected.decay);
  return found("weights_differ", {{"update", wrong->update}});
}

Found find_in_result(const Situation& situation) {
  const std::vector<RankSeen>& ranks = situation.evidence().ranks;
  const std::size_t whole = situation.data().sets.test->size();
  if (ranks.empty()) return {};
  const Found wrong = find_wrong_evaluation(ranks.front(), situation.data());
  if (!wrong || ranks.front().evaluations.empty() || ranks.front().observations.empty()) return wrong;
  const EvaluationSeen& own = ranks.front().evaluations.front();
  if (static_cast<std::size_t>(own.samples) == whole || !same(ranks.front().observations.front().loss, own.loss))
    return wrong;
  return found("faults_own_result", {{"seen", own.samples}, {"whole", whole}});
}

Found find_in_ending(const Situation& situation) {
  if (situation.plan == diagnoses_asked) return find_no_values(situation);
  return find_early_end(situation);
}

ShownFigure rank_table(Runs& whole, const std::vector<RunPlan>& of_programs) {
  ShownFigure shown{{.title = "rank_table",
                     .text = "rank_table_is",
                     .x_name = "rank_table_ranks",
                     .y_name = "rank_table_calls",
                     .bars = {"rank_0", "rank_1", "rank_2"}},
                    {}};
  static constexpr std::array names{"program_1", "program_2", "program_3", "program_4"};
  for (std::size_t program = 0; program < of_programs.size(); ++program) {
    Curve& curve = shown.figure.curves.emplace_back(Curve{names.at(program), {}});
    for (const RankSeen& rank : whole.of(of_programs[program]).ranks)
      curve.values.push_back(static_cast<double>(rank.collectives.size()));
  }
  return shown;
}

}  // namespace odori::grader::faults
