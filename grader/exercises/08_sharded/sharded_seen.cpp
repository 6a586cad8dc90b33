// SPDX-License-Identifier: Apache-2.0
#include "sharded_seen.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "files/json.h"
#include "zero_memory.h"

namespace odori::grader {

RunPlan trying_sharded(std::vector<int> nodes, const ShardedCases& cases) {
  std::size_t most = 0;
  for (const ShardedCase& each : cases.cases) most = std::max(most, each.parameters());
  return {.nodes = std::move(nodes),
          .epochs = 0,
          .most_values = most,
          .shows = values_shown(cases),
          .on_devices = false,
          .test_cases = json_text(nlohmann::json(cases))};
}

ShardedCases sharded_cases_of(const RunPlan& plan) { return parse_json(plan.test_cases); }

Range sharded_range(std::size_t size, int rank, int n) {
  const auto r = static_cast<std::size_t>(rank), ranks = static_cast<std::size_t>(n);
  return {size * r / ranks, size * (r + 1) / ranks};
}

ShardedCaseSeen::ShardedCaseSeen(const Situation& situation, std::size_t index)
    : evidence_(situation.evidence()), index_(index) {
  ShardedCases all = sharded_cases_of(situation.plan);
  sizes_ = all.cases[index];
  all.cases.resize(index);
  values_before_ = values_shown(all);
  for (const ShardedCase& each : all.cases) updates_before_ += static_cast<std::size_t>(each.updates);

  trained_.push_back(initial(parameters()));
  Doubles first(parameters()), second(parameters());
  for (int update = 0; update < sizes_.updates; ++update) {
    Doubles gradient = mean(update), now = trained_.back();
    double squares = 0;
    for (const double value : gradient) squares += value * value;
    const double factor = std::min(1.0, max_norm_in(update) / std::sqrt(squares));
    for (std::size_t i = 0; i < now.size(); ++i) {
      const double g = gradient[i] *= factor;
      first[i] = adam_beta1 * first[i] + (1 - adam_beta1) * g;
      second[i] = adam_beta2 * second[i] + (1 - adam_beta2) * g * g;
      const double m = first[i] / (1 - std::pow(adam_beta1, update + 1)),
                   v = second[i] / (1 - std::pow(adam_beta2, update + 1));
      now[i] -= double{case_rate} * m / (std::sqrt(v) + adam_epsilon);
    }
    clipped_.push_back(std::move(gradient));
    trained_.push_back(std::move(now));
  }
}

Doubles ShardedCaseSeen::initial(std::size_t parameters) {
  Doubles values;
  for (std::size_t i = 0; i < parameters; ++i) values.push_back(known_parameter_of(i));
  return values;
}

Doubles ShardedCaseSeen::mean(int update) const {
  Doubles values(parameters());
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (int rank = 0; rank < ranks(); ++rank) values[i] += known_gradient(rank, i, update);
    values[i] /= ranks();
  }
  return values;
}

std::vector<std::size_t> ShardedCaseSeen::own_in_layers(int rank) const {
  std::vector<std::size_t> positions;
  std::size_t begin = 0;
  for (const std::size_t size : sizes_.layers) {
    const Range own = sharded_range(size, rank, ranks());
    for (std::size_t i = own.begin; i < own.end; ++i) positions.push_back(begin + i);
    begin += size;
  }
  return positions;
}

const std::vector<float>* ShardedCaseSeen::shown(int rank, std::size_t i) const {
  const auto& all = evidence_.ranks[static_cast<std::size_t>(rank)].values;
  return values_before_ + i < all.size() ? &all[values_before_ + i] : nullptr;
}

const std::vector<float>* ShardedCaseSeen::of_update(int rank, int update, ShownOfUpdate what) const {
  return shown(rank, 1 + static_cast<std::size_t>(update) * static_cast<std::size_t>(ShownOfUpdate::count) +
                         static_cast<std::size_t>(what));
}

const std::vector<float>* ShardedCaseSeen::of_step(int rank, int step, ShownOfStep what) const {
  const auto updates = static_cast<std::size_t>(sizes_.updates) * static_cast<std::size_t>(ShownOfUpdate::count);
  return shown(rank, 1 + updates + static_cast<std::size_t>(step) * static_cast<std::size_t>(ShownOfStep::count) +
                         static_cast<std::size_t>(what));
}

const facts::Event* ShardedCaseSeen::event(int rank, const char* name, std::size_t n) const {
  for (const facts::Event& each : evidence_.ranks[static_cast<std::size_t>(rank)].events)
    if (each.what == name && n-- == 0) return &each;
  return nullptr;
}

std::optional<std::int64_t> ShardedCaseSeen::number(int rank, const char* name, std::size_t n,
                                                    std::size_t position) const {
  const facts::Event* const seen = event(rank, name, n);
  return seen && position < seen->about.size() ? std::optional(seen->about[position]) : std::nullopt;
}

std::optional<std::int64_t> ShardedCaseSeen::state(int rank) const { return number(rank, state_made, index_); }
std::optional<std::int64_t> ShardedCaseSeen::never_updated(int rank, int update) const {
  return number(rank, elements_updated, update_of_run(update));
}
std::optional<std::int64_t> ShardedCaseSeen::updated_twice(int rank, int update) const {
  return number(rank, elements_updated, update_of_run(update), 1);
}
std::optional<std::int64_t> ShardedCaseSeen::bytes_of_update(int rank, int update) const {
  return number(rank, update_sent, update_of_run(update));
}
std::optional<std::int64_t> ShardedCaseSeen::bytes_of_step(int rank, int step) const {
  return number(rank, step_ended, update_of_run(step));
}

std::vector<LayerCall> ShardedCaseSeen::calls(int rank, int step) const {
  std::vector<LayerCall> calls;
  std::size_t steps = 0;
  for (const facts::Event& each : evidence_.ranks[static_cast<std::size_t>(rank)].events) {
    if (each.what == step_begun) ++steps;
    const bool is_of_layer = each.what != step_begun && each.what != step_ended && each.about.size() == 1;
    if (steps == update_of_run(step) + 1 && each.what == step_ended) break;
    if (steps == update_of_run(step) + 1 && is_of_layer)
      calls.push_back({each.what, static_cast<int>(each.about.front())});
  }
  return calls;
}

ShownFigure parameter_bytes_in_a_step(Runs& runs) {
  const ShardedCase sizes{{400, 400, 400, 400, 400, 400, 400, 100}, 1};
  const RunPlan plan = trying_sharded({0, 0, 0, 0}, {false, {sizes}});
  runs.prepare({plan});
  const ShardedCaseSeen seen({runs, plan}, 0);
  Curve stage1{.name = "sh_picture_stage_1"}, stage3{.name = "sh_picture_stage_3", .measured = true};
  std::vector<double> computed;
  std::set<int> held;
  for (const LayerCall& call : seen.calls(0, 0)) {
    if (call.what == gather_started) held.insert(call.layer);
    if (call.what == parameters_freed) held.erase(call.layer);
    if (call.what != layer_forward_computed && call.what != layer_backward_computed) continue;
    std::size_t elements = seen.own_in_layers(0).size();
    for (const int layer : held) elements += sizes.layers[static_cast<std::size_t>(layer)];
    computed.push_back(static_cast<double>(computed.size() + 1));
    stage1.values.emplace_back(static_cast<double>(sizes.parameters() * sizeof(float)));
    stage3.values.emplace_back(static_cast<double>(elements * sizeof(float)));
  }
  constexpr int ranks = 64;
  const auto gigabytes = [](int stage) { return fmt::format("{:.1f}", zero_gigabytes(stage, ranks)); };
  return {{.title = "sh_picture",
           .text = "sh_picture_is",
           .x_name = "sh_picture_computed",
           .y_name = "sh_picture_bytes",
           .x = computed,
           .curves = {stage1, stage3},
           .linear = true},
          {{"ranks", std::to_string(plan.ranks())},
           {"layers", std::to_string(sizes.layers.size())},
           {"n", std::to_string(ranks)},
           {"stage0", gigabytes(0)},
           {"stage1", gigabytes(1)},
           {"stage2", gigabytes(2)},
           {"stage3", gigabytes(3)}}};
}

}  // namespace odori::grader
