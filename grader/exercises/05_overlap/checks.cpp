// SPDX-License-Identifier: Apache-2.0
// Task 5: ways to exchange gradients, by the order of what each of them does, and by the weights that it leads to.
#include <algorithm>
#include <cmath>
#include <set>

#include "ways_seen.h"

namespace odori::grader {
namespace {

using namespace overlap;

RunPlan trying(std::vector<int> nodes, int layers, int buckets) {
  RunPlan plan{
      .nodes = std::move(nodes),
      .epochs = 0,
      .seeded = true,
      .flags = {"--layers", std::to_string(layers), "--buckets", std::to_string(buckets), "--iterations", "0"}};
  plan.most_values = Tried(plan, 0, 0).size();
  return plan;
}

// With a bucket for each parameter, two are full at once where a layer has two. A single layer has a single bucket, and
// nothing to hide it behind. Two ranks hide what is divided by 2. Five train a network with some 60,000 parameters.
const RunPlan plainest = trying({0, 1}, 8, 4), each_parameter = trying({0, 1, 1}, 71, 1000),
              one_layer = trying({0, 1, 0, 1}, 1, 2), alone = trying({0}, 3, 3),
              large = trying({0, 0, 1, 1, 1}, 320, 2);

// The tiny network's exchange takes about as long over this link as its backward, of 32 images, on a core of today.
const RunPlan measured_over_link{.nodes = {0, 1},
                                 .epochs = 0,
                                 .link = "50mbit,50us",
                                 .flags = {"--model", "tiny", "--batchsize", "32", "--iterations", "8"}};

// ---- Blank 4: two buffers

Found find_in_buffers(const Situation& situation) {
  if (Found refused = find_refused(situation)) return refused;
  return first_of_ranks(situation, double_buffered, [](const Tried& tried, const WaySeen& seen, int rank) -> Found {
    const auto starts = [](const Iteration& each) {
      return has(each.after, "start_in_flight") || has(each.after, "start");
    };
    if (!seen.iterations.empty() && std::ranges::none_of(seen.iterations, starts))
      return found("nothing_started", {{"k", 0}});
    for (std::size_t k = 1; k < seen.iterations.size() && tried.n > 1; ++k)
      if (!trial::is_idle(static_cast<int>(k)) &&
          updated_by(tried, seen.iterations[k], of_fp32, mean_of(tried, static_cast<int>(k))))
        return found("current_mean", {{"k", k}});
    for (std::size_t index = 0; index < seen.iterations.size(); ++index) {
      const Iteration& iteration = seen.iterations[index];
      const int k = static_cast<int>(index);
      const auto says = [&](const char* key) { return found(key, {{"k", k}, {"before", k - 1}, {"rank", rank}}); };
      const auto is_by = [&](auto gradient) { return updated_by(tried, iteration, of_fp32, gradient); };
      if (has(iteration.after, "start")) return says("gradients_started");
      if (tried.n > 1 && is_by(own_of(tried, rank, k))) return says("own_gradients");
      const bool tells = !trial::is_idle(k - 1);  // by zeros, a right update looks like these wrong ones
      if (k > 0 && tells && tried.n > 1 && is_by(own_of(tried, rank, k - 1))) return says("used_before_arrival");
      if (tells && is_by([](std::size_t) { return 0.0; })) return says("gradients_lost");
      if (!has(iteration.after, "start_in_flight")) return says("nothing_started");
      const auto begins = std::ranges::find(iteration.after, "start_in_flight", &facts::Event::what);
      if (std::any_of(begins, iteration.after.end(), [](const auto& event) { return event.what == "wait"; }))
        return says("waits_at_once");
      if (k > 0 && tried.n > 1 && !has(iteration.after, "wait")) return says("used_before_arrival");
    }
    return {};
  });
}

Found find_sent_again(const Situation& situation) {
  return first_of_ranks(situation, [](const Tried& tried, const RankSeen& shown, int rank) -> Found {
    const auto sent = [&](Way way) { return seen_of(tried, shown, way).sent; };
    const std::int64_t seen = sent(double_buffered), once = sent(synchronous);
    if (once <= 0 || static_cast<double>(seen) < 1.4 * static_cast<double>(once)) return {};
    return found("sent_again", {{"seen", seen}, {"once", once}, {"rank", rank}});
  });
}

// ---- Blank 5: when to update

Found find_in_updating(const Situation& situation) {
  return first_of_ranks(situation, double_buffered, [](const Tried&, const WaySeen& seen, int) -> Found {
    for (std::size_t k = 0; k < seen.iterations.size(); ++k) {
      const bool updates = has(seen.iterations[k].after, "update");
      if (k == 0 && updates) return found("updated_by_zeros");
      if (k > 0 && !updates) return found("update_left_out", {{"k", k}});
    }
    return {};
  });
}

// ---- Blank 6: half precision

/// Is each rank's first update by the sum over all ranks, divided by something else than their number, before it is
/// added up or after that?
bool divides_by(const Situation& situation, int (*divisor)(const std::vector<int>& nodes, int rank)) {
  const auto& ranks = situation.runs.of(each_parameter).ranks;
  const Tried tried(each_parameter, 0, each_parameter.programs_seed(situation.data().seed));
  const auto sum_of_parts = [&](std::size_t i) {
    double sum = 0;
    for (int rank = 0; rank < tried.n; ++rank) sum += tried.gradient(rank, 0, i) / divisor(each_parameter.nodes, rank);
    return sum;
  };
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const WaySeen seen = seen_of(tried, ranks[rank], half_precision);
    const double by = divisor(each_parameter.nodes, static_cast<int>(rank));
    if (seen.iterations.empty()) return false;
    const Iteration& first = seen.iterations.front();
    if (!updated_by(tried, first, of_fp16, sum_of_parts) &&
        !updated_by(tried, first, of_fp16, mean_of(tried, 0, tried.n / by)))
      return false;
  }
  return !ranks.empty();
}

/// Was each of the `size` numbers given to sum_in() once, for 16 bits on the way, and nothing else sent?
bool sent_once_in_16_bits(const Iteration& iteration, std::size_t size) {
  std::size_t n = 0;
  for (const auto* events : {&iteration.during, &iteration.after})
    for (const facts::Event& event : *events) {
      if (event.what == "start" || event.what == "start_in_flight") return false;
      if (event.what != "sum") continue;
      if (event.about.size() != 2 || event.about[0] != 16) return false;
      n += static_cast<std::size_t>(event.about[1]);
    }
  return n == size;
}

Found find_in_half_precision(const Situation& situation) {
  const auto of_node = [](const std::vector<int>& nodes, int rank) {
    return static_cast<int>(std::ranges::count(nodes, nodes[static_cast<std::size_t>(rank)]));
  };
  const auto of_nodes = [](const std::vector<int>& nodes, int) { return 1 + std::ranges::max(nodes); };
  return first_of_ranks(situation, [&](const Tried& tried, const RankSeen& shown, int rank) -> Found {
    const WaySeen seen = seen_of(tried, shown, half_precision);
    for (std::size_t index = 0; index < seen.iterations.size(); ++index) {
      const Iteration& iteration = seen.iterations[index];
      const int k = static_cast<int>(index);
      const auto is_by = [&](double factor, double rounding = of_fp16) {
        return updated_by(tried, iteration, rounding, mean_of(tried, k, factor));
      };
      if (is_by(1)) continue;
      const double n = tried.n;
      const bool is_finite = std::ranges::all_of(iteration.weights, [](float w) { return std::isfinite(w); });
      const char* key = "half_mean_wrong";
      if (is_by(n)) key = "half_not_divided";
      if (is_by(1 / n)) key = "half_divided_twice";
      if (is_by(1, of_bf16)) key = "rounded_too_much";
      if (!is_finite) key = "half_overflows";
      if (is_finite && divides_by(situation, of_node)) key = "divided_by_ranks_of_node";
      if (is_finite && divides_by(situation, of_nodes)) key = "divided_by_nodes";
      return found(key, {{"k", k}, {"rank", rank}, {"n", tried.n}});
    }
    // In pieces they take more bytes than at once, and that is no mistake.
    if (std::ranges::all_of(seen.iterations,
                            [&](const Iteration& each) { return sent_once_in_16_bits(each, tried.size()); }))
      return {};
    const std::int64_t whole = seen_of(tried, shown, synchronous).sent;
    if (whole > 0 && seen.sent > 0.6 * static_cast<double>(whole))
      return found("bytes_not_halved", {{"seen", seen.sent}, {"whole", whole}, {"rank", rank}});
    return {};
  });
}

// ---- Of all

bool is_right(const Tried& tried, const Iteration& iteration, Way way, int k) {
  if (way == double_buffered && k == 0) return !has(iteration.after, "update");
  return updated_by(tried, iteration, way == half_precision ? of_fp16 : of_fp32,
                    mean_of(tried, way == double_buffered ? k - 1 : k));
}

/// The first update that isn't right.
Found find_wrong_update(const Situation& situation) {
  for (int number = 0; number < n_ways; ++number) {
    const Way way = static_cast<Way>(number);
    const auto find = [way](const Tried& tried, const WaySeen& seen, int rank) -> Found {
      for (std::size_t k = 0; k < seen.iterations.size(); ++k)
        if (!is_right(tried, seen.iterations[k], way, static_cast<int>(k)))
          return found("weights_not_by_mean", {{"k", k}, {"rank", rank}, {"n", tried.n}});
      return {};
    };
    if (Found wrong = first_of_ranks(situation, way, find)) return wrong;
  }
  return {};
}

/// What start(), average() and sum_in() send is known; what else is sent, isn't. A barrier sends nothing.
Found find_other_calls(const Situation& situation) {
  const std::set<std::string> known{"comm->all_reduce_mean()", "comm->barrier()", "MPI_Finalize()"};
  const auto& ranks = situation.evidence().ranks;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    std::vector<std::string> calls = ranks[rank].collectives;
    for (const MessageSeen& message : ranks[rank].messages) calls.push_back("comm->" + message.call + "()");
    for (const std::string& call : calls)
      if (!known.contains(call)) return found("other_exchange", {{"rank", rank}, {"call", call}});
  }
  return {};
}

// ---- What a right answer shows

/// Of an iteration's time, what is spent on the exchange alone.
ShownFigure exposed_shares(Runs& runs) {
  Curve exposed{.name = "exposed_percent", .values = std::vector<std::optional<double>>(n_ways), .measured = true};
  const auto& ranks = runs.of(measured_over_link).ranks;
  if (!ranks.empty() && !ranks.front().values.empty() && ranks.front().values.back().size() == n_ways)
    for (std::size_t way = 0; way < n_ways; ++way)
      exposed.values[way] = std::round(100 * ranks.front().values.back()[way]);
  return {{.title = "exposed",
           .text = "exposed_is",
           .x_name = "exchange_way",
           .y_name = "exposed_percent",
           .curves = {exposed},
           .bars = {"way_synchronous", "way_overlapped", "way_double_buffered", "way_half_precision"}},
          {}};
}

}  // namespace

Exam exam_of_overlap() {
  return {{plainest, each_parameter, one_layer, alone, large},
          {{1, "BucketsAreInBackwardsOrder", find_in_order},
           {2, "BucketsStartWhenFull", find_in_starting},
           {3, "UpdateWaitsForAll", find_in_finishing},
           {4, "MeanIsOfTheIterationBefore", find_in_buffers},
           {4, "ElementsAreSentOnce", find_sent_again},
           {5, "FirstIterationUpdatesNothing", find_in_updating},
           {6, "HalfPrecisionStaysFinite", find_in_half_precision},
           {0, "AllWeightsAreRight", find_wrong_update},
           {0, "GradientsAreSentByTheExchangesCalls", find_other_calls},
           {0, "ShowsItsNumbers", find_no_values},
           {0, "EvidenceIsOfTheProgram", find_forgery}},
          exposed_shares};
}

}  // namespace odori::grader
