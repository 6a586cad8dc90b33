// Task 5: ways to exchange gradients, by the order of what each of them does, and by the weights that it leads to.
#include <algorithm>
#include <cmath>

#include "checks/findings.h"
#include "distributed/multi_node_ways.h"

namespace odori::grader {
namespace {

/// The numbers of the ways, as the program tries them.
enum Way { synchronous, overlapped, double_buffered, half_precision, n_ways };

RunPlan trying(std::vector<int> nodes, int layers, int buckets) {
  return {.nodes = std::move(nodes),
          .epochs = 0,
          .flags = {"--layers", std::to_string(layers), "--buckets", std::to_string(buckets), "--iterations", "0"}};
}

// With a bucket for each parameter, two are full at once where a layer has two. A single layer has a single bucket, and
// nothing to hide it behind. Two ranks hide what is divided by 2.
const RunPlan plainest = trying({0, 1}, 8, 4), each_parameter = trying({0, 1, 1}, 7, 1000),
              one_layer = trying({0, 1, 0, 1}, 1, 2), alone = trying({0}, 3, 3);

// The tiny network's exchange takes about as long over this link as its backward, of 32 images, on a core of today.
const RunPlan measured_over_link{.nodes = {0, 1},
                                 .epochs = 0,
                                 .link = "50mbit,50us",
                                 .flags = {"--model", "tiny", "--batchsize", "32", "--iterations", "8"}};

// ---- What was done

struct Iteration {
  std::vector<facts::Event> during, after;  // backward
  std::vector<float> before, weights;       // the weights before the update and behind it
};
struct WaySeen {
  std::vector<Iteration> iterations;  // those that came to their end
  std::int64_t sent = -1;             // bytes
};

Range range_of(const facts::Event& event) {
  if (event.about.size() != 2) return {};
  return {static_cast<std::size_t>(event.about[0]), static_cast<std::size_t>(event.about[1])};
}
std::vector<Range> started_in(const std::vector<facts::Event>& events) {
  std::vector<Range> started;
  for (const facts::Event& event : events)
    if (event.what == "start") started.push_back(range_of(event));
  return started;
}
bool has(const std::vector<facts::Event>& events, const char* what) {
  return std::ranges::any_of(events, [&](const facts::Event& event) { return event.what == what; });
}
bool same(const Range& a, const Range& b) { return a.begin == b.begin && a.end == b.end; }

/// What a plan tries the ways with: once, and then with another network.
struct Tried {
  Tried(const RunPlan& plan, std::size_t setting) : n(plan.ranks()) {
    const auto settings = trial::settings(std::stoi(plan.flags.at(1)));
    iterations = settings.at(setting).iterations, layers = trial::layers(settings.at(setting).layers);
    for (std::size_t i = 0; i < setting; ++i) first_way += n_ways, first_value += n_ways * settings.at(i).iterations;
    for (const auto& layer : layers) parameters.insert(parameters.end(), layer.begin(), layer.end());
    const std::size_t full = size() / static_cast<std::size_t>(std::stoi(plan.flags.at(3)));
    for (auto parameter = parameters.rbegin(); parameter != parameters.rend(); ++parameter)
      if (buckets.empty() || buckets.back().size() >= full)
        buckets.push_back(*parameter);
      else
        buckets.back().begin = parameter->begin;
  }
  std::size_t size() const { return end_of_cache_line(parameters.back().end); }
  float gradient(int rank, int k, std::size_t i) const { return trial::gradient(rank, k, k == iterations - 1, i); }

  int n, iterations = 0;
  int first_way = 0, first_value = 0;  // of what the ranks showed
  std::vector<std::vector<Range>> layers;
  std::vector<Range> parameters, buckets;
};

WaySeen seen_of(const Tried& tried, const RankSeen& rank, Way way) {
  WaySeen seen;
  const int number_of_way = tried.first_way + way;
  std::vector<Iteration> begun;
  int current = -1;
  bool is_over = false;  // backward
  for (const facts::Event& event : rank.events) {
    const std::int64_t number = event.about.empty() ? -1 : event.about.front();
    if (event.what == "way") current = static_cast<int>(number);
    if (current == number_of_way && event.what == "iteration") begun.emplace_back(), is_over = false;
    if (current == number_of_way && event.what == "sent") seen.sent = number;
    if (current == number_of_way && !begun.empty() && event.what != "iteration")
      (is_over ? begun.back().after : begun.back().during).push_back(event);
    is_over |= event.what == "finish";
  }
  const auto first = static_cast<std::size_t>(tried.first_value + way * tried.iterations);
  for (std::size_t k = 0; k < begun.size() && first + k < rank.values.size(); ++k) {
    begun[k].weights = rank.values[first + k];
    begun[k].before = k > 0 ? rank.values[first + k - 1] : std::vector<float>();
    seen.iterations.push_back(std::move(begun[k]));
  }
  return seen;
}

/// The first finding of all ranks that showed something, the lowest first.
template <typename Find>
Found first_of_ranks(const Situation& situation, Find find) {
  const auto& ranks = situation.evidence().ranks;
  for (const std::size_t setting : {0, 1}) {
    const Tried tried(situation.plan, setting);
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
      Found wrong = find(tried, ranks[rank], static_cast<int>(rank));
      if (wrong && setting > 0) wrong->values["note"] = "second_network";
      if (wrong) return wrong;
    }
  }
  return {};
}
template <typename Find>
Found first_of_ranks(const Situation& situation, Way way, Find find) {
  return first_of_ranks(situation, [&](const Tried& tried, const RankSeen& seen, int rank) {
    return find(tried, seen_of(tried, seen, way), rank);
  });
}

/// The library's sentence about numbers that can't travel, or about views that show others.
Found find_refused(const Situation& situation) {
  constexpr std::pair<const char*, const char*> sentences[] = {{"start: parameters[", "no_such_parameter"},
                                                               {"start: this range is no part", "no_such_range"},
                                                               {"start: ", "cannot_travel"},
                                                               {"finish: `", "views_changed"}};
  for (const RankSeen& rank : situation.evidence().ranks)
    for (const auto& [begins_with, key] : sentences)
      if (rank.error && rank.error->starts_with(begins_with)) return found(key, {{"detail", *rank.error}});
  return {};
}

// ---- By which gradients the weights were updated

/// Was the update of iteration k by `gradient` of each position, which is rounded by `rounding` at most? No if there
/// was none.
template <typename Gradient>
bool updated_by(const Tried& tried, const Iteration& iteration, double rounding, Gradient gradient) {
  if (iteration.weights.size() != tried.size() || !has(iteration.after, "update")) return false;
  for (const Range& parameter : tried.parameters)
    for (std::size_t i = parameter.begin; i < parameter.end; ++i) {
      const double before = iteration.before.empty() ? trial::first_weight(i) : iteration.before[i];
      const double seen = (before - iteration.weights[i]) / trial::rate - trial::decay * before;
      const double expected = gradient(i);
      if (!(std::abs(seen - expected) <= 1e-4 * (1 + std::abs(before)) + rounding * std::abs(expected))) return false;
    }
  return true;
}
constexpr double of_fp32 = 1e-5, of_fp16 = 2e-3, of_bf16 = 2e-2;

auto mean_of(const Tried& tried, int k, double factor = 1) {
  return [&tried, k, factor](std::size_t i) {
    double sum = 0;
    for (int rank = 0; rank < tried.n; ++rank) sum += tried.gradient(rank, k, i);
    return factor * sum / tried.n;
  };
}
auto own_of(const Tried& tried, int rank, int k) {
  return [&tried, rank, k](std::size_t i) { return static_cast<double>(tried.gradient(rank, k, i)); };
}

bool is_right(const Tried& tried, const Iteration& iteration, Way way, int k) {
  if (way == double_buffered && k == 0) return !has(iteration.after, "update");
  return updated_by(tried, iteration, way == half_precision ? of_fp16 : of_fp32,
                    mean_of(tried, way == double_buffered ? k - 1 : k));
}

// ---- Blank 1: the buckets

Found find_in_order(const Situation& situation) {
  if (Found refused = find_refused(situation)) return refused;
  return first_of_ranks(situation, overlapped, [](const Tried& tried, const WaySeen& seen, int rank) -> Found {
    if (seen.iterations.empty()) return {};
    const std::vector<Range> started = started_in(seen.iterations.front().during);
    int left_out = 0, twice = 0;
    for (const Range& parameter : tried.parameters) {
      const auto times = std::ranges::count_if(
          started, [&](const Range& range) { return range.begin <= parameter.begin && parameter.end <= range.end; });
      left_out += times == 0 ? 1 : 0, twice += times > 1 ? 1 : 0;
    }
    const std::size_t n = tried.parameters.size();
    if (left_out + twice > 0) return found("not_each_once", {{"left", left_out}, {"twice", twice}, {"n", n}});
    if (std::ranges::equal(started, tried.buckets, same)) return {};
    const auto by_begin = [](const Range& a, const Range& b) { return a.begin < b.begin; };
    const bool forwards = std::ranges::is_sorted(started, by_begin);
    return found(forwards ? "forwards" : "another_order",
                 {{"seen", started.front().begin}, {"size", tried.size()}, {"rank", rank}});
  });
}

// ---- Blank 2: when buckets start

/// Of one iteration.
Found find_in_starts(const Tried& tried, const Iteration& iteration, int k) {
  std::vector<std::size_t> starts(tried.buckets.size());  // how often each was started
  std::size_t final_from = tried.size(), late = 0;
  bool all_at_the_end = true;
  const auto is_final = [&](const Range& bucket) { return bucket.begin >= final_from; };
  const auto tell = [&](const char* key, const Range& of) {
    return found(key, {{"begin", of.begin}, {"end", of.end}, {"from", final_from}, {"k", k}});
  };
  const auto count_late = [&] {
    for (std::size_t b = 0; b < starts.size(); ++b) late += is_final(tried.buckets[b]) && starts[b] == 0 ? 1 : 0;
  };
  for (const facts::Event& event : iteration.during) {
    if (event.what == "wait") return found("waits_in_backward", {{"k", k}});
    if (event.what == "final" || event.what == "finish") count_late();
    if (event.what == "final") final_from = range_of(event).begin;
    if (event.what != "start") continue;
    const Range range = range_of(event);
    const auto bucket = std::ranges::find_if(tried.buckets, [&](const Range& each) { return same(each, range); });
    if (!is_final(range)) return tell("starts_too_early", range);
    if (bucket == tried.buckets.end()) return tell("starts_no_bucket", range);
    if (++starts[static_cast<std::size_t>(bucket - tried.buckets.begin())] > 1) return tell("starts_twice", range);
    all_at_the_end &= final_from == 0;
  }
  const auto never = std::ranges::find(starts, 0u);
  if (never != starts.end())
    return tell("never_starts", tried.buckets[static_cast<std::size_t>(never - starts.begin())]);
  if (late == 0) return {};
  return found(all_at_the_end ? "starts_after_backward" : "starts_late", {{"k", k}, {"n", starts.size()}});
}

Found find_in_starting(const Situation& situation) {
  if (Found refused = find_refused(situation)) return refused;
  return first_of_ranks(situation, overlapped, [](const Tried& tried, const WaySeen& seen, int) -> Found {
    for (std::size_t k = 0; k < seen.iterations.size(); ++k)
      if (Found wrong = find_in_starts(tried, seen.iterations[k], static_cast<int>(k))) return wrong;
    return {};
  });
}

// ---- Blank 3: behind backward

Found find_in_finishing(const Situation& situation) {
  return first_of_ranks(situation, overlapped, [](const Tried& tried, const WaySeen& seen, int) -> Found {
    for (std::size_t k = 0; k < seen.iterations.size(); ++k) {
      const Iteration& iteration = seen.iterations[k];
      const std::size_t started = started_in(iteration.during).size();
      if (!started_in(iteration.after).empty()) return found("starts_again", {{"k", k}});
      if (started < tried.buckets.size())
        return found("next_iteration_lacks_buckets", {{"k", k}, {"seen", started}, {"expected", tried.buckets.size()}});
      if (!has(iteration.after, "wait")) return found("update_without_wait", {{"k", k}});
    }
    return {};
  });
}

// ---- Blank 4: two buffers

Found find_in_buffers(const Situation& situation) {
  if (Found refused = find_refused(situation)) return refused;
  return first_of_ranks(situation, double_buffered, [](const Tried& tried, const WaySeen& seen, int rank) -> Found {
    const auto starts = [](const Iteration& each) {
      return has(each.after, "start_travelling") || has(each.after, "start");
    };
    if (!seen.iterations.empty() && std::ranges::none_of(seen.iterations, starts))
      return found("nothing_travels", {{"k", 0}});
    for (std::size_t k = 1; k < seen.iterations.size() && tried.n > 1; ++k)
      if (updated_by(tried, seen.iterations[k], of_fp32, mean_of(tried, static_cast<int>(k))))
        return found("current_mean", {{"k", k}});
    for (std::size_t index = 0; index < seen.iterations.size(); ++index) {
      const Iteration& iteration = seen.iterations[index];
      const int k = static_cast<int>(index);
      const auto says = [&](const char* key) { return found(key, {{"k", k}, {"before", k - 1}, {"rank", rank}}); };
      const auto is_by = [&](auto gradient) { return updated_by(tried, iteration, of_fp32, gradient); };
      if (has(iteration.after, "start")) return says("gradients_travel");
      if (tried.n > 1 && is_by(own_of(tried, rank, k))) return says("own_gradients");
      if (k > 0 && tried.n > 1 && is_by(own_of(tried, rank, k - 1))) return says("used_before_arrival");
      if (is_by([](std::size_t) { return 0.0; })) return says("gradients_lost");
      if (!has(iteration.after, "start_travelling")) return says("nothing_travels");
      const auto begins = std::ranges::find(iteration.after, "start_travelling", &facts::Event::what);
      if (std::any_of(begins, iteration.after.end(), [](const auto& event) { return event.what == "wait"; }))
        return says("waits_at_once");
      if (k > 0 && !has(iteration.after, "wait")) return says("used_before_arrival");
    }
    return {};
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
  const Tried tried(each_parameter, 0);
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
    const std::int64_t whole = seen_of(tried, shown, synchronous).sent;
    if (whole > 0 && seen.sent > 0.6 * static_cast<double>(whole))
      return found("bytes_not_halved", {{"seen", seen.sent}, {"whole", whole}, {"rank", rank}});
    return {};
  });
}

// ---- Of all

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
  return {{plainest, each_parameter, one_layer, alone},
          {{1, "BucketsAreInBackwardsOrder", find_in_order},
           {2, "BucketsStartWhenFull", find_in_starting},
           {3, "UpdateWaitsForAll", find_in_finishing},
           {4, "MeanIsOfTheIterationBefore", find_in_buffers},
           {5, "FirstIterationUpdatesNothing", find_in_updating},
           {6, "HalfPrecisionStaysFinite", find_in_half_precision},
           {0, "AllWeightsAreRight", find_wrong_update},
           {0, "ShowsItsNumbers", find_no_values},
           {0, "EvidenceIsOfTheProgram", find_forgery}},
          exposed_shares};
}

}  // namespace odori::grader
