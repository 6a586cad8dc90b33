// SPDX-License-Identifier: Apache-2.0
// The checks of task 8, on evidence put together here: what each misconception makes of a right run.
#include <algorithm>
#include <cmath>
#include <ranges>

#include "fabricated.h"
#include "observe/refusal.h"
#include "sharded_find.h"

namespace odori::grader::test::of_sharded {
namespace {

using Floats = std::vector<float>;

Floats floats(const Doubles& values, const std::vector<std::size_t>& positions) {
  Floats result;
  for (const std::size_t i : positions) result.push_back(static_cast<float>(values[i]));
  return result;
}
std::vector<std::size_t> positions(Range range) {
  std::vector<std::size_t> all;
  for (std::size_t i = range.begin; i < range.end; ++i) all.push_back(i);
  return all;
}

std::int64_t part_of_bytes(double times, std::size_t elements, int n) {
  return std::llround(times * 4 * static_cast<double>(elements) * (n - 1) / n);
}

void call(RankSeen& seen, const char* what, int layer) { seen.events.push_back({what, {layer}}); }

void show_calls(RankSeen& seen, int layers) {
  const int last = layers - 1;
  call(seen, gather_started, 0);
  for (int i = 0; i <= last; ++i) {
    call(seen, gather_ended, i);
    if (i < last) call(seen, gather_started, i + 1);
    call(seen, layer_forward_computed, i);
    if (i < last) call(seen, parameters_freed, i);
  }
  for (int i = last; i >= 0; --i) {
    if (i > 0) call(seen, gather_started, i - 1);
    call(seen, layer_backward_computed, i);
    call(seen, parameters_freed, i);
    call(seen, gradients_freed, i);
  }
}

/// What the rank shows of a case in a right run. `seen_case` computes what one process has.
void show_case(RankSeen& seen, const ShardedCaseSeen& seen_case, int rank) {
  const std::size_t size = seen_case.parameters();
  const int n = seen_case.ranks();
  const std::vector<std::size_t> own = positions(seen_case.own(rank)), all = positions({0, size}),
                                 in_layers = seen_case.own_in_layers(rank);
  double squares = 0;
  for (const std::size_t i : all) squares += std::pow(clipped_gradient(i), 2);
  Floats clipped;
  for (const std::size_t i : own)
    clipped.push_back(static_cast<float>(clipped_gradient(i) * clipped_to / std::sqrt(squares)));
  seen.values.push_back(clipped);
  seen.events.push_back({state_made, {static_cast<std::int64_t>(own.size())}});
  for (int update = 0; update < seen_case.sizes().updates; ++update) {
    seen.events.push_back({elements_updated, {0, 0}});
    seen.events.push_back({update_sent, {part_of_bytes(2, size, n)}});
    seen.values.push_back(floats(seen_case.clipped_mean(update), own));
    seen.values.push_back(floats(seen_case.after(update), all));
  }
  for (int step = 0; step < seen_case.sizes().updates; ++step) {
    seen.events.push_back({step_begun, {}});
    show_calls(seen, static_cast<int>(seen_case.sizes().layers.size()));
    seen.events.push_back({step_ended, {part_of_bytes(3, size, n)}});
    for (int pass = 0; pass < 2; ++pass) seen.values.push_back(floats(seen_case.before(step), all));
    seen.values.push_back(floats(seen_case.mean(step), in_layers));
    seen.values.push_back(floats(seen_case.after(step), in_layers));
  }
}

Evidence sharded_on(const RunPlan& plan) {
  Evidence evidence = right_run(plan);
  const ShardedCases cases = sharded_cases_of(plan);
  Fabricated nothing([](Evidence&, const RunPlan&) {}, right_run);
  if (cases.reshard)
    for (const Reshard& each : tried_reshards)
      for (int rank = 0; rank < each.n; ++rank) {
        Floats shard;
        for (const std::size_t i : positions(sharded_range(each.size, rank, each.n))) shard.push_back(saved_value(i));
        evidence.ranks[0].values.push_back(shard);
      }
  for (std::size_t i = 0; i < cases.cases.size(); ++i)
    for (int rank = 0; rank < plan.ranks(); ++rank)
      show_case(evidence.ranks[static_cast<std::size_t>(rank)], ShardedCaseSeen({nothing, plan}, i), rank);
  return evidence;
}

std::string verdict(int blank, const Fabricated::Change& change) {
  return verdict_on("sharded", blank, change, sharded_on);
}

/// What to make of each rank's value at this position within each case.
std::string with_values(int blank, std::size_t position,
                        const std::function<void(Floats&, const ShardedCaseSeen&, int rank)>& change) {
  return verdict(blank, [&](Evidence& evidence, const RunPlan& plan) {
    Fabricated right([](Evidence&, const RunPlan&) {}, sharded_on);
    ShardedCases before = sharded_cases_of(plan);
    const std::size_t n = before.cases.size();
    for (std::size_t i = n; i-- > 0;) {
      before.cases.resize(i);
      const ShardedCaseSeen seen({right, plan}, i);
      if (position > 2 && seen.sizes().updates < 2) continue;  // of another update there
      for (std::size_t rank = 0; rank < evidence.ranks.size(); ++rank)
        change(evidence.ranks[rank].values.at(values_shown(before) + position), seen, static_cast<int>(rank));
    }
  });
}
std::string with_events(int blank, const std::function<void(std::vector<facts::Event>&, int rank)>& change) {
  return verdict(blank, [&](Evidence& evidence, const RunPlan&) {
    for (std::size_t rank = 0; rank < evidence.ranks.size(); ++rank)
      change(evidence.ranks[rank].events, static_cast<int>(rank));
  });
}
std::string with_numbers(int blank, const char* event,
                         const std::function<void(std::vector<std::int64_t>&, int)>& change) {
  return with_events(blank, [&](std::vector<facts::Event>& events, int rank) {
    for (facts::Event& each : events)
      if (each.what == event) change(each.about, rank);
  });
}
/// The calls of each step: those of this kind are left out.
std::string without(int blank, const char* what, int layer) {
  return with_events(blank, [&](std::vector<facts::Event>& events, int) {
    std::erase_if(events, [&](const facts::Event& each) { return each.what == what && each.about.front() == layer; });
  });
}
std::string refused(int blank, const char* refusal) {
  return verdict(blank, [&](Evidence& evidence, const RunPlan&) {
    evidence.ending = Ending::failed;
    evidence.ranks.front().error = "a sentence";
    evidence.ranks.front().events.push_back({refusal, {}});
  });
}

TEST(Sharded, FindsNothingInARightRun) {
  for (int blank = 1; blank <= 9; ++blank)
    EXPECT_EQ(verdict(blank, [](Evidence&, const RunPlan&) {}), "right") << blank;
}

TEST(Sharded, IsTriedOnOneTwoThreeAndFiveRanksWithUnevenShards) {
  std::vector<int> ranks;
  for (const RunPlan& plan : exam_of(task_named("sharded")).situations) {
    ranks.push_back(plan.ranks());
    for (const ShardedCase& each : sharded_cases_of(plan).cases)
      EXPECT_TRUE(plan.ranks() == 1 || each.layers.size() < 4 ||
                  each.parameters() % static_cast<std::size_t>(plan.ranks()) != 0);
  }
  std::ranges::sort(ranks);
  EXPECT_EQ(ranks, (std::vector{1, 2, 3, 5}));
}

TEST(Sharded, SumsOfKnownGradientsAreExact) {
  for (int update = 0; update < 2; ++update)
    for (std::size_t i = 0; i < 40; ++i) {
      float up = 0, down = 0;
      for (int rank = 0; rank < 5; ++rank) {
        up += known_gradient(rank, i, update);
        down += known_gradient(4 - rank, i, update);
      }
      EXPECT_EQ(up, down);
      EXPECT_EQ(up * 8, std::round(up * 8));
    }
}

TEST(Sharded, NamesMistakesOfTheState) {
  EXPECT_EQ(with_numbers(1, state_made, [](auto& about, int) { about = {37}; }), "sh_state_of_all");
  EXPECT_EQ(with_numbers(1, state_made, [](auto& about, int) { about = {18}; }), "sh_state_rounded_down");
  EXPECT_EQ(with_numbers(1, state_made, [](auto& about, int) { ++about.front(); }), "sh_state_size");
}

TEST(Sharded, NamesMistakesOfTheNorm) {
  const auto with_norm = [](auto norm) {
    return with_values(2, 0, [=](Floats& values, const ShardedCaseSeen& seen, int rank) {
      Doubles squares;
      for (int other = 0; other < seen.ranks(); ++other) {
        squares.push_back(0);
        for (const std::size_t i : positions(seen.own(other))) squares.back() += std::pow(clipped_gradient(i), 2);
      }
      const double right = std::sqrt(std::accumulate(squares.begin(), squares.end(), 0.0));
      for (float& value : values) value = static_cast<float>(value * right / norm(squares, rank, right));
    });
  };
  using Squares = const Doubles&;
  EXPECT_EQ(with_norm([](Squares, int, double right) { return right; }), "right");
  EXPECT_EQ(
      with_norm([](Squares squares, int rank, double) { return std::sqrt(squares[static_cast<std::size_t>(rank)]); }),
      "sh_norm_own");
  EXPECT_EQ(with_norm([](Squares, int, double right) { return right * right; }), "sh_norm_without_root");
  EXPECT_EQ(with_norm([](Squares squares, int, double) {
              double sum = 0;
              for (const double each : squares) sum += std::sqrt(each);
              return sum;
            }),
            "sh_norm_sum_of_norms");
  EXPECT_EQ(with_norm([](Squares squares, int, double right) {
              return right / std::sqrt(static_cast<double>(squares.size()));
            }),
            "sh_norm_mean");
  EXPECT_EQ(with_norm([](Squares, int, double right) { return 3 * right; }), "sh_norm_wrong");
  EXPECT_EQ(with_values(2, 0,
                        [](Floats& values, const ShardedCaseSeen& seen, int rank) {
                          for (std::size_t k = 0; k < values.size(); ++k)
                            values[k] = clipped_gradient(seen.own(rank).begin + k);
                        }),
            "sh_norm_small");
  EXPECT_EQ(with_numbers(2, update_sent, [](auto& about, int) { about.front() *= 2; }), "sh_norm_bytes");
  EXPECT_EQ(refused(2, refusal::other_length), "sh_norm_refused");
}

TEST(Sharded, NamesMistakesOfTheMean) {
  const auto mean = [](int blank, auto value) {
    const std::size_t of_part_b = 1 + 2 * 2 + 2;  // the cases of two updates
    return with_values(blank, blank == 3 ? 1 : of_part_b, [=](Floats& values, const ShardedCaseSeen& seen, int rank) {
      const std::vector<std::size_t> own = blank == 3 ? positions(seen.own(rank)) : seen.own_in_layers(rank);
      const Doubles right = seen.mean(0);
      for (std::size_t k = 0; k < values.size(); ++k)
        values[k] = static_cast<float>(value(right, own[k], k, rank, seen.ranks()));
    });
  };
  using Right = const Doubles&;
  for (const int blank : {3, 8}) {
    EXPECT_EQ(mean(blank, [](Right right, std::size_t i, std::size_t, int, int) { return right[i]; }), "right");
    EXPECT_EQ(mean(blank, [](Right right, std::size_t i, std::size_t, int, int n) { return n * right[i]; }),
              "sh_mean_sum");
    EXPECT_EQ(mean(blank, [](Right right, std::size_t i, std::size_t, int, int n) { return right[i] / n; }),
              "sh_mean_divided_twice");
    EXPECT_EQ(mean(blank, [](Right, std::size_t i, std::size_t, int rank, int) { return known_gradient(rank, i, 0); }),
              "sh_mean_own");
    EXPECT_EQ(mean(blank, [](Right right, std::size_t i, std::size_t, int, int) { return right[i] + 1; }),
              "sh_mean_wrong");
    EXPECT_EQ(refused(blank, refusal::other_length), blank == 3 ? "sh_mean_refused" : "sh_reduce_refused");
  }
  EXPECT_EQ(mean(3, [](Right, std::size_t, std::size_t, int, int) { return 0; }), "sh_mean_empty");
  EXPECT_EQ(mean(3, [](Right right, std::size_t, std::size_t k, int, int) { return right[k]; }), "sh_mean_of_first");
  EXPECT_EQ(mean(8, [](Right, std::size_t, std::size_t, int, int) { return std::nan(""); }), "sh_shard_not_filled");
  EXPECT_EQ(with_numbers(3, update_sent, [](auto& about, int) { about.front() = about.front() * 3 / 2; }),
            "sh_mean_bytes");
  EXPECT_EQ(with_numbers(8, step_ended, [](auto& about, int) { about.front() = about.front() * 4 / 3; }),
            "sh_step_bytes");
}

TEST(Sharded, NamesMistakesOfTheUpdate) {
  const auto outside = [](std::int64_t first) {
    return verdict(4, [=](Evidence& evidence, const RunPlan& plan) {
      if (plan.ranks() > 1) evidence.ranks[1].events.push_back({outside_state, {first}});
    });
  };
  EXPECT_EQ(outside(0), "sh_updates_beyond_own");
  EXPECT_EQ(outside(18), "sh_state_at_global_index");
  EXPECT_EQ(with_numbers(4, elements_updated, [](auto& about, int) { about = {2, 0}; }), "sh_not_all_updated");
  EXPECT_EQ(with_numbers(4, elements_updated, [](auto& about, int) { about = {0, 1}; }), "sh_updated_twice");
  EXPECT_EQ(with_values(4, 1, [](Floats& values, auto&, int) { values.front() += 1; }), "sh_update_gradient");
  const auto parameters = [](int blank, auto value) {
    return with_values(blank, 2, [=](Floats& values, const ShardedCaseSeen& seen, int rank) {
      const Range own = seen.own(rank);
      for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = static_cast<float>(value(seen, i, own.begin <= i && i < own.end));
    });
  };
  using Seen = const ShardedCaseSeen&;
  EXPECT_EQ(parameters(4, [](Seen seen, std::size_t i, bool) { return seen.before(0)[i]; }), "sh_others_updated");
  EXPECT_EQ(parameters(4, [](Seen seen, std::size_t i, bool own) { return seen.after(0)[i] + (own ? 0.01 : 0); }),
            "sh_update_wrong");
  EXPECT_EQ(
      parameters(5, [](Seen seen, std::size_t i, bool own) { return own ? seen.after(0)[i] : seen.before(0)[i]; }),
      "sh_not_gathered");
  EXPECT_EQ(parameters(5, [](Seen seen, std::size_t i, bool) { return seen.mean(0)[i]; }), "sh_gradients_gathered");
  const auto sum = [](Seen seen, std::size_t i) { return (seen.ranks() - 1) * seen.before(0)[i] + seen.after(0)[i]; };
  EXPECT_EQ(parameters(5, [=](Seen seen, std::size_t i, bool) { return sum(seen, i); }), "sh_parameters_summed");
  EXPECT_EQ(parameters(5, [=](Seen seen, std::size_t i, bool) { return sum(seen, i) / seen.ranks(); }),
            "sh_parameters_averaged");
  EXPECT_EQ(parameters(5, [](Seen, std::size_t, bool) { return 1; }), "sh_gathered_wrong");
  EXPECT_EQ(refused(5, refusal::other_length), "sh_gather_refused");
  EXPECT_EQ(with_numbers(5, update_sent, [](auto& about, int) { about.front() = about.front() * 3 / 2; }),
            "sh_gather_bytes");
}

TEST(Sharded, NamesMistakesOfResharding) {
  const auto shards = [](auto shard) {
    return verdict(6, [=](Evidence& evidence, const RunPlan& plan) {
      if (!sharded_cases_of(plan).reshard) return;
      std::size_t next = 0;
      for (const Reshard& each : tried_reshards)
        for (int rank = 0; rank < each.n; ++rank) {
          Floats& values = evidence.ranks.front().values[next++];
          const Range range = shard(each, rank, values.size());
          values.clear();
          for (const std::size_t i : positions(range)) values.push_back(saved_value(i));
        }
    });
  };
  EXPECT_EQ(shards([](const Reshard& each, int, std::size_t) { return Range{0, each.size}; }), "sh_reshard_all");
  EXPECT_EQ(shards([](const Reshard& each, int rank, std::size_t) {
              return sharded_range(each.size, std::min(rank, each.from - 1), each.from);
            }),
            "sh_reshard_saved");
  EXPECT_EQ(shards([](const Reshard& each, int rank, std::size_t) {
              const std::size_t n = each.size / static_cast<std::size_t>(each.n), r = static_cast<std::size_t>(rank);
              return Range{r * n, (r + 1) * n};
            }),
            "sh_reshard_rounded_down");
  EXPECT_EQ(shards([](const Reshard&, int, std::size_t size) { return Range{1, size + 1}; }), "sh_reshard_wrong");
}

TEST(Sharded, NamesMistakesOfTheOrderOfCalls) {
  EXPECT_EQ(without(7, parameters_freed, 0), "sh_not_freed");
  EXPECT_EQ(without(9, parameters_freed, 2), "sh_not_freed");
  EXPECT_EQ(without(9, gradients_freed, 3), "sh_gradients_pile_up");
  const auto steps = [](int blank, auto change) {
    return with_events(blank, [=](std::vector<facts::Event>& events, int rank) {
      std::vector<facts::Event> changed;
      for (auto at = events.begin(); at != events.end(); ++at) {
        changed.push_back(*at);
        if (at->what != step_begun) continue;
        const auto end = std::find_if(at, events.end(), [](const auto& each) { return each.what == step_ended; });
        std::vector<facts::Event> calls(at + 1, end);
        change(calls, rank);
        changed.insert(changed.end(), calls.begin(), calls.end());
        at = end - 1;
      }
      events = changed;
    });
  };
  using Calls = std::vector<facts::Event>;
  EXPECT_EQ(steps(7, [](Calls&, int) {}), "right");
  const auto with_first = [&](int blank, const char* what, std::vector<int> layers) {
    return steps(blank, [=](Calls& calls, int) {
      const auto at = std::ranges::find(calls, what, &facts::Event::what);
      Calls more;
      for (const int layer : layers) more.push_back({gather_started, {layer}});
      calls.insert(at, more.begin(), more.end());
    });
  };
  EXPECT_EQ(with_first(7, layer_forward_computed, {2}), "sh_too_far_ahead");
  EXPECT_EQ(with_first(7, layer_forward_computed, {2, 3}), "sh_all_at_start");
  EXPECT_EQ(with_first(9, layer_backward_computed, {1}), "sh_too_far_ahead");
  EXPECT_EQ(with_first(9, layer_backward_computed, {1, 0}), "sh_all_at_start");
  EXPECT_EQ(with_first(9, gather_ended, {1, 2, 3}), "sh_gathered_often");
  EXPECT_EQ(steps(7, [](Calls& calls, int) { std::swap(calls[2], calls[3]); }), "sh_no_prefetch");
  EXPECT_EQ(steps(7, [](Calls& calls, int) { calls.insert(calls.begin() + 3, {gather_ended, {1}}); }), "sh_no_overlap");
  EXPECT_EQ(steps(9,
                  [](Calls& calls, int) {
                    const auto reversed = calls | std::views::reverse;
                    const auto at = std::ranges::find(reversed, std::string(gather_started), &facts::Event::what);
                    std::iter_swap(at, at - 1);  // the next call
                  }),
            "sh_no_prefetch");
  EXPECT_EQ(steps(9,
                  [](Calls& calls, int rank) {
                    for (facts::Event& each : calls)
                      if (rank > 0 && each.what == gather_started) each.about.front() = each.about.front() == 0;
                  }),
            "sh_gathers_apart");
  EXPECT_EQ(with_numbers(9, step_ended, [](auto& about, int) { about.front() = about.front() * 4 / 3; }),
            "sh_step_bytes");
  EXPECT_EQ(with_values(7, 1 + 2 * 2, [](Floats& values, auto&, int) { values.back() += 1; }), "sh_old_parameters");
}

TEST(Sharded, NamesRefusals) {
  for (const int blank : {7, 9}) {
    EXPECT_EQ(refused(blank, not_in_memory), "sh_layer_not_in_memory");
    EXPECT_EQ(refused(blank, not_waited), "sh_layer_not_waited");
    EXPECT_EQ(refused(blank, gather_not_started), "sh_layer_not_started");
    EXPECT_EQ(refused(blank, no_such_layer), "sh_no_such_layer");
    EXPECT_EQ(refused(blank, wrong_order), "sh_layer_order");
    EXPECT_EQ(refused(blank, layers_left_out), "sh_layers_left_out");
    EXPECT_EQ(refused(blank, parameters_kept), "sh_parameters_kept");
  }
  EXPECT_EQ(refused(9, no_gradients), "sh_reduced_too_early");
  EXPECT_EQ(refused(9, gradients_kept), "sh_not_reduced");
  EXPECT_EQ(refused(8, no_gradients), "sh_freed_too_early");
  EXPECT_EQ(refused(8, gradients_kept), "sh_gradients_not_freed");
}

TEST(Sharded, ComparesWithOneProcess) {
  EXPECT_EQ(with_values(1, 1 + 2 * 2 + 3, [](Floats& values, auto&, int) { values.front() += 0.001f; }),
            "sh_update_wrong");
}

TEST(Sharded, ShowsTwoLayersAtATime) {
  Fabricated runs([](Evidence&, const RunPlan&) {}, sharded_on);
  const ShownFigure shown = parameter_bytes_in_a_step(runs);
  ASSERT_EQ(shown.figure.curves.size(), 2u);
  ASSERT_EQ(shown.figure.x.size(), 16u);
  // A quarter of 2,900 parameters as shards; two layers, or the first one alone.
  EXPECT_EQ(shown.figure.curves[0].values.front(), 2900 * 4.0);
  EXPECT_EQ(shown.figure.curves[1].values.front(), (725 + 800) * 4.0);
  EXPECT_EQ(shown.figure.curves[1].values.back(), (725 + 400) * 4.0);
}

}  // namespace
}  // namespace odori::grader::test::of_sharded
