// SPDX-License-Identifier: Apache-2.0
#include "try_sharded.h"

#include <algorithm>
#include <limits>

#include "bytes_sent.h"
#include "observe/hooks.h"
#include "sharded_cases.h"
#include "test_cases.h"

namespace odori {
namespace {

void try_reshard(const ShardedProgram& program) {
  for (const Reshard& each : tried_reshards) {
    std::vector<std::vector<float>> saved;
    for (int rank = 0; rank < each.from; ++rank) {
      const Range own = shard_of(each.size, rank, each.from);
      std::vector<float>& shard = saved.emplace_back();
      for (std::size_t i = own.begin; i < own.end; ++i) shard.push_back(saved_value(i));
    }
    for (int rank = 0; rank < each.n; ++rank) observe::on_values(program.reshard(saved, rank, each.n));
  }
}

std::vector<float> known_parameters(const ShardedCase& test_case) {
  std::vector<float> parameters;
  for (std::size_t i = 0; i < test_case.parameters(); ++i) parameters.push_back(known_parameter_of(i));
  return parameters;
}

void try_clip(const ShardedProgram& program, const ShardedCase& test_case, const ProcessGroup& world) {
  const Range own = world.shard(test_case.parameters());
  std::vector<float> shard;
  for (std::size_t i = own.begin; i < own.end; ++i) shard.push_back(clipped_gradient(i));
  program.clip(shard, clipped_to, world);
  observe::on_values(shard);
}

void try_updates(const ShardedProgram& program, const ShardedCase& test_case, const Communicator& comm) {
  const ProcessGroup world = comm.group();
  std::vector<float> parameters = known_parameters(test_case), gradients(parameters.size());
  AdamState state = program.make_state(parameters.size(), world);
  observe::on_event(state_made, {static_cast<std::int64_t>(state.size())});
  std::vector<float> seen;
  std::vector<int> times;
  state.on_element([&](std::size_t k, float gradient) {
    seen[k] = gradient;
    ++times[k];
  });
  for (int update = 0; update < test_case.updates; ++update) {
    for (std::size_t i = 0; i < gradients.size(); ++i) gradients[i] = known_gradient(comm.rank(), i, update);
    seen.assign(state.size(), std::numeric_limits<float>::quiet_NaN());
    times.assign(state.size(), 0);
    state.begin_update(case_rate);
    const std::int64_t bytes =
        bytes_sent_by([&] { program.update(parameters, gradients, state, max_norm_in(update), world); }, comm);
    observe::on_event(elements_updated, {std::ranges::count(times, 0),
                                         std::ranges::count_if(times, [](int number) { return number > 1; })});
    observe::on_event(update_sent, {bytes});
    observe::on_values(seen);
    observe::on_values(parameters);
  }
}

void try_steps(const ShardedProgram& program, const ShardedCase& test_case, const Communicator& comm) {
  const ProcessGroup world = comm.group();
  ShardedModel model(test_case.layers, known_parameters(test_case), world);
  AdamState state(model.shards().size());
  std::vector<std::size_t> begins{0};
  for (const std::size_t size : test_case.layers) begins.push_back(begins.back() + size);
  for (int step = 0; step < test_case.updates; ++step) {
    std::vector<float> in_forward(begins.back()), in_backward(begins.back());
    const auto keep = [&](std::vector<float>& all, int layer, std::span<const float> parameters) {
      const std::size_t begin = begins[static_cast<std::size_t>(layer)];
      std::ranges::copy(parameters, all.begin() + static_cast<std::ptrdiff_t>(begin));
      return begin;
    };
    observe::on_event(step_begun);
    const std::int64_t bytes = bytes_sent_by(
        [&] {
          model.begin_step({[&](int layer, std::span<const float> used) { keep(in_forward, layer, used); },
                            [&](int layer, std::span<const float> used, std::span<float> gradients) {
                              std::size_t i = keep(in_backward, layer, used);
                              for (float& gradient : gradients) gradient = known_gradient(comm.rank(), i++, step);
                            }});
          program.forward(model);
          program.backward(model, world);
          model.end_step();
        },
        comm);
    observe::on_event(step_ended, {bytes});
    observe::on_values(in_forward);
    observe::on_values(in_backward);
    observe::on_values(model.mean_shards());
    program.clip(model.mean_shards(), max_norm_in(step), world);
    state.begin_update(case_rate);
    for (std::size_t k = 0; k < state.size(); ++k) state.update(k, model.shards()[k], model.mean_shards()[k]);
    observe::on_values(model.shards());
  }
}

}  // namespace

bool try_sharded(const ShardedProgram& program, Communicator& comm) {
  if (test_cases().is_null()) return false;
  const auto all = test_cases().get<ShardedCases>();
  if (all.reshard) try_reshard(program);
  for (const ShardedCase& each : all.cases) {
    try_clip(program, each, comm.group());
    try_updates(program, each, comm);
    try_steps(program, each, comm);
  }
  return true;
}

}  // namespace odori
