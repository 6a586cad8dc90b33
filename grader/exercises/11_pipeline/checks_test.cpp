// SPDX-License-Identifier: Apache-2.0
// The checks of task 11, on evidence put together here: what each misconception makes of a right pipeline.
#include "fabricated.h"
#include "files/json.h"
#include "observe/refusal.h"
#include "pipeline_seen.h"

namespace odori::grader::test::of_pipeline {
namespace {

facts::Event event_of(const char* name, std::vector<std::int64_t> about, const OrderSeen& order) {
  for (const StepSeen& step : order) about.push_back(code_of(step.is_backward, step.micro_batch));
  return {name, std::move(about)};
}

/// GPipe with the newest backward first; the checks take other orders too.
OrderSeen all_then_all(int m) {
  OrderSeen order;
  for (int i = 0; i < m; ++i) order.push_back({false, i});
  for (int i = m; i > 0; --i) order.push_back({true, i - 1});
  return order;
}

/// All right: what the functions return, the messages of each micro-batch, and the gradients of one device.
Evidence pipeline_on(const RunPlan& plan) {
  Evidence evidence = right_run(plan);
  const PipelineCases cases = pipeline_cases_of(plan);
  if (cases.functions) {
    RankSeen& seen = evidence.ranks.front();
    std::vector<float>&costs = seen.values.emplace_back(), shares;
    for (std::size_t i = 0; i + 1 < tried_widths.size(); ++i)
      costs.push_back(static_cast<float>((i == 0 ? 2 : 3) * tried_widths[i] * tried_widths[i + 1]));
    for (const int m : tried_micro_batches) seen.events.push_back(event_of(gpipe_order, {m}, all_then_all(m)));
    for (const int p : tried_ranks)
      for (const int m : tried_micro_batches) {
        shares.push_back(static_cast<float>(p - 1) / static_cast<float>(m + p - 1));
        for (int rank = 0; rank < p; ++rank)
          seen.events.push_back(
              event_of(one_forward_one_backward_order, {rank, p, m}, expected_one_forward_one_backward(rank, p, m)));
      }
    seen.values.push_back(shares);
  }
  for (const PipelineRun& run : cases.runs) {
    const auto gradients = gradients_of_one_device(run);
    const auto offsets = offsets_of_layers(run.widths);
    for (const std::vector<double>& all : gradients)
      for (std::size_t rank = 0; rank < evidence.ranks.size(); ++rank) {
        RankSeen& seen = evidence.ranks[rank];
        const bool last = rank + 1 == run.begins.size();
        const std::size_t begin = offsets[run.begins[rank]],
                          end = last ? offsets.back() : offsets[run.begins[rank + 1]];
        std::vector<float>& values = seen.values.emplace_back();
        for (std::size_t i = begin; i < end; ++i) values.push_back(static_cast<float>(all[i]));
        const auto send = [&](int to, std::size_t layer) {
          const auto n = static_cast<int>(run.widths[run.begins[layer]] * run.images);
          for (int i = 0; i < run.micro_batches; ++i)
            seen.messages.push_back({.call = "send", .to = to, .sent = n, .done = true});
        };
        if (!last) send(static_cast<int>(rank) + 1, rank + 1);
        if (rank > 0) send(static_cast<int>(rank) - 1, rank);
      }
  }
  return evidence;
}

std::string pipeline(int blank, const std::function<void(Evidence&, const PipelineCases&)>& change) {
  return verdict_on(
      "pipeline", blank, [&](Evidence& evidence, const RunPlan& plan) { change(evidence, pipeline_cases_of(plan)); },
      pipeline_on);
}
/// What to make of each gradient. `iteration` counts over all runs.
std::string gradients(int blank, const std::function<float(float right, int rank, const PipelineRun&, int p)>& change) {
  return pipeline(blank, [&](Evidence& evidence, const PipelineCases& cases) {
    for (std::size_t rank = 0; rank < evidence.ranks.size(); ++rank) {
      std::size_t shown = cases.functions ? 2 : 0;
      for (const PipelineRun& run : cases.runs)
        for (int i = 0; i < run.iterations; ++i)
          for (float& value : evidence.ranks[rank].values[shown++])
            value = change(value, static_cast<int>(rank), run, static_cast<int>(evidence.ranks.size()));
    }
  });
}
/// What to make of each order of this name.
std::string orders(int blank, const char* name, const std::function<OrderSeen(const Scheduled&)>& change) {
  return pipeline(blank, [&](Evidence& evidence, const PipelineCases&) {
    const std::vector<Scheduled> right = schedules_seen(evidence, name);
    std::size_t i = 0;
    for (facts::Event& event : evidence.ranks.front().events) {
      if (event.what != name) continue;
      event.about.resize(name == std::string_view(gpipe_order) ? 1 : 3);
      event = event_of(name, event.about, change(right[i++]));
    }
  });
}
/// What to make of the costs (values 0) or the idle shares (1).
std::string numbers(int blank, std::size_t which, const std::function<double(std::size_t i, double right)>& change) {
  return pipeline(blank, [&](Evidence& evidence, const PipelineCases& cases) {
    if (!cases.functions) return;
    std::vector<float>& values = evidence.ranks.front().values[which];
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(change(i, values[i]));
  });
}
/// The library stopped the run on rank 0.
std::string refused(int blank, const char* name) {
  return pipeline(blank, [&](Evidence& evidence, const PipelineCases&) {
    if (evidence.ranks.size() == 1) return;
    evidence.ending = Ending::failed;
    for (RankSeen& seen : evidence.ranks) seen.values.clear();
    evidence.ranks.front().error = "A sentence of the library's, whatever it says.";
    evidence.ranks.front().events.push_back({name, {}});
  });
}
/// All ranks wait in this call for the neighbour that waits for them, the last of an odd number for the one before.
std::string waiting(int blank, const char* call) {
  return pipeline(blank, [&](Evidence& evidence, const PipelineCases&) {
    if (evidence.ranks.size() == 1) return;
    evidence.ending = Ending::hung;
    for (std::size_t rank = 0; rank < evidence.ranks.size(); ++rank) {
      const int other =
          rank % 2 == 0 && rank + 1 < evidence.ranks.size() ? static_cast<int>(rank) + 1 : static_cast<int>(rank) - 1;
      const bool sends = call == std::string_view("send");
      evidence.ranks[rank].values.clear();
      evidence.ranks[rank].messages = {{.call = call,
                                        .to = sends ? other : -1,
                                        .sent = 1,
                                        .from = sends ? -1 : other,
                                        .received = 1,
                                        .done = false}};
    }
  });
}

TEST(Pipeline, FindsNothingInARightOne) {
  for (int blank = 1; blank <= 9; ++blank) EXPECT_EQ(pipeline(blank, [](auto&, auto&) {}), "right") << blank;
  const auto rounded = [](float right, int, const PipelineRun&, int) { return right * (1 + 3e-6f); };
  for (int blank = 1; blank <= 9; ++blank) EXPECT_EQ(gradients(blank, rounded), "right") << blank;
}

/// Gradients of a stage before the last one are not so small that a wrong one would not show.
TEST(Pipeline, GradientsOfEachRankAreLargeEnough) {
  for (const RunPlan& plan : exam_of(task_named("pipeline")).situations)
    for (const PipelineRun& run : pipeline_cases_of(plan).runs)
      for (const auto& all : gradients_of_one_device(run)) {
        const auto offsets = offsets_of_layers(run.widths);
        for (const std::size_t begin : run.begins) {
          double largest = 0;
          for (std::size_t i = offsets[begin]; i < offsets[begin + 1]; ++i)
            largest = std::max(largest, std::abs(all[i]));
          EXPECT_GT(largest, 1e-4) << "layer " << begin << " of " << json_text(nlohmann::json(run));
        }
      }
}

TEST(Pipeline, CountsTheProductsOfALayer) {
  const auto product = [](std::size_t i) { return static_cast<double>(tried_widths[i] * tried_widths[i + 1]); };
  const auto costs = [&](auto cost) { return numbers(1, 0, [&](std::size_t i, double) { return cost(i); }); };
  EXPECT_EQ(costs(product), "cost_of_forward");
  EXPECT_EQ(costs([&](std::size_t i) { return 3 * product(i); }), "cost_with_gradient_of_images");
  EXPECT_EQ(costs([&](std::size_t i) { return product(i) + static_cast<double>(tried_widths[i + 1]); }),
            "cost_of_parameters");
  EXPECT_EQ(costs([](std::size_t) { return 1.0; }), "layer_cost_wrong");
  EXPECT_EQ(costs([&](std::size_t i) { return product(i) * (i == 0 ? 4 : 6); }), "layer_cost_wrong");
}

TEST(Pipeline, KnowsTheOrdersOfGPipe) {
  const auto gpipe = [](const std::function<OrderSeen(const Scheduled&)>& change) {
    return orders(2, gpipe_order, change);
  };
  EXPECT_EQ(gpipe([](const Scheduled& seen) {
              OrderSeen order = seen.order;
              std::sort(order.begin() + seen.m, order.end(),
                        [](const auto& a, const auto& b) { return a.micro_batch < b.micro_batch; });
              return order;
            }),
            "right");
  EXPECT_EQ(gpipe([](const Scheduled& seen) {
              OrderSeen order;
              for (int i = 0; i < seen.m; ++i) order.insert(order.end(), {{false, i}, {true, i}});
              return order;
            }),
            "gpipe_in_turn");
  EXPECT_EQ(gpipe([](const Scheduled& seen) { return expected_one_forward_one_backward(0, 3, seen.m); }),
            "gpipe_backward_early");
  EXPECT_EQ(gpipe([](const Scheduled&) { return OrderSeen(); }), "gpipe_not_each_once");
  EXPECT_EQ(gpipe([](const Scheduled& seen) {
              OrderSeen order = seen.order;
              order.front().micro_batch = -1;
              return order;
            }),
            "gpipe_not_each_once");
}

/// 1F1B with another warm-up, as the steps after it make it of that.
OrderSeen with_warm_up(int warm_up, int m) {
  OrderSeen order;
  for (int i = 0; i < warm_up; ++i) order.push_back({false, i});
  for (int i = warm_up; i < m; ++i) order.insert(order.end(), {{false, i}, {true, i - warm_up}});
  for (int i = m - warm_up; i < m; ++i) order.push_back({true, i});
  return order;
}

TEST(Pipeline, KnowsTheWarmUp) {
  const auto warm_up = [](int (*of)(int rank, int p, int m)) {
    return orders(3, one_forward_one_backward_order,
                  [of](const Scheduled& seen) { return with_warm_up(of(seen.rank, seen.p, seen.m), seen.m); });
  };
  EXPECT_EQ(warm_up(expected_warm_up), "right");
  EXPECT_EQ(warm_up([](int, int, int m) { return m; }), "warm_up_of_all");
  EXPECT_EQ(warm_up([](int rank, int p, int) { return p - rank - 1; }), "warm_up_beyond_m");
  EXPECT_EQ(warm_up([](int rank, int p, int m) { return std::min(p - rank, m); }), "warm_up_one_more");
  EXPECT_EQ(warm_up([](int rank, int, int m) { return std::min(rank, m); }), "warm_up_of_stages_before");
  EXPECT_EQ(warm_up([](int, int, int) { return 0; }), "pipeline_warm_up_wrong");
}

TEST(Pipeline, KnowsOneForwardOneBackward) {
  const auto steady = [](const std::function<void(OrderSeen&, const Scheduled&)>& change) {
    return orders(4, one_forward_one_backward_order, [&](const Scheduled& seen) {
      OrderSeen order = seen.order;
      change(order, seen);
      return order;
    });
  };
  EXPECT_EQ(steady([](OrderSeen& order, const Scheduled&) { order.pop_back(); }), "steps_left_out");
  EXPECT_EQ(steady([](OrderSeen& order, const Scheduled&) { order.push_back({true, 0}); }), "order_too_long");
  EXPECT_EQ(steady([](OrderSeen& order, const Scheduled& seen) { order = all_then_all(seen.m); }),
            "forwards_run_ahead");
  EXPECT_EQ(steady([](OrderSeen& order, const Scheduled&) { order.front().is_backward = true; }), "backward_first");
  EXPECT_EQ(steady([](OrderSeen& order, const Scheduled&) { ++order.back().micro_batch; }), "other_micro_batch");
}

TEST(Pipeline, KnowsTheIdleShare) {
  const auto shares = [](double (*of)(double p, double m)) {
    return numbers(5, 1, [of](std::size_t i, double) {
      return of(tried_ranks.at(i / tried_micro_batches.size()), tried_micro_batches.at(i % tried_micro_batches.size()));
    });
  };
  EXPECT_EQ(shares([](double, double) { return 0.0; }), "idle_share_is_zero");
  EXPECT_EQ(shares([](double p, double m) { return (p - 1) / m; }), "idle_over_busy");
  EXPECT_EQ(shares([](double p, double m) { return m / (m + p - 1); }), "busy_share");
  EXPECT_EQ(shares([](double p, double m) { return p / (m + p - 1); }), "idle_share_wrong");
}

TEST(Pipeline, TellsMessagesThatWaitForEachOther) {
  EXPECT_EQ(waiting(6, "send"), "both_send_first");
  EXPECT_EQ(waiting(6, "receive"), "both_receive_first");
  const auto sent_twice = [](Evidence& evidence, const PipelineCases&) {
    for (RankSeen& seen : evidence.ranks)
      if (!seen.messages.empty()) seen.messages.push_back(seen.messages.front());
  };
  EXPECT_EQ(pipeline(6, sent_twice), "other_number_of_values");
  EXPECT_EQ(waiting(6, "exchange"), "message_left_out");
  EXPECT_EQ(waiting(7, "exchange"), "forward_waits");
  EXPECT_EQ(waiting(8, "exchange"), "backward_waits");
}

TEST(Pipeline, NamesWhatWasRefused) {
  EXPECT_EQ(refused(6, no_such_rank), "pass_on_refused");
  EXPECT_EQ(refused(6, refusal::other_length), "pass_on_refused");
  EXPECT_EQ(refused(7, no_such_rank), "forward_to_no_rank");
  EXPECT_EQ(refused(7, refusal::other_length), "forward_sends_other_values");
  for (const char* name : {other_input, no_such_micro_batch, forward_twice})
    EXPECT_EQ(refused(7, name), "stage_forward_refused");
  EXPECT_EQ(refused(8, no_such_rank), "backward_to_no_rank");
  EXPECT_EQ(refused(8, refusal::other_length), "backward_sends_other_values");
  for (const char* name : {other_gradient, loss_elsewhere, no_activations})
    EXPECT_EQ(refused(8, name), "stage_backward_refused");
}

TEST(Pipeline, LooksAtTheGradientsOfEachRank) {
  const auto on_first = [](float right, int rank, const PipelineRun&, int) { return rank == 0 ? right / 2 : right; };
  const auto on_last = [](float right, int rank, const PipelineRun&, int p) { return rank + 1 == p ? -right : right; };
  EXPECT_EQ(gradients(6, on_last), "pass_on_wrong");
  EXPECT_EQ(gradients(7, on_last), "stage_forward_wrong");
  EXPECT_EQ(gradients(8, on_last), "stage_backward_wrong");
  EXPECT_EQ(gradients(8, [](float right, int rank, const PipelineRun&, int p) { return rank + 1 < p ? 0 : right; }),
            "wrong_gradient_sent_back");
  EXPECT_EQ(gradients(9, on_last), "mean_of_batch_wrong");
  EXPECT_EQ(gradients(1, on_first), "mean_of_batch_wrong") << "also where it is nobody's in particular";
}

TEST(Pipeline, KnowsWhatGradientsWereDividedBy) {
  const auto scaled = [](double (*factor)(double m, double p), int blank = 9) {
    return gradients(blank, [factor](float right, int, const PipelineRun& run, int p) {
      return static_cast<float>(right * factor(run.micro_batches, p));
    });
  };
  EXPECT_EQ(scaled([](double m, double) { return m; }), "sum_not_divided");
  EXPECT_EQ(scaled([](double m, double p) { return m / p; }), "sum_divided_by_ranks") << "alone, p is 1";
  EXPECT_EQ(scaled([](double m, double) { return 1 / m; }), "sum_divided_too_often");
  EXPECT_EQ(scaled([](double m, double) { return 1 / m; }, 8), "sum_divided_too_often");
  EXPECT_EQ(scaled([](double m, double) { return std::pow(m, 1 - m); }), "sum_divided_too_often");
  EXPECT_EQ(scaled([](double, double) { return 0.3; }), "mean_of_batch_wrong");
}

TEST(Pipeline, ShowsTheTimeOnSimulatedRanks) { expect_curve_of_simulation("pipeline", {2, 0, 1}); }

}  // namespace
}  // namespace odori::grader::test::of_pipeline
