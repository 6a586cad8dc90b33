// SPDX-License-Identifier: Apache-2.0
#include "simulate_ring.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "comm/algorithm.h"
#include "comm/communicator.h"
#include "comm/cost.h"
#include "errors/error.h"
#include "errors/language.h"
#include "simulate/simulated_communicator.h"
#include "simulation.h"
#include "tried_numbers.h"

namespace odori {
namespace {

/// Sums of up to 1,024 tried values are exact in fp32. The tolerance is half of what the smallest of them adds.
void check_mean(std::span<const float> values, std::span<const double> means, int rank, int n) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double tolerance = std::min(2e-6 * std::abs(means[i]), 0.5 * std::abs(tried_unit(i)) / n);
    if (std::abs(double{values[i]} - means[i]) <= tolerance) continue;
    throw Error(
        {fmt::format("The mean is WRONG: element {} of rank {} is {:.9g}, and should be {:.9g}. Each rank's elements "
                     "have to be in the sum once. ./odori check ring looks for the blank.",
                     i, rank, values[i], means[i]),
         fmt::format("平均が正しくありません。ランク {} の要素 {} は {:.9g} ですが、正しくは {:.9g} です。どのランクの"
                     "要素も、和に 1 回だけ含まれる必要があります。原因の空欄は ./odori check ring で調べられます。",
                     rank, i, values[i], means[i])});
  }
}

std::vector<double> tried_means(int n, std::size_t length) {
  std::vector<double> means(length);
  for (int rank = 0; rank < n; ++rank)
    for (std::size_t i = 0; i < length; ++i) means[i] += double{tried_number(rank, i)};
  for (double& mean : means) mean /= n;
  return means;
}

/// Elements to send in place of all, `few` unless all are asked for.
std::size_t length_for(const simulate::Plan& plan, int few) {
  const auto all = static_cast<std::size_t>(plan.gradient_bytes / sizeof(float));
  return plan.full_size ? all : std::min(all, static_cast<std::size_t>(few));
}
/// A chunk of one element for each rank.
std::size_t length_for(const simulate::Plan& plan, const cost::Cluster& cluster) {
  return length_for(plan, cluster.ranks());
}

simulate::Options options_for(const simulate::Plan& plan, std::size_t length) {
  return {.scale = plan.gradient_bytes / static_cast<double>(length * sizeof(float))};
}

/// From how many ranks on the kit's tree takes less time than the simulated all-reduce, `curve`.
Text conclude(const std::vector<int>& ranks, const SimulationReport::Curve& curve,
              const std::vector<std::optional<double>>& tree) {
  const std::vector<std::optional<double>>& times = curve.values;
  std::size_t from = ranks.size();
  while (from > 0 && times[from - 1] && tree[from - 1] && *tree[from - 1] < 0.999 * *times[from - 1]) --from;
  if (from == ranks.size())
    return {fmt::format("On {} ranks a tree takes no less time: {:.4g} ms, and {} {:.4g} ms.", ranks.back(),
                        *tree.back(), curve.name.english, *times.back()),
            fmt::format("{} ランクでは、ツリーの方が速いとは言えません（ツリー {:.4g} ms、{} {:.4g} ms）。",
                        ranks.back(), *tree.back(), curve.name.japanese, *times.back())};
  return {fmt::format("From {} ranks on a tree takes less time: on {} ranks {:.4g} ms instead of {:.4g} ms. It sends "
                      "2 log2 n messages one after another, a ring 2 (n - 1).",
                      ranks[from], ranks.back(), *tree.back(), *times.back()),
          fmt::format(
              "{} ランクからはツリーの方が速く、{} ランクでは {:.4g} ms に対して {:.4g} ms です。順に送るメッセージは、"
              "ツリーでは 2 log2 n 個、リングでは 2 (n - 1) 個です。",
              ranks[from], ranks.back(), *times.back(), *tree.back())};
}

/// All clusters of a plan, and an iteration on the last one.
struct Simulated {
  std::vector<int> ranks;
  SimulationReport::Curve asked{.name = {"yours", "あなたの all-reduce"}, .simulated = true},
      kits_ring{.name = {"the kit's ring", "キットのリング"}, .simulated = true},
      kits_tree{.name = {"the kit's tree", "キットのツリー"}, .simulated = true},
      ring{.name = {"ring, formula", "リング（式）"}}, tree{.name = {"tree, formula", "ツリー（式）"}},
      hierarchical{.name = {"hierarchical, formula", "階層型（式）"}};  // ms
  double seconds = 0, scale = 1;                                        // of the last all-reduce
  simulate::Result iteration;
};

/// Of an algorithm of the kit, which sends `few` elements unless all are asked for.
double kits_seconds(const char* name, const simulate::Plan& plan, const cost::Cluster& cluster, int few) {
  const std::size_t length = length_for(plan, few);
  return simulate_iteration(Algorithm::named(name).all_reduce(), cluster, length, 0, options_for(plan, length)).seconds;
}

Simulated simulate_all(const simulate::Plan& plan, const AllReduce& all_reduce) {
  Simulated all;
  if (plan.kits_answer) all.asked.name = {"the kit's answer", "模範解答の all-reduce"};
  const auto iterate = [&] {
    const std::size_t length = length_for(plan, plan.clusters.back());
    simulate::Options options = options_for(plan, length);
    options.slowdown = slowdown_of(plan);
    options.events = true;
    options.recorded = drawn_ranks(plan);
    all.scale = options.scale;
    all.iteration = simulate_iteration(all_reduce, plan.clusters.back(), length, plan.seconds, options);
  };
  on_each_cluster(plan, [&](const cost::Cluster& cluster) {
    if (plan.stragglers.empty() && &cluster == &plan.clusters.back()) {  // all ranks begin the all-reduce at once
      iterate();
      all.seconds = all.iteration.seconds - plan.seconds;
    } else {
      const std::size_t length = length_for(plan, cluster);
      all.seconds = simulate_iteration(all_reduce, cluster, length, 0, options_for(plan, length)).seconds;
    }
    all.ranks.push_back(cluster.ranks());
    all.asked.values.emplace_back(1e3 * all.seconds);
    // A tree halves the vector as often as the ranks.
    const auto power = static_cast<int>(std::bit_floor(static_cast<unsigned>(cluster.ranks())));
    all.kits_ring.values.emplace_back(1e3 * kits_seconds("ring", plan, cluster, cluster.ranks()));
    all.kits_tree.values.emplace_back(1e3 * kits_seconds("tree", plan, cluster, power));
    for (auto [curve, name] :
         {std::pair(&all.ring, "ring"), {&all.tree, "tree"}, {&all.hierarchical, "hierarchical"}}) {
      const auto closed = cost::all_reduce(name, cluster, {plan.gradient_bytes});
      curve->values.push_back(closed ? std::optional(1e3 * *closed) : std::nullopt);
    }
  });
  if (!plan.stragglers.empty()) iterate();
  return all;
}

SimulationReport report_of(const simulate::Plan& plan, const Simulated& all) {
  const cost::Cluster& cluster = plan.clusters.back();
  const double n = cluster.ranks(), closed = all.ring.values.back().value_or(0) / 1e3;
  std::size_t messages = 0, sent = 0;
  for (const simulate::Totals& totals : all.iteration.ranks) {
    messages = std::max(messages, totals.messages_sent);
    sent = std::max(sent, totals.bytes_sent);
  }
  const Text where = in_words(cluster), links = links_of(cluster);
  const std::string bytes = size_of(plan.gradient_bytes);
  return {
      .title = {(plan.kits_answer ? "The kit's all-reduce on " : "Your all-reduce on ") + where.english,
                all.asked.name.japanese + "：" + where.japanese},
      .place = {fmt::format("{}. {} of gradients ({}), the mean right on every rank.", links.english, bytes,
                            plan.model),
                fmt::format("{}。勾配 {}（{}）。平均はすべてのランクで正解。", links.japanese, bytes, plan.model)},
      .conclusion = conclude(all.ranks, all.asked, all.kits_tree.values),
      .rows = {{{"one all-reduce", "all-reduce 1 回"}, duration_of(all.seconds), duration_of(closed)},
               {{"an iteration", "1 反復"},
                duration_of(all.iteration.seconds),
                duration_of(plan.seconds * largest_slowdown(plan) + closed)},
               {{"messages that the busiest rank sends", "最も多く送るランクのメッセージ数"},
                fmt::format("{}", messages),
                fmt::format("{:.0f}", 2 * (n - 1))},
               {{"bytes that it sends", "そのランクが送るバイト数"},
                size_of(all.scale * static_cast<double>(sent)),
                size_of(2 * (n - 1) / n * plan.gradient_bytes)},
               {{"time in which a rank waits, mean", "ランクの待ち時間の割合（平均）"}, idle_of(all.iteration), ""}},
      .ranks = all.ranks,
      .unit = {"one all-reduce, ms", "all-reduce 1 回のミリ秒"},
      .curves = {all.asked, all.kits_ring, all.kits_tree, all.ring, all.tree, all.hierarchical}};
}

}  // namespace

simulate::Result simulate_iteration(const AllReduce& all_reduce, const cost::Cluster& cluster, std::size_t length,
                                    double seconds, const simulate::Options& options) {
  const std::vector<double> means = tried_means(cluster.ranks(), length);
  return simulate::run(
      cluster,
      [&](simulate::Rank& rank) {
        std::vector<float> values(length);
        for (std::size_t i = 0; i < length; ++i) values[i] = tried_number(rank.rank(), i);
        if (seconds > 0) {
          rank.compute((1 - cost::backward_share) * seconds, "forward");
          rank.compute(cost::backward_share * seconds, "backward");
        }
        simulate::SimulatedCommunicator comm(rank);
        all_reduce(values, comm);
        check_mean(values, means, rank.rank(), rank.size());
      },
      options);
}

bool simulate_if_asked(const Communicator& comm) {
  const auto plan = asked_simulation();
  if (!plan) return false;
  const Simulated all = simulate_all(*plan, all_reduce_of(comm));
  write_simulation(*plan, report_of(*plan, all), all.iteration);
  return true;
}

}  // namespace odori
