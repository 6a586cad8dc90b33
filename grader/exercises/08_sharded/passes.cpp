// SPDX-License-Identifier: Apache-2.0
// Task 8, part B: when forward() and backward() gather, compute and free.
#include <map>
#include <set>

#include "sharded_find.h"

namespace odori::grader {
namespace {

/// Refusals that an order of calls leads to.
Found find_refused_calls(const Situation& situation, bool is_forward) {
  for (const auto& [refusal, key] : {std::pair{not_in_memory, "sh_layer_not_in_memory"},
                                     {not_waited, "sh_layer_not_waited"},
                                     {gather_not_started, "sh_layer_not_started"},
                                     {no_such_layer, "sh_no_such_layer"},
                                     {wrong_order, "sh_layer_order"},
                                     {layers_left_out, "sh_layers_left_out"},
                                     {parameters_kept, "sh_parameters_kept"}})
    if (Found refused = find_refused(situation.evidence(), refusal, key)) return refused;
  if (is_forward) return {};
  if (Found refused = find_refused(situation.evidence(), no_gradients, "sh_reduced_too_early")) return refused;
  return find_refused(situation.evidence(), gradients_kept, "sh_not_reduced");
}

/// At most two layers are in memory. Whenever a layer is computed, the gather of the next one has been started, and not
/// been waited for.
Found find_in_calls(const ShardedCaseSeen& seen, int rank, int step, bool is_forward) {
  const int n = static_cast<int>(seen.sizes().layers.size());
  std::set<int> held, computed, gradients;
  std::set<int> waited_for;    // since a layer was computed
  std::map<int, int> gathers;  // of each layer
  const char* too_many = nullptr;
  bool is_this_pass = is_forward;  // what is between the passes is of both
  for (const LayerCall& call : seen.calls(rank, step)) {
    const int next = is_forward ? call.layer + 1 : call.layer - 1;
    const auto says = [&](const char* key) {
      return found(key, {{"function", is_forward ? "forward()" : "backward()"},
                         {"rank", rank},
                         {"layer", call.layer},
                         {"next", next},
                         {"held", list({held.begin(), held.end()})},
                         {"layers", n}});
    };
    if (call.what == layer_forward_computed && call.layer == n - 1) is_this_pass = true;
    if (call.what == layer_backward_computed && is_forward) is_this_pass = false;
    if (call.what == parameters_freed) held.erase(call.layer);
    if (call.what == gradients_freed) gradients.erase(call.layer);
    if (call.what == gather_ended) waited_for.insert(call.layer);
    if (call.what == gather_started) {
      held.insert(call.layer);
      const bool old = std::ranges::any_of(held, [&](int layer) { return computed.contains(layer); });
      if (is_this_pass && held.size() > 2) {
        too_many = old ? "sh_not_freed" : "sh_too_far_ahead";
        if (old) return says(too_many);
      }
      if (++gathers[call.layer] > 2) return says("sh_gathered_often");
    }
    if (call.what == layer_forward_computed && !is_forward) waited_for.clear();
    if (call.what != (is_forward ? layer_forward_computed : layer_backward_computed)) continue;
    if (too_many) return says(computed.empty() && static_cast<int>(held.size()) == n ? "sh_all_at_start" : too_many);
    if (next >= 0 && next < n && !held.contains(next)) return says("sh_no_prefetch");
    if (waited_for.contains(next)) return says("sh_no_overlap");
    waited_for.clear();
    computed.insert(call.layer);
    if (!is_forward) gradients.insert(call.layer);
    if (gradients.size() > 1) return says("sh_gradients_pile_up");
  }
  return {};
}

/// A rank starts its gathers in another order than rank 0.
Found find_gathers_apart(const ShardedCaseSeen& seen, int rank, int step) {
  const auto gathers = [&](int of) {
    std::vector<int> layers;
    for (const LayerCall& call : seen.calls(of, step))
      if (call.what == gather_started) layers.push_back(call.layer);
    return layers;
  };
  std::vector<int> first = gathers(0), own = gathers(rank);
  const std::size_t both = std::min(first.size(), own.size());
  first.resize(both);
  own.resize(both);
  if (first == own) return {};
  return found("sh_gathers_apart", {{"rank", rank}, {"own", list(own)}, {"others", list(first)}});
}

/// More than `times` times E (n - 1) / n bytes for E bytes of parameters, and what shards of different size and the
/// norm add.
Found find_more_bytes(const char* key, const ShardedCaseSeen& seen, int rank, std::optional<std::int64_t> bytes,
                      double times) {
  const double n = seen.ranks(), layers = static_cast<double>(seen.sizes().layers.size());
  const double needed = times * static_cast<double>(seen.parameters()) * sizeof(float) * (n - 1) / n;
  if (!bytes || static_cast<double>(*bytes) <= needed + 4 * (n - 1) * (times * layers + 4)) return {};
  return found(key, {{"rank", rank}, {"seen", *bytes}, {"expected", std::llround(needed)}, {"n", seen.ranks()}});
}

}  // namespace

Found find_in_pass(const Situation& situation, bool is_forward) {
  if (Found apart = in_updates(situation, find_gathers_apart)) return apart;
  if (Found refused = find_refused_calls(situation, is_forward)) return refused;
  if (Found wrong = in_updates(situation, [&](const ShardedCaseSeen& seen, int rank, int step) -> Found {
        if (Found in_calls = find_in_calls(seen, rank, step, is_forward)) return in_calls;
        const std::vector<float>* const used =
            seen.of_step(rank, step, is_forward ? ShownOfStep::in_forward : ShownOfStep::in_backward);
        const auto expected = [&](std::size_t i) { return seen.before(step)[i]; };
        return used ? first_that_differs("sh_old_parameters", rank, *used, expected) : Found();
      }))
    return wrong;
  return find_more_bytes_of_steps("sh_step_bytes", situation);
}

Found find_more_bytes_of_updates(const char* key, const Situation& situation) {
  return in_updates(situation, [&](const ShardedCaseSeen& seen, int rank, int update) {
    return find_more_bytes(key, seen, rank, seen.bytes_of_update(rank, update), 2);
  });
}

Found find_more_bytes_of_steps(const char* key, const Situation& situation) {
  return in_updates(situation, [&](const ShardedCaseSeen& seen, int rank, int step) {
    return find_more_bytes(key, seen, rank, seen.bytes_of_step(rank, step), 3);
  });
}

}  // namespace odori::grader
