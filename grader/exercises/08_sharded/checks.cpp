// SPDX-License-Identifier: Apache-2.0
// Task 8: Adam's state sharded, then parameters that are gathered on use.
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "observe/refusal.h"
#include "sharded_find.h"

namespace odori::grader {
namespace {

// Most shards differ in size. Layers of one size show a mistaken order, one with fewer parameters than ranks an empty
// shard; a layer alone has no next one.
const ShardedCase plainest{{12, 12, 9, 4}, 2}, few{{5, 2, 3}, 2}, larger{{90, 41, 40, 40}, 2}, one_layer{{13}, 1};
const RunPlan alone = trying_sharded({0}, {true, {plainest, one_layer}}),
              two = trying_sharded({0, 0}, {false, {plainest, larger, one_layer}}),
              three = trying_sharded({0, 1, 1}, {false, {plainest, larger}}),
              five = trying_sharded({0, 0, 1, 1, 1}, {false, {larger, few}});

std::string described(const RunPlan& plan) {
  std::vector<std::string> cases;
  for (const ShardedCase& each : sharded_cases_of(plan).cases)
    cases.push_back(fmt::format("layers of {}", fmt::join(each.layers, " + ")));
  return fmt::format("{}", fmt::join(cases, "; "));
}

// ---- Blank 1

Found find_in_state(const Situation& situation) {
  return on_ranks(situation, [](const ShardedCaseSeen& seen, int rank) -> Found {
    const auto state = seen.state(rank);
    const std::size_t own = seen.own(rank).size();
    if (!state || *state == static_cast<std::int64_t>(own)) return {};
    const auto elements = static_cast<std::size_t>(*state), n = static_cast<std::size_t>(seen.ranks());
    const char* key = "sh_state_size";
    if (elements == seen.parameters()) key = "sh_state_of_all";
    if (n > 1 && elements == seen.parameters() / n) key = "sh_state_rounded_down";
    return found(key, {{"rank", rank}, {"seen", elements}, {"expected", own}, {"all", seen.parameters()}, {"n", n}});
  });
}

// ---- Blank 2

Found find_in_norm(const Situation& situation) {
  if (Found refused = find_refused(situation.evidence(), refusal::other_length, "sh_norm_refused")) return refused;
  if (Found wrong = on_ranks(situation, [](const ShardedCaseSeen& seen, int rank) -> Found {
        const std::vector<float>* const shown = seen.clipped(rank);
        const Range own = seen.own(rank);
        if (!shown || shown->size() != own.size() || own.size() == 0) return {};
        std::size_t largest = own.begin;
        double all = 0, sum_of_norms = 0;
        Doubles norms;
        for (int other = 0; other < seen.ranks(); ++other) {
          double squares = 0;
          for (std::size_t i = seen.own(other).begin; i < seen.own(other).end; ++i)
            squares += std::pow(clipped_gradient(i), 2);
          all += squares;
          norms.push_back(std::sqrt(squares));
          sum_of_norms += norms.back();
        }
        for (std::size_t i = own.begin; i < own.end; ++i)
          if (std::abs(clipped_gradient(i)) > std::abs(clipped_gradient(largest))) largest = i;
        const double scaled = (*shown)[largest - own.begin] / clipped_gradient(largest);
        const double norm = double{clipped_to} / scaled, expected = std::sqrt(all), n = seen.ranks();
        if (same(norm, expected, 1e-4)) return {};
        const auto is = [&](double other) { return same(norm, other, 1e-4); };
        const char* key = "sh_norm_wrong";
        if (scaled == 1) key = "sh_norm_small";
        if (n > 1 && is(norms[static_cast<std::size_t>(rank)])) key = "sh_norm_own";
        if (is(all)) key = "sh_norm_without_root";
        if (n > 1 && is(sum_of_norms)) key = "sh_norm_sum_of_norms";
        if (n > 1 && (is(expected / n) || is(expected / std::sqrt(n)) || is(sum_of_norms / n))) key = "sh_norm_mean";
        return found(key, {{"rank", rank},
                           {"seen", fmt::format("{:.5g}", norm)},
                           {"expected", fmt::format("{:.5g}", expected)},
                           {"n", seen.ranks()}});
      }))
    return wrong;
  return find_more_bytes_of_updates("sh_norm_bytes", situation);
}

// ---- Blank 3

Found find_in_mean(const Situation& situation) {
  if (Found refused = find_refused(situation.evidence(), refusal::other_length, "sh_mean_refused")) return refused;
  if (Found wrong = on_ranks(situation, [](const ShardedCaseSeen& seen, int rank) -> Found {
        const std::vector<float>* const given = seen.of_update(rank, 0, ShownOfUpdate::adam_gradients);
        const Range own = seen.own(rank);
        if (!given || given->size() != own.size() || seen.never_updated(rank, 0).value_or(1) > 0) return {};
        const Doubles mean = seen.mean(0);
        const double n = seen.ranks();
        const auto expected = [&](std::size_t k) { return mean[own.begin + k]; };
        if (all_near(*given, expected)) return {};
        const auto says = [&](const char* key) { return found(key, {{"rank", rank}, {"n", seen.ranks()}}); };
        const auto is = [&](const auto& other) { return all_near(*given, other); };
        if (is([](std::size_t) { return 0.0; })) return says("sh_mean_empty");
        if (n > 1 && is([&](std::size_t k) { return double{known_gradient(rank, own.begin + k, 0)}; }))
          return says("sh_mean_own");
        if (is([&](std::size_t k) { return n * expected(k); })) return says("sh_mean_sum");
        if (is([&](std::size_t k) { return expected(k) / n; })) return says("sh_mean_divided_twice");
        if (is([&](std::size_t k) { return mean[k]; })) return says("sh_mean_of_first");
        return first_that_differs("sh_mean_wrong", rank, *given, expected);
      }))
    return wrong;
  return find_more_bytes_of_updates("sh_mean_bytes", situation);
}

// ---- Blank 4

/// AdamState refused an element: where did this rank's update begin?
Found find_outside_state(const Situation& situation) {
  const Evidence& evidence = situation.evidence();
  for (std::size_t rank = 0; rank < evidence.ranks.size(); ++rank)
    for (const facts::Event& event : evidence.ranks[rank].events) {
      if (event.what != outside_state || event.about.empty()) continue;
      const bool from_0 = event.about.front() == 0;
      return found(from_0 ? "sh_updates_beyond_own" : "sh_state_at_global_index",
                   {{"rank", rank}, {"first", event.about.front()}});
    }
  return {};
}

Found find_in_update(const Situation& situation) {
  if (Found outside = find_outside_state(situation)) return outside;
  return in_updates(situation, [](const ShardedCaseSeen& seen, int rank, int update) -> Found {
    const auto never = seen.never_updated(rank, update), twice = seen.updated_twice(rank, update);
    const Range own = seen.own(rank);
    if (never && *never > 0)
      return found("sh_not_all_updated", {{"rank", rank}, {"never", *never}, {"own", own.size()}});
    if (twice && *twice > 0) return found("sh_updated_twice", {{"rank", rank}, {"twice", *twice}});
    const std::vector<float>* const given = seen.of_update(rank, update, ShownOfUpdate::adam_gradients);
    const std::vector<float>* const all = seen.of_update(rank, update, ShownOfUpdate::parameters);
    if (!given || !all || given->size() != own.size()) return {};
    if (Found wrong = first_that_differs("sh_update_gradient", rank, *given,
                                         [&](std::size_t k) { return seen.clipped_mean(update)[own.begin + k]; }))
      return wrong;
    const std::vector<float> mine(all->begin() + static_cast<std::ptrdiff_t>(own.begin),
                                  all->begin() + static_cast<std::ptrdiff_t>(own.end));
    const auto of = [&](const Doubles& values) {
      return [&, begin = own.begin](std::size_t k) { return values[begin + k]; };
    };
    if (all_near(mine, of(seen.after(update)))) return {};
    std::size_t unchanged = 0;
    for (std::size_t k = 0; k < mine.size(); ++k)
      unchanged += near_value(mine[k], of(seen.before(update))(k)) && !near_value(mine[k], of(seen.after(update))(k));
    if (2 * unchanged > mine.size())
      return found("sh_others_updated",
                   {{"rank", rank}, {"unchanged", unchanged}, {"begin", own.begin}, {"end", own.end}});
    return first_that_differs("sh_update_wrong", rank, mine, of(seen.after(update)));
  });
}

// ---- Blank 5

Found find_in_gather(const Situation& situation) {
  if (Found refused = find_refused(situation.evidence(), refusal::other_length, "sh_gather_refused")) return refused;
  if (Found wrong = in_updates(situation, [](const ShardedCaseSeen& seen, int rank, int update) -> Found {
        const std::vector<float>* const all = seen.of_update(rank, update, ShownOfUpdate::parameters);
        if (!all) return {};
        const Range own = seen.own(rank);
        const Doubles &after = seen.after(update), &before = seen.before(update);
        const auto expected = [&](std::size_t i) { return after[i]; };
        if (all_near(*all, expected)) return {};
        if (all_near(*all, [&](std::size_t i) { return own.begin <= i && i < own.end ? after[i] : before[i]; }))
          return found("sh_not_gathered", {{"rank", rank}, {"n", seen.ranks()}});
        if (all_near(*all, [&](std::size_t i) { return seen.clipped_mean(update)[i]; }))
          return found("sh_gradients_gathered", {{"rank", rank}});
        const double n = seen.ranks();
        const auto sum = [&](std::size_t i) { return (n - 1) * before[i] + after[i]; };
        const char* key = "sh_gathered_wrong";
        if (n > 1 && all_near(*all, sum)) key = "sh_parameters_summed";
        if (n > 1 && all_near(*all, [&](std::size_t i) { return sum(i) / n; })) key = "sh_parameters_averaged";
        return first_that_differs(key, rank, *all, expected);
      }))
    return wrong;
  return find_more_bytes_of_updates("sh_gather_bytes", situation);
}

// ---- Blank 6

Found find_in_reshard(const Situation& situation) {
  if (!sharded_cases_of(situation.plan).reshard) return {};
  const auto& shown = situation.evidence().ranks.front().values;
  std::size_t next = 0;
  for (const Reshard& each : tried_reshards)
    for (int rank = 0; rank < each.n; ++rank, ++next) {
      if (next >= shown.size()) return {};
      const auto values = [&](Range range) {
        std::vector<float> result;
        for (std::size_t i = range.begin; i < range.end; ++i) result.push_back(saved_value(i));
        return result;
      };
      const std::vector<float>&seen = shown[next], expected = values(sharded_range(each.size, rank, each.n));
      if (seen == expected) continue;
      const char* key = "sh_reshard_wrong";
      if (seen == values({0, each.size})) key = "sh_reshard_all";
      if (rank < each.from && seen == values(sharded_range(each.size, rank, each.from))) key = "sh_reshard_saved";
      const std::size_t rounded = each.size / static_cast<std::size_t>(each.n);
      if (seen.size() == rounded && rounded < expected.size()) key = "sh_reshard_rounded_down";
      return found(key, {{"rank", rank},
                         {"from", each.from},
                         {"n", each.n},
                         {"size", each.size},
                         {"seen", fmt::format("[{}]", fmt::join(seen, ", "))},
                         {"expected", fmt::format("[{}]", fmt::join(expected, ", "))}});
    }
  return {};
}

// ---- Blanks 7 and 9: passes.cpp

Found find_in_forward(const Situation& situation) { return find_in_pass(situation, true); }
Found find_in_backward(const Situation& situation) { return find_in_pass(situation, false); }

// ---- Blank 8

Found find_in_reduction(const Situation& situation) {
  const Evidence& evidence = situation.evidence();
  if (Found refused = find_refused(evidence, refusal::other_length, "sh_reduce_refused")) return refused;
  if (Found refused = find_refused(evidence, no_gradients, "sh_freed_too_early")) return refused;
  if (Found refused = find_refused(evidence, gradients_kept, "sh_gradients_not_freed")) return refused;
  if (Found wrong = in_updates(situation, [](const ShardedCaseSeen& seen, int rank, int step) -> Found {
        const std::vector<float>* const shown = seen.of_step(rank, step, ShownOfStep::mean_shards);
        const std::vector<std::size_t> own = seen.own_in_layers(rank);
        if (!shown || shown->size() != own.size()) return {};
        const Doubles mean = seen.mean(step);
        const double n = seen.ranks();
        const auto says = [&](const char* key) { return found(key, {{"rank", rank}, {"n", seen.ranks()}}); };
        const auto is = [&](const auto& other) { return all_near(*shown, other); };
        const auto expected = [&](std::size_t k) { return mean[own[k]]; };
        if (is(expected)) return {};
        if (std::ranges::any_of(*shown, [](float value) { return std::isnan(value); }))
          return says("sh_shard_not_filled");
        if (n > 1 && is([&](std::size_t k) { return double{known_gradient(rank, own[k], step)}; }))
          return says("sh_mean_own");
        if (is([&](std::size_t k) { return n * expected(k); })) return says("sh_mean_sum");
        if (is([&](std::size_t k) { return expected(k) / n; })) return says("sh_mean_divided_twice");
        return first_that_differs("sh_mean_wrong", rank, *shown, expected);
      }))
    return wrong;
  return find_more_bytes_of_steps("sh_step_bytes", situation);
}

// ---- Anyone's

Found find_in_shards(const Situation& situation) {
  return in_updates(situation, [](const ShardedCaseSeen& seen, int rank, int step) -> Found {
    const std::vector<float>* const shown = seen.of_step(rank, step, ShownOfStep::shards);
    const std::vector<std::size_t> own = seen.own_in_layers(rank);
    if (!shown || shown->size() != own.size()) return {};
    return first_that_differs("sh_update_wrong", rank, *shown, [&](std::size_t k) { return seen.after(step)[own[k]]; });
  });
}

Found find_endless_wait(const Situation& situation) {
  return situation.evidence().ending == Ending::hung ? Found(find_hang(situation.evidence())) : Found();
}

}  // namespace

Exam exam_of_sharded() {
  std::vector<Check> checks{{1, "StateIsOfTheShard", find_in_state},
                            {2, "NormIsOfTheWholeGradient", find_in_norm},
                            {3, "GradientsAreReducedToAShard", find_in_mean},
                            {4, "OwnParametersAreUpdated", find_in_update},
                            {5, "ParametersAreGathered", find_in_gather},
                            {6, "ShardsFitAnotherNumberOfRanks", find_in_reshard},
                            {7, "ForwardGathersOneLayerAhead", find_in_forward},
                            {8, "LayersKeepShardsOfGradients", find_in_reduction},
                            {9, "BackwardGathersInReverse", find_in_backward},
                            {0, "TrainsAsOneProcess", find_in_shards},
                            {0, "NobodyWaitsForEver", find_endless_wait},
                            {0, "ShowsItsValues", find_no_values},
                            {0, "EvidenceIsOfTheProgram", find_forgery}};
  for (Check& check : checks)
    check.find = [find = std::move(check.find)](const Situation& situation) {
      Found wrong = find(situation);
      if (wrong) wrong->values.try_emplace("with_flags", described(situation.plan));
      return wrong;
    };
  return {{two, three, five, alone}, std::move(checks), parameter_bytes_in_a_step};
}

}  // namespace odori::grader
