// SPDX-License-Identifier: Apache-2.0
// Task 11: a pipeline of micro-batches, by its schedules, its messages and its gradients.
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "checks/findings.h"
#include "checks/simulated.h"
#include "files/json.h"
#include "observe/refusal.h"
#include "pipeline_seen.h"
#include "virtual_pipeline.h"

namespace odori::grader {
namespace {

RunPlan plan_of(std::vector<int> nodes, const PipelineCases& cases) {
  std::size_t shows = cases.functions ? 2 : 0;
  for (const PipelineRun& run : cases.runs) shows += static_cast<std::size_t>(run.iterations);
  return {.nodes = std::move(nodes),
          .epochs = 0,
          .shows = shows,
          .on_devices = false,
          .test_cases = json_text(nlohmann::json(cases))};
}

// Alone, there is nothing to send: functions of no rank are called there, with many numbers of stages and
// micro-batches. In the plainest pipeline the stages' inputs and outputs have different lengths; where all widths are
// equal, a wrong vector has the right length. Two iterations show what an answer keeps, 3 micro-batches on 5 ranks that
// there can be fewer of them than stages. Ranks of a node, nodes and micro-batches are never equally many.
const RunPlan functions = plan_of({0}, {true, {{{5, 4, 3}, {0}, 3, 2, false, 2}}}),
              plainest = plan_of(
                  {0, 0, 0},
                  {false, {{{6, 5, 4, 7, 3}, {0, 1, 3}, 2, 4, true, 1}, {{6, 5, 4, 7, 3}, {0, 1, 3}, 2, 5, false, 2}}}),
              of_equal_widths = plan_of(
                  {0, 1}, {false, {{{4, 4, 4, 4}, {0, 2}, 3, 5, true, 2}, {{4, 4, 4, 4}, {0, 1}, 1, 1, false, 1}}}),
              few_micro_batches = plan_of({0, 0, 1, 1, 1}, {false,
                                                            {{{5, 5, 5, 5, 5, 5, 5}, {0, 1, 2, 4, 5}, 2, 3, false, 1},
                                                             {{5, 5, 5, 5, 5, 5, 5}, {0, 1, 2, 3, 5}, 1, 7, false, 2},
                                                             {{5, 5, 5, 5, 5, 5, 5}, {0, 1, 2, 3, 4}, 2, 2, true, 1}}});

// ---- Blank 1: what a layer costs

Found find_in_costs(const Situation& situation) {
  const Evidence& evidence = situation.evidence();
  const std::size_t n = tried_widths.size() - 1;
  if (!pipeline_cases_of(situation.plan).functions || evidence.ranks.front().values.empty()) return {};
  const std::vector<float>& seen = evidence.ranks.front().values.front();
  if (seen.size() != n) return {};
  const auto rows = [](std::size_t i) { return static_cast<double>(tried_widths[i]); };
  const auto columns = [](std::size_t i) { return static_cast<double>(tried_widths[i + 1]); };
  const auto product = [&](std::size_t i) { return rows(i) * columns(i); };
  const auto right = [&](std::size_t i) { return product(i) * (i == 0 ? 2 : 3); };
  const auto is = [&](auto cost) {
    for (std::size_t i = 0; i < n; ++i)
      if (!same(seen[i], cost(i))) return false;
    return true;
  };
  if (is(right)) return {};
  const char* key = "layer_cost_wrong";
  if (is(product)) key = "cost_of_forward";
  if (is([&](std::size_t i) { return 3 * product(i); })) key = "cost_with_gradient_of_images";
  for (const double times : {1.0, 2.0, 3.0})
    if (is([&](std::size_t i) { return times * (rows(i) + 1) * columns(i); })) key = "cost_of_parameters";
  for (std::size_t i = 0; i < n; ++i)
    if (!same(seen[i], right(i)))
      return found(key, {{"layer", i},
                         {"in", tried_widths[i]},
                         {"out", tried_widths[i + 1]},
                         {"seen", fmt::format("{:.9g}", seen[i])},
                         {"expected", fmt::format("{:.9g}", right(i))}});
  return {};
}

// ---- Blank 2: GPipe

Found find_in_gpipe(const Situation& situation) {
  for (const Scheduled& seen : schedules_seen(situation.evidence(), gpipe_order)) {
    const auto says = [&](const char* key) { return found(key, {{"m", seen.m}, {"order", in_words(seen.order)}}); };
    std::vector<int> forwards(static_cast<std::size_t>(seen.m)), backwards = forwards;
    for (const StepSeen& step : seen.order) {
      if (step.micro_batch < 0 || step.micro_batch >= seen.m) return says("gpipe_not_each_once");
      ++(step.is_backward ? backwards : forwards)[static_cast<std::size_t>(step.micro_batch)];
    }
    for (const auto& counts : {forwards, backwards})
      if (std::ranges::any_of(counts, [](int count) { return count != 1; })) return says("gpipe_not_each_once");
    const auto first = std::ranges::find(seen.order, true, &StepSeen::is_backward);
    if (first - seen.order.begin() == seen.m) continue;
    return says(first - seen.order.begin() == 1 ? "gpipe_in_turn" : "gpipe_backward_early");
  }
  return {};
}

// ---- Blanks 3 and 4: 1F1B

/// Forwards before the first backward, where `warm_up` of them come before the steady state.
int leading_forwards(int warm_up, int m) { return warm_up < m ? warm_up + 1 : warm_up; }

Found find_in_warm_up(const Situation& situation) {
  const std::vector<Scheduled> all = schedules_seen(situation.evidence(), one_forward_one_backward_order);
  const auto leading = [](const Scheduled& seen) {
    return static_cast<int>(std::ranges::find(seen.order, true, &StepSeen::is_backward) - seen.order.begin());
  };
  // Orders are cut off when they are reported, so those of too many forwards are compared as far as that goes.
  const auto is = [&](auto warm_up) {
    return std::ranges::all_of(all, [&](const Scheduled& seen) {
      const int expected = leading_forwards(warm_up(seen.rank, seen.p, seen.m), seen.m);
      return leading(seen) == std::min(expected, static_cast<int>(seen.order.size()));
    });
  };
  if (is(expected_warm_up)) return {};
  const char* key = "pipeline_warm_up_wrong";
  if (is([](int, int, int m) { return m; })) key = "warm_up_of_all";
  if (is([](int rank, int p, int) { return p - rank - 1; })) key = "warm_up_beyond_m";
  if (is([](int rank, int p, int m) { return std::min(p - rank, m); })) key = "warm_up_one_more";
  if (is([](int rank, int, int m) { return std::min(rank, m); })) key = "warm_up_of_stages_before";
  for (const Scheduled& seen : all) {
    const int expected = leading_forwards(expected_warm_up(seen.rank, seen.p, seen.m), seen.m);
    if (leading(seen) == expected) continue;
    return found(key, {{"rank", seen.rank},
                       {"p", seen.p},
                       {"m", seen.m},
                       {"seen", leading(seen)},
                       {"expected", expected},
                       {"held", most_held(seen.order)},
                       {"enough", std::min(seen.p - seen.rank, seen.m)}});
  }
  return {};
}

Found find_in_one_forward_one_backward(const Situation& situation) {
  for (const Scheduled& seen : schedules_seen(situation.evidence(), one_forward_one_backward_order)) {
    const OrderSeen right = expected_one_forward_one_backward(seen.rank, seen.p, seen.m);
    if (seen.order == right) continue;
    const auto [other, wanted] = std::ranges::mismatch(seen.order, right);
    const char* key = "order_too_long";
    if (wanted == right.end())
      key = "order_too_long";
    else if (other == seen.order.end())
      key = "steps_left_out";
    else if (!other->is_backward && wanted->is_backward)
      key = "forwards_run_ahead";
    else if (other->is_backward && !wanted->is_backward)
      key = "backward_first";
    else
      key = "other_micro_batch";
    return found(key, {{"rank", seen.rank},
                       {"p", seen.p},
                       {"m", seen.m},
                       {"order", in_words(seen.order)},
                       {"expected", in_words(right)},
                       {"held", most_held(seen.order)},
                       {"enough", std::min(seen.p - seen.rank, seen.m)}});
  }
  return {};
}

// ---- Blank 5: the idle share

Found find_in_idle_share(const Situation& situation) {
  const Evidence& evidence = situation.evidence();
  if (!pipeline_cases_of(situation.plan).functions || evidence.ranks.front().values.size() < 2) return {};
  const std::vector<float>& seen = evidence.ranks.front().values[1];
  if (seen.size() != tried_ranks.size() * tried_micro_batches.size()) return {};
  const auto first_that_is_not = [&](auto share) -> Found {
    std::size_t i = 0;
    for (const int p : tried_ranks)
      for (const int m : tried_micro_batches) {
        const double now = seen[i++], right = (p - 1.0) / (m + p - 1);
        if (std::abs(now - share(p, m)) > 1e-6)
          return found("idle_share_wrong", {{"p", p},
                                            {"m", m},
                                            {"seen", fmt::format("{:.4g}", now)},
                                            {"expected", fmt::format("{:.4g}", right)},
                                            {"idle", p - 1},
                                            {"all", m + p - 1}});
      }
    return {};
  };
  Found wrong = first_that_is_not([](double p, double m) { return (p - 1) / (m + p - 1); });
  if (!wrong) return {};
  if (!first_that_is_not([](int p, int m) { return (p - 1) / (m + p - 1); })) wrong->key = "idle_share_is_zero";
  if (!first_that_is_not([](double p, double m) { return (p - 1) / m; })) wrong->key = "idle_over_busy";
  if (!first_that_is_not([](double p, double m) { return m / (m + p - 1); })) wrong->key = "busy_share";
  return wrong;
}

// ---- Blanks 6 to 9: an iteration of the ranks

Found found_wrong(const WrongGradients& wrong, const char* key) {
  return found(key, {{"ranks", list(wrong.wrong)},
                     {"p", wrong.ranks},
                     {"m", wrong.run.micro_batches},
                     {"n", wrong.run.images},
                     {"iteration", wrong.iteration + 1},
                     {"schedule", wrong.run.gpipe ? "GPipe" : "1F1B"},
                     {"factor", fmt::format("{:.4g}", wrong.factor)}});
}

/// Two ranks wait for each other in the same call.
Found find_deadlock(const Evidence& evidence) {
  if (evidence.ending != Ending::hung) return {};
  const auto waits = [&](int rank, const char* call, int MessageSeen::*other) {
    if (rank < 0 || rank >= static_cast<int>(evidence.ranks.size())) return -1;
    const RankSeen& seen = evidence.ranks[static_cast<std::size_t>(rank)];
    const bool does = !seen.messages.empty() && !seen.messages.back().done && seen.messages.back().call == call;
    return does ? seen.messages.back().*other : -1;
  };
  for (int rank = 0; rank < static_cast<int>(evidence.ranks.size()); ++rank) {
    const int to = waits(rank, "send", &MessageSeen::to), from = waits(rank, "receive", &MessageSeen::from);
    if (to > rank && waits(to, "send", &MessageSeen::to) == rank)
      return found("both_send_first", {{"rank", rank}, {"other", to}});
    if (from > rank && waits(from, "receive", &MessageSeen::from) == rank)
      return found("both_receive_first", {{"rank", rank}, {"other", from}});
  }
  return {};
}

/// Ranks wait for messages that nobody sends, or send what nobody receives.
Found find_wait(const Evidence& evidence, const char* key) {
  const auto waits = [](const RankSeen& seen) { return !seen.messages.empty() && !seen.messages.back().done; };
  return evidence.ending == Ending::hung && std::ranges::any_of(evidence.ranks, waits) ? found(key) : Found();
}

/// What every rank sends: m outputs to the next one, m gradients to the one before, in each iteration.
Found find_more_values(const Situation& situation) {
  const Evidence& evidence = situation.evidence();
  if (evidence.ending != Ending::finished) return {};
  for (std::size_t rank = 0; rank < evidence.ranks.size(); ++rank) {
    std::size_t expected = 0, seen = 0;
    for (const PipelineRun& run : pipeline_cases_of(situation.plan).runs) {
      const std::size_t values = (rank > 0 ? run.widths.at(run.begins.at(rank)) : 0) +
                                 (rank + 1 < run.begins.size() ? run.widths.at(run.begins[rank + 1]) : 0);
      expected += values * run.images * static_cast<std::size_t>(run.micro_batches * run.iterations);
    }
    for (const MessageSeen& message : evidence.ranks[rank].messages)
      if (message.to >= 0) seen += static_cast<std::size_t>(std::max(message.sent, 0));
    if (seen != expected)
      return found("other_number_of_values", {{"rank", rank}, {"seen", seen}, {"expected", expected}});
  }
  return {};
}

Found find_in_messages(const Situation& situation) {
  const Evidence& evidence = situation.evidence();
  if (Found deadlock = find_deadlock(evidence)) return deadlock;
  if (Found wait = find_wait(evidence, "message_left_out")) return wait;
  for (const char* refusal : {no_such_rank, refusal::other_length})
    if (Found refused = find_refused(evidence, refusal, "pass_on_refused")) return refused;
  if (const auto wrong = find_wrong_gradients(situation)) return found_wrong(*wrong, "pass_on_wrong");
  return {};
}

Found find_in_forward(const Situation& situation) {
  const Evidence& evidence = situation.evidence();
  if (Found wait = find_wait(evidence, "forward_waits")) return wait;
  if (Found refused = find_refused(evidence, no_such_rank, "forward_to_no_rank")) return refused;
  if (Found refused = find_refused(evidence, refusal::other_length, "forward_sends_other_values")) return refused;
  for (const char* refusal : {other_input, no_such_micro_batch, forward_twice, no_activations})
    if (Found refused = find_refused(evidence, refusal, "stage_forward_refused")) return refused;
  if (const auto wrong = find_wrong_gradients(situation)) return found_wrong(*wrong, "stage_forward_wrong");
  return {};
}

Found find_in_backward(const Situation& situation) {
  const Evidence& evidence = situation.evidence();
  if (Found wait = find_wait(evidence, "backward_waits")) return wait;
  if (Found refused = find_refused(evidence, no_such_rank, "backward_to_no_rank")) return refused;
  if (Found refused = find_refused(evidence, refusal::other_length, "backward_sends_other_values")) return refused;
  for (const char* refusal : {other_gradient, loss_elsewhere, no_such_micro_batch, no_activations})
    if (Found refused = find_refused(evidence, refusal, "stage_backward_refused")) return refused;
  const auto wrong = find_wrong_gradients(situation);
  if (!wrong) return {};
  const int m = wrong->run.micro_batches;
  if (m > 1 && same(wrong->factor, 1.0 / m, 1e-3)) return found_wrong(*wrong, "sum_divided_too_often");
  const bool last_is_right = std::ranges::find(wrong->wrong, wrong->ranks - 1) == wrong->wrong.end();
  return found_wrong(*wrong, last_is_right ? "wrong_gradient_sent_back" : "stage_backward_wrong");
}

Found find_in_mean(const Situation& situation) {
  auto wrong = find_wrong_gradients(situation);
  if (!wrong) return {};
  if (wrong->ranks == 1)  // one divisor is like the other there
    if (const auto of_several = find_wrong_gradients({situation.runs, plainest})) wrong = of_several;
  const int m = wrong->run.micro_batches;
  const double p = wrong->ranks, factor = wrong->factor;
  const char* key = "mean_of_batch_wrong";
  if (factor != 0 && m > 1 && same(factor, m, 1e-4)) key = "sum_not_divided";
  if (factor != 0 && p > 1 && same(factor, m / p, 1e-4)) key = "sum_divided_by_ranks";
  for (int power = 1; factor != 0 && m > 1 && power <= m; ++power)
    if (same(factor, std::pow(m, -power), 1e-3)) key = "sum_divided_too_often";
  return found_wrong(*wrong, key);
}

// ---- What a right answer shows

/// Activations held by the first of 4 stages, in the learner's own orders, and the learner's idle share.
ShownFigure activations_held(Runs& whole) {
  constexpr int p = 4;
  const Evidence& evidence = whole.of(functions);
  std::vector<int> tried(tried_micro_batches.begin(), tried_micro_batches.end());
  std::ranges::sort(tried);
  Curve gpipe{"held_by_gpipe", {}}, one_by_one{"held_by_1f1b", {}}, idle{"idle_percent", {}};
  std::vector<double> x;
  for (const int m : tried) {
    x.push_back(m);
    const auto held = [&](const char* event) -> std::optional<double> {
      for (const Scheduled& seen : schedules_seen(evidence, event))
        if (seen.m == m && seen.rank == 0 && (seen.p == p || event == gpipe_order)) return most_held(seen.order);
      return {};
    };
    gpipe.values.push_back(held(gpipe_order));
    one_by_one.values.push_back(held(one_forward_one_backward_order));
    const auto at = [](const auto& all, int value) { return std::ranges::find(all, value) - all.begin(); };
    const auto i = static_cast<std::size_t>(at(tried_ranks, p)) * tried_micro_batches.size() +
                   static_cast<std::size_t>(at(tried_micro_batches, m));
    const auto& values = evidence.ranks.empty() ? std::vector<std::vector<float>>() : evidence.ranks.front().values;
    idle.values.push_back(values.size() > 1 && i < values[1].size()
                              ? std::optional(std::round(1000.0 * values[1][i]) / 10)
                              : std::nullopt);
  }
  return {{"held", "held_is", "held_micro_batches", "held_at_once", x, {gpipe, one_by_one, idle}}, {}};
}

/// Both of the learner's schedules on simulated ranks, a stage each.
std::optional<ShownFigure> time_on_simulated_ranks(Runs& whole) {
  constexpr int images = 32;
  constexpr double seconds = 0.030;
  const auto simulated =
      simulate_whole(whole, functions, {.model = "vgg", .batch = images, .seconds = seconds, .micro_batches = images});
  if (!simulated) return {};
  return ShownFigure{{"pipeline_simulated",
                      "pipeline_simulated_is",
                      "pipeline_simulated_ranks",
                      "pipeline_simulated_ms",
                      simulated->ranks,
                      {{"pipeline_simulated_bubble", simulated->of(PipelineCurve::without_messages)},
                       {"pipeline_simulated_gpipe", simulated->of(PipelineCurve::gpipe), true},
                       {"pipeline_simulated_1f1b", simulated->of(PipelineCurve::one_forward_one_backward), true}}},
                     {{"images", std::to_string(images)}, {"ms", fmt::format("{:.0f}", 1e3 * seconds)}}};
}

/// For messages: "GPipe m = 4, 1F1B m = 5".
std::string described(const RunPlan& plan) {
  std::vector<std::string> runs;
  for (const PipelineRun& run : pipeline_cases_of(plan).runs)
    runs.push_back(fmt::format("{} m = {}", run.gpipe ? "GPipe" : "1F1B", run.micro_batches));
  return fmt::format("{}", fmt::join(runs, ", "));
}

Found find_endless_wait(const Situation& situation) {
  return situation.evidence().ending == Ending::hung ? Found(find_hang(situation.evidence())) : Found();
}

Found find_any_wrong_gradients(const Situation& situation) {
  const auto wrong = find_wrong_gradients(situation);
  return wrong ? found_wrong(*wrong, "mean_of_batch_wrong") : Found();
}

}  // namespace

Exam exam_of_pipeline() {
  std::vector<Check> checks{{1, "LayersCostTheirProducts", find_in_costs},
                            {2, "ForwardsComeBeforeBackwards", find_in_gpipe},
                            {3, "WarmUpFillsTheStagesAfter", find_in_warm_up},
                            {4, "OneForwardOneBackward", find_in_one_forward_one_backward},
                            {5, "RanksAreIdleWhileOthersFill", find_in_idle_share},
                            {6, "NeighboursExchange", find_in_messages},
                            {7, "OutputsGoToTheNextStage", find_in_forward},
                            {8, "GradientsOfActivationsGoBack", find_in_backward},
                            {9, "GradientsAreOfTheWholeBatch", find_in_mean},
                            {0, "OnlyActivationsAndTheirGradientsAreSent", find_more_values},
                            {0, "GradientsAreThoseOfOneDevice", find_any_wrong_gradients},
                            {0, "NobodyWaitsForEver", find_endless_wait},
                            {0, "ShowsItsGradients", find_no_values},
                            {0, "EvidenceIsOfTheProgram", find_forgery}};
  for (Check& check : checks)
    check.find = [find = std::move(check.find)](const Situation& situation) {
      Found wrong = find(situation);
      if (wrong) wrong->values.try_emplace("with_flags", described(situation.plan));
      return wrong;
    };
  return {{functions, plainest, of_equal_widths, few_micro_batches},
          std::move(checks),
          activations_held,
          time_on_simulated_ranks};
}

}  // namespace odori::grader
