// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "comm/cost.h"
#include "errors/error.h"
#include "errors/language.h"
#include "simulation.h"
#include "virtual_pipeline.h"

namespace odori {
namespace {

constexpr int values_of_image = 512;  // between two stages: the width of the program's perceptron

/// Of an iteration that one device computes in plan.seconds, cut into stages of equal cost.
struct Iteration {
  const simulate::Plan& plan;
  const PipelineFunctions& functions;

  double message_bytes() const { return plan.batch / plan.micro_batches * values_of_image * sizeof(float); }
  /// Seconds without messages and idle time, on p stages.
  double busy(int p) const { return plan.seconds / p; }
  double with_bubble(int p) const { return busy(p) * (plan.micro_batches + p - 1.0) / plan.micro_batches; }

  VirtualPipeline run(bool is_gpipe, const cost::Cluster& cluster, simulate::Options options) const {
    const int p = cluster.ranks(), m = plan.micro_batches;
    options.scale = message_bytes() / sizeof(float);  // one value is sent
    const double forward = (1 - cost::backward_share) * busy(p) / m;
    VirtualPipeline run =
        run_in_virtual_time(functions, orders_of(functions, is_gpipe, p, m), m, cluster, forward, options, {});
    check_gradients(run, gradients_of_one_device(p, m));
    return run;
  }
};

/// On how many ranks 1F1B takes least.
Text conclude(const std::vector<int>& ranks, const std::vector<std::optional<double>>& seconds, double batch, int m) {
  const auto least = std::ranges::min_element(seconds) - seconds.begin();
  const int best = ranks[static_cast<std::size_t>(least)];
  const double at_best = *seconds[static_cast<std::size_t>(least)];
  const bool is_last = best == ranks.back();
  const std::string more = is_last ? "" : fmt::format("; on {} ranks {:.4g} ms", ranks.back(), *seconds.back());
  const std::string more_ja =
      is_last ? "" : fmt::format("、{} ランクでは {:.4g} ミリ秒", ranks.back(), *seconds.back());
  return {fmt::format("1F1B takes least on {} ranks: {:.4g} ms for {:.0f} images in {} micro-batches{}.", best, at_best,
                      batch, m, more),
          fmt::format("1F1B の時間が最も短いのは {} ランクです（{:.0f} 枚、{} マイクロバッチに {:.4g} ミリ秒{}）。",
                      best, batch, m, at_best, more_ja)};
}

}  // namespace

bool simulate_if_asked(const PipelineFunctions& functions) {
  const auto plan = asked_simulation();
  if (!plan) return false;
  if (std::fmod(plan->batch, plan->micro_batches) != 0)
    throw Error({fmt::format("{} images can't be split into {} micro-batches. Choose --batchsize as a "
                             "multiple of --microbatches.",
                             plan->batch, plan->micro_batches),
                 fmt::format("{} 枚の画像は {} 個のマイクロバッチに分割できません。--batchsize は "
                             "--microbatches の倍数にしてください。",
                             plan->batch, plan->micro_batches)});
  const Iteration iteration{*plan, functions};
  const Text whose = plan->kits_answer ? Text{"the kit's", "模範解答の"} : Text{"your", "あなたの"};
  SimulationReport::Curve gpipe{.name = {whose.english + " GPipe", whose.japanese + " GPipe"}, .simulated = true},
      one_by_one{.name = {whose.english + " 1F1B", whose.japanese + " 1F1B"}, .simulated = true},
      bubble{.name = {"without messages", "通信なし"}}, busy{.name = {"without idle time", "待ちなし"}};
  std::vector<int> ranks;
  int held_by_gpipe = 0;
  on_each_cluster(*plan, [&](const cost::Cluster& one) {
    const int p = one.ranks();
    ranks.push_back(p);
    const VirtualPipeline all_then_all = iteration.run(true, one, {});
    held_by_gpipe = std::ranges::max(all_then_all.most_held);
    gpipe.values.emplace_back(1e3 * all_then_all.result.seconds);
    one_by_one.values.emplace_back(1e3 * iteration.run(false, one, {}).result.seconds);
    bubble.values.emplace_back(1e3 * iteration.with_bubble(p));
    busy.values.emplace_back(1e3 * iteration.busy(p));
  });

  const cost::Cluster& cluster = plan->clusters.back();
  const int p = cluster.ranks(), m = plan->micro_batches;
  const simulate::Options options{.slowdown = slowdown_of(*plan), .events = true, .recorded = drawn_ranks(*plan)};
  const VirtualPipeline drawn = iteration.run(false, cluster, options);
  const double gpipe_seconds = iteration.run(true, cluster, {.slowdown = options.slowdown}).result.seconds;
  const bool equal = plan->stragglers.empty();  // else the formulas do not apply
  std::size_t messages = 0;
  for (const simulate::Totals& totals : drawn.result.ranks) messages = std::max(messages, totals.messages_sent);
  const Text cluster_words = in_words(cluster), links = links_of(cluster);
  const Text conclusion = conclude(ranks, one_by_one.values, plan->batch, m);
  const SimulationReport report{
      .title = {(plan->kits_answer ? "The kit's pipeline on " : "Your pipeline on ") + cluster_words.english,
                whose.japanese + "パイプライン：" + cluster_words.japanese},
      .place = {fmt::format(
                    "{}. One device computes {:.0f} images ({}) in {}; stages of equal cost, {} micro-batches, {} "
                    "in a message. Gradients are those of one device.",
                    links.english, plan->batch, plan->model, duration_of(plan->seconds), m,
                    size_of(iteration.message_bytes())),
                fmt::format("{}。1 デバイスでは {:.0f} 枚（{}）の計算に {}。計算量の等しいステージ、{} マイクロバッチ、"
                            "1 メッセージ {}。勾配は 1 デバイスのものと一致。",
                            links.japanese, plan->batch, plan->model, duration_of(plan->seconds), m,
                            size_of(iteration.message_bytes()))},
      .conclusion =
          equal ? conclusion
                : Text{"Without stragglers: " + conclusion.english, "遅いランクがない場合：" + conclusion.japanese},
      .rows = {{{"an iteration, 1F1B", "1 反復（1F1B）"},
                duration_of(drawn.result.seconds),
                equal ? duration_of(iteration.with_bubble(p)) : ""},
               {{"an iteration, GPipe", "1 反復（GPipe）"},
                duration_of(gpipe_seconds),
                equal ? duration_of(iteration.with_bubble(p)) : ""},
               {{"messages that the busiest rank sends", "最も多く送るランクのメッセージ数"},
                fmt::format("{}", messages),
                fmt::format("{}", p > 2 ? 2 * m : m)},
               {{"micro-batches held at most, 1F1B", "保持するマイクロバッチの最大数（1F1B）"},
                fmt::format("{}", std::ranges::max(drawn.most_held)),
                fmt::format("{}", std::min(p, m))},
               {{"micro-batches held at most, GPipe", "保持するマイクロバッチの最大数（GPipe）"},
                fmt::format("{}", held_by_gpipe),
                fmt::format("{}", m)},
               {{"time in which a rank waits, mean", "ランクの待ち時間の割合（平均）"},
                idle_of(drawn.result),
                equal ? fmt::format("{:.3g} %", 100 * functions.idle_share(p, m)) : ""}},
      .ranks = ranks,
      .unit = equal ? Text{"an iteration, ms", "1 反復のミリ秒"}
                    : Text{"an iteration without stragglers, ms", "遅いランクがない場合の 1 反復のミリ秒"},
      .curves = {gpipe, one_by_one, bubble, busy}};
  write_simulation(*plan, report, drawn.result);
  return true;
}

}  // namespace odori
