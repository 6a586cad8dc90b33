// SPDX-License-Identifier: Apache-2.0
// Task 6: formulas, applied to recorded timings.
#include <algorithm>
#include <cmath>
#include <vector>

#include "checks/findings.h"
#include "comm/cost.h"
#include "files/json.h"
#include "model/networks.h"
#include "prediction_cases.h"
#include "prediction_support.h"

namespace odori::grader {
namespace {

/// Times need not be told from each other by less than what they lose in floats.
bool same_time(double seen, double expected) { return same(seen, expected, 1e-5); }

double share_of(const PredictionCase& given, std::size_t i) { return given.percent / (i == 0 ? 100.0 : 1000.0); }

// Before it is rounded, a batch at which the gain ends is no whole number, and not nearly one; in the fourth it is one
// exactly, and all numbers on the way to it are exact too; in the fifth, of a fast device, it is below 1. In the
// second, less than a millisecond is fixed. In each, a library chooses two algorithms or three, by the devices.
const std::vector<PredictionCase>& all_cases() {
  static const std::vector<PredictionCase> all{
      {"mid", "vgg", 50000, 8190, 4, "100gbit,5us", "10gbit,50us", 32, 0.0412, 128, 0.1537},
      {"vgg", "mid", 6400, 6400, 6, "1gbit,20us", "100mbit,1ms", 16, 0.0095, 64, 0.0359, 7},
      {"tiny", "vgg", 1281167, 20000, 1, "1gbit,200us", "1gbit,200us", 8, 0.91, 40, 1.7, 25},
      {"mid", "vgg", 60000, 7500, 3, "2gbit,40us", "1gbit,50us", 64, 0.125, 128, 0.1875},
      {"tiny", "mid", 50000, 500, 8, "25gbit,5us", "25gbit,5us", 2, 8.2087e-07, 8, 3.22687e-06}};
  return all;
}

/// For messages: the program's flags, and the two measured iterations.
std::string described(const PredictionCase& given) {
  return fmt::format(
      "--model {} --other-model {} --shared-batch {} --devices-per-node {} --within {} --network {} --percent {}, {}: "
      "{} s, {}: {} s",
      given.network, given.other, given.batch, given.per_node, given.within, given.between, given.percent,
      given.small_batch, given.small_seconds, given.large_batch, given.large_seconds);
}

/// What a run predicts, one after the other: in the last one whatever an answer keeps from one prediction to the next
/// is wrong in the next, and the first prediction comes back.
const std::vector<std::vector<std::size_t>>& all_runs() {
  static const std::vector<std::vector<std::size_t>> all{{0}, {1}, {2}, {3}, {4}, {1, 0, 3, 2, 1}};
  return all;
}

RunPlan plan_of(const std::vector<std::size_t>& predictions) {
  std::vector<PredictionCase> cases;
  for (const std::size_t i : predictions) cases.push_back(all_cases().at(i));
  return {.epochs = 0, .shows = predictions.size(), .test_cases = json_text(nlohmann::json(cases))};
}

constexpr std::size_t n_single = 4, n_point = 4;  // values of a prediction; and of each number of devices

/// What the program showed (exercises/06_prediction/support/show.cpp), and what it should have.
struct Shown {
  struct Point {
    int n = 1;
    double exchange = 0, iteration = 0;  // by the ring
    int chosen = -1;                     // of all_reduce_names; -1: none of them
  };

  PredictionCase given;
  cost::Measured small, large;
  cost::Compute compute;
  NetworkCost proxy, other;
  cost::Link within, between;
  double bytes = 0;
  double per_image = 0, other_per_image = 0, gain_ends[2] = {0, 0};
  std::vector<Point> curve;

  double batch() const { return given.batch; }
  const cost::Link& link(int n) const { return n > given.per_node ? between : within; }
  /// Of all_reduce_names[which]; nothing if n devices can't use it.
  std::optional<double> seconds(std::size_t which, int n, double of_bytes) const {
    const int in_node = std::min(n, given.per_node), nodes = n / in_node;
    if (which == 2 && (nodes == 1 || in_node == 1)) return {};
    return cost::all_reduce(all_reduce_names[which], {nodes, in_node, within, between}, {.bytes = of_bytes});
  }
  double expected_exchange(int n) const { return seconds(0, n, bytes).value(); }
};

std::optional<Shown> shown(const PredictionCase& given, const std::vector<float>& numbers) {
  const std::vector<int> counts = device_counts(given.per_node);
  if (numbers.size() != n_single + n_point * counts.size()) return {};
  Shown seen{.given = given,
             .small = {given.small_batch, given.small_seconds},
             .large = {given.large_batch, given.large_seconds},
             .proxy = cost_of(create_network(given.network, 10)),
             .other = cost_of(create_network(given.other, 10)),
             .within = cost::link_from(given.within),
             .between = cost::link_from(given.between)};
  seen.compute = cost::compute_from(seen.small, seen.large);
  seen.bytes = 4 * seen.proxy.parameters;
  seen.per_image = numbers[0], seen.other_per_image = numbers[1];
  seen.gain_ends[0] = numbers[2], seen.gain_ends[1] = numbers[3];
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const float* point = &numbers[n_single + n_point * i];
    const bool is_known = point[2] >= 0 && point[2] < std::size(all_reduce_names);
    seen.curve.push_back({counts[i], point[0], point[1], is_known ? static_cast<int>(point[2]) : -1});
  }
  return seen;
}

/// The first finding of all predictions that a run came so far as to show.
template <typename Find>
auto in_each(Find find) {
  return [find](const Situation& situation) -> Found {
    const auto& ranks = situation.evidence().ranks;
    const auto run =
        std::ranges::find(all_runs(), situation.plan.test_cases, [](const auto& r) { return plan_of(r).test_cases; });
    if (ranks.empty() || run == all_runs().end()) return {};
    const auto& values = ranks.front().values;
    if (values.size() > situation.plan.shows) return {};  // some are an answer's own: find_forgery tells
    for (std::size_t i = 0; i < values.size(); ++i)
      if (const auto seen = shown(all_cases().at((*run)[i]), values[i]))
        if (Found wrong = find(*seen)) {
          wrong->values["with_flags"] = described(seen->given);
          if (i > 0) wrong->values["note"] = "later_prediction";
          return wrong;
        }
    return {};
  };
}

std::string milliseconds(double seconds, double expected) { return measured(1e3 * seconds, 1e3 * expected); }
std::string milliseconds(double seconds) { return fmt::format("{:.4g}", 1e3 * seconds); }
bool is_nearly(double seen, double expected) { return same(seen, expected, 1e-3); }
/// What is expected, with as many digits as tell it from what was seen.
std::string expected_milliseconds(double expected, double seen) {
  return is_nearly(seen, expected) ? milliseconds(expected, seen) : milliseconds(expected);
}

/// With a word on digits that were lost, if what was seen is that near to what is expected and nothing else is known.
Found with_note(Found wrong, double seen, double expected) {
  if (wrong->key.ends_with("_wrong") && is_nearly(seen, expected)) wrong->values["note"] = "nearly_right";
  return wrong;
}

/// A message on seconds, in milliseconds.
Found found_time(const char* key, double seen, double expected) {
  return with_note(
      found(key, {{"seen", milliseconds(seen, expected)}, {"expected", expected_milliseconds(expected, seen)}}), seen,
      expected);
}

/// Does it hold for every number of devices?
template <typename Formula>
bool all_points(const Shown& seen, double Shown::Point::*value, Formula formula) {
  return std::all_of(seen.curve.begin(), seen.curve.end(),
                     [&](const Shown::Point& point) { return same_time(point.*value, formula(point.n)); });
}
/// The first for which it doesn't hold, told by `key`.
template <typename Formula>
Found found_point(const Shown& seen, double Shown::Point::*value, const char* key, Formula expected) {
  for (const Shown::Point& point : seen.curve)
    if (const double right = expected(point.n); !same_time(point.*value, right))
      return with_note(found(key, {{"n", point.n},
                                   {"seen", milliseconds(point.*value, right)},
                                   {"expected", expected_milliseconds(right, point.*value)}}),
                       point.*value, right);
  return {};
}

// ---- Blank 1: the line

Found find_in_per_image(const Shown& seen) {
  const double now = seen.per_image, expected = seen.compute.per_image;
  const cost::Measured &small = seen.small, &large = seen.large;
  if (same_time(now, expected)) return {};
  if (same_time(now, small.seconds / small.batch) || same_time(now, large.seconds / large.batch))
    return found_time("line_through_origin", now, expected);
  if (same_time(now, 1 / expected))
    return found("images_per_second", {{"seen", fmt::format("{:.4g}", now)}, {"expected", milliseconds(expected)}});
  return found_time("per_image_wrong", now, expected);
}

// ---- Blank 2: another network

Found find_in_other_network(const Shown& seen) {
  const double now = seen.other_per_image, one = seen.compute.per_image;
  const double operations = seen.other.operations / seen.proxy.operations,
               parameters = seen.other.parameters / seen.proxy.parameters;
  if (same_time(now, one * operations)) return {};
  const char* key = "other_network_wrong";
  if (same_time(now, one * parameters)) key = "scaled_by_parameters";
  if (same_time(now, one / operations)) key = "scale_inverted";
  if (same_time(now, one)) key = "not_scaled";
  return found(key, {{"proxy", seen.given.network},
                     {"other", seen.given.other},
                     {"seen", milliseconds(now, one * operations)},
                     {"expected", milliseconds(one * operations)},
                     {"operations", fmt::format("{:.3g}", operations)},
                     {"parameters", fmt::format("{:.3g}", parameters)}});
}

// ---- Blank 3: the ring

Found find_in_ring(const Shown& seen) {
  const auto value = &Shown::Point::exchange;
  const auto is = [&](auto formula) {
    return all_points(seen, value, [&](int n) {
      return formula(2.0 * (n - 1), double(n), seen.link(n).latency, seen.bytes / seen.link(n).bandwidth);
    });
  };
  const char* key = "exchange_wrong";
  if (is([](double m, double n, double latency, double whole) { return m / 2 * (latency + whole / n); }))
    key = "messages_of_one_round";
  if (is([](double m, double n, double latency, double whole) { return (m + 2) * (latency + whole / n); }))
    key = "messages_to_oneself";
  if (is([](double m, double n, double, double whole) { return m * whole / n; })) key = "latency_left_out";
  if (is([](double m, double n, double latency, double whole) { return latency + m * whole / n; }))
    key = "latency_once";
  if (is([](double m, double, double latency, double whole) { return m * (latency + whole); }))
    key = "whole_vector_each_message";
  if (is([](double, double, double, double whole) { return whole; }) ||
      is([](double, double, double latency, double whole) { return latency + whole; }))
    key = "bytes_over_bandwidth";
  for (const double bits : {8.0, 1 / 8.0})
    if (is([&](double m, double n, double latency, double whole) { return m * (latency + bits * whole / n); }))
      key = "bits_for_bytes";
  if (is([](double m, double n, double latency, double whole) { return m * latency + std::floor(m / n) * whole; }))
    key = "whole_number_division";
  return found_point(seen, value, key, [&](int n) { return seen.expected_exchange(n); });
}

// ---- Blank 4: one batch for all

Found find_in_sharing(const Shown& seen) {
  const auto value = &Shown::Point::iteration;
  const double fixed = seen.compute.fixed, images = seen.compute.per_image * seen.batch();
  const auto is = [&](auto formula) {
    return all_points(seen, value, [&](int n) { return formula(n, seen.expected_exchange(n)); });
  };
  const char* key = "sharing_wrong";
  if (is([&](int n, double exchange) { return (fixed + images) / n + exchange; })) key = "fixed_divided";
  if (is([&](int n, double) { return fixed + images / n; })) key = "exchange_left_out";
  if (is([&](int n, double exchange) { return (fixed + images + exchange) / n; })) key = "exchange_divided";
  if (is([&](int, double exchange) { return fixed + images + exchange; })) key = "batch_not_shared";
  if (is([&](int n, double exchange) { return std::max(fixed + images / n, exchange); })) key = "exchange_hidden";
  for (const auto rounded : std::initializer_list<double (*)(double)>{std::floor, std::ceil, std::round})
    if (is([&](int n, double exchange) {
          return fixed + seen.compute.per_image * rounded(seen.batch() / static_cast<double>(n)) + exchange;
        }))
      key = "images_rounded";
  return found_point(seen, value, key, [&](int n) { return fixed + images / n + seen.expected_exchange(n); });
}

// ---- Blank 5: larger batches

Found find_in_end_of_gain(const Shown& seen) {
  const double ratio = seen.compute.fixed / seen.compute.per_image;
  const auto is = [&](auto formula) {
    return same(seen.gain_ends[0], formula(share_of(seen.given, 0))) &&
           same(seen.gain_ends[1], formula(share_of(seen.given, 1)));
  };
  const auto roughly = [&](auto formula) {  // rounded in whatever way
    return std::abs(seen.gain_ends[0] - formula(share_of(seen.given, 0))) <= 1 &&
           std::abs(seen.gain_ends[1] - formula(share_of(seen.given, 1))) <= 1;
  };
  if (is([&](double share) { return std::ceil(ratio / share); })) return {};
  const char* key = "end_of_gain_wrong";
  if (roughly([&](double share) { return ratio * share; })) key = "share_multiplied";
  if (seen.gain_ends[0] == seen.gain_ends[1] && roughly([&](double) { return ratio; })) key = "share_left_out";
  if (roughly([&](double share) { return ratio * (1 - share) / share; })) key = "share_of_the_whole";
  if (roughly([&](double share) { return ratio / share; })) key = "batch_rounded_wrongly";
  if (is([&](double share) { return ratio / share; })) key = "batch_not_whole";
  if (is([&](double share) { return std::floor(ratio / share); })) key = "batch_rounded_down";
  for (const std::size_t i : {0, 1}) {
    const double expected = std::ceil(ratio / share_of(seen.given, i));
    if (same(seen.gain_ends[i], expected)) continue;
    return found(key, {{"percent", fmt::format("{:g}", 100 * share_of(seen.given, i))},
                       {"fixed", milliseconds(seen.compute.fixed)},
                       {"per_image", milliseconds(seen.compute.per_image)},
                       {"seen", fmt::format("{:.5g}", seen.gain_ends[i])},
                       {"expected", fmt::format("{:g}", expected)}});
  }
  return {};
}

// ---- Blank 6: the choice

/// The quickest of those that n devices can use, by `seconds(which)`. Ties go to the first.
template <typename Seconds>
int quickest(const Seconds& seconds) {
  std::size_t best = 0;
  for (std::size_t which = 1; which < std::size(all_reduce_names); ++which)
    if (const auto now = seconds(which); now && *now < *seconds(best)) best = which;
  return static_cast<int>(best);
}

/// "ring: 3.7 ms, tree: 1.9 ms"
std::string times_of(const Shown& seen, int n) {
  std::string text;
  for (std::size_t which = 0; which < std::size(all_reduce_names); ++which)
    if (const auto seconds = seen.seconds(which, n, seen.bytes))
      text += fmt::format("{}{}: {:.5g} ms", which > 0 ? ", " : "", all_reduce_names[which], 1e3 * *seconds);
  return text;
}

Found find_in_choice(const Shown& seen) {
  const auto takes = [&](int which, int n) {
    return which < 0 ? std::nullopt : seen.seconds(static_cast<std::size_t>(which), n, seen.bytes);
  };
  // The same time, and nothing to choose.
  const auto is_as_quick = [&](const Shown::Point& point, int as) {
    const auto time = takes(point.chosen, point.n);
    return time && same_time(*time, takes(as, point.n).value());
  };
  const auto chosen_by = [&](auto seconds) {
    return std::ranges::all_of(seen.curve, [&](const Shown::Point& point) {
      return is_as_quick(point, quickest([&](std::size_t which) { return seconds(which, point.n); }));
    });
  };
  using Seconds = std::optional<double>;
  const auto time = [&](std::size_t which, int n) { return seen.seconds(which, n, seen.bytes); };
  if (chosen_by(time)) return {};

  const auto is_last = [&](const Shown::Point& one) { return one.chosen == seen.curve.back().chosen; };
  const char* key = "algorithm_wrong";
  if (chosen_by([&](std::size_t which, int n) -> Seconds { return which == 2 ? Seconds{} : time(which, n); }))
    key = "hierarchical_left_out";
  for (const double few : {0, 1})
    if (chosen_by([&](std::size_t which, int n) { return seen.seconds(which, n, few); })) key = "chosen_by_latency";
  if (chosen_by([&](std::size_t which, int n) -> Seconds {
        const Seconds seconds = time(which, n);
        return seconds ? Seconds(-*seconds) : seconds;
      }))
    key = "slowest_chosen";
  if (std::ranges::all_of(seen.curve, is_last)) key = "same_at_every_n";
  for (const Shown::Point& point : seen.curve) {
    const int best = quickest([&](std::size_t which) { return time(which, point.n); });
    if (is_as_quick(point, best)) continue;
    const bool can_be_used = takes(point.chosen, point.n).has_value();
    return found(can_be_used ? key : "choice_unknown", {{"n", point.n},
                                                        {"seen", can_be_used ? all_reduce_names[point.chosen] : ""},
                                                        {"expected", all_reduce_names[best]},
                                                        {"times", times_of(seen, point.n)}});
  }
  return {};
}

// ---- What a right answer shows

/// Without test cases the program measures what it can. With the tiny network that takes some seconds.
const RunPlan measured_here{.epochs = 0,
                            .flags = {"--batchsize", "32", "--model", "tiny", "--other-model", "vgg", "--shared-batch",
                                      "8192", "--devices-per-node", "4", "--network", "10gbit,50us"}};
constexpr int per_node_here = 4;

/// In milliseconds with three decimals; none where a busy machine made a time that a logarithmic axis has no place for.
std::optional<double> on_axis(double seconds) {
  return seconds > 0 ? std::optional(std::round(1e6 * seconds) / 1e3) : std::nullopt;
}

ShownFigure predicted_and_measured(Runs& whole) {
  const std::vector<int> counts = device_counts(per_node_here);
  const std::vector<double> devices(counts.begin(), counts.end());
  const std::vector<std::optional<double>> none(counts.size());
  Curve ring{"curve_shared", none}, chosen{"curve_chosen", none}, predicted{"curve_predicted", none},
      seen{"curve_measured", none, true};
  const auto& ranks = whole.of(measured_here).ranks;
  for (std::size_t which = 0; !ranks.empty() && which < ranks.front().values.size(); ++which) {
    const std::vector<float>& numbers = ranks.front().values[which];
    for (std::size_t i = 0; which == 0 && numbers.size() == n_single + n_point * counts.size() && i < counts.size();
         ++i) {
      const float* point = &numbers[n_single + n_point * i];
      ring.values[i] = on_axis(point[1]);
      chosen.values[i] = on_axis(point[3]);
    }
    if (which > 0 && which <= 2 && numbers.size() == 2)  // of one device, then of two
      predicted.values[which - 1] = on_axis(numbers[0]), seen.values[which - 1] = on_axis(numbers[1]);
  }
  return {{"curve", "curve_is", "curve_devices", "curve_milliseconds", devices, {ring, chosen, predicted, seen}}, {}};
}

}  // namespace

Exam exam_of_prediction() {
  std::vector<RunPlan> plans;
  for (const auto& predictions : all_runs()) plans.push_back(plan_of(predictions));
  return {plans,
          {{1, "ImagesTakeTheSlope", in_each(find_in_per_image)},
           {2, "OtherNetworkTakesItsArithmetic", in_each(find_in_other_network)},
           {3, "MessagesTakeTheirTime", in_each(find_in_ring)},
           {4, "ImagesAloneAreShared", in_each(find_in_sharing)},
           {5, "GainEndsWhereTheFixedTimeIsSmall", in_each(find_in_end_of_gain)},
           {6, "QuickestIsChosen", in_each(find_in_choice)},
           {0, "ShowsItsNumbers", find_no_values},
           {0, "EvidenceIsOfTheProgram", find_forgery}},
          predicted_and_measured};
}

}  // namespace odori::grader
