// SPDX-License-Identifier: Apache-2.0
// Task 6: formulas, applied to recorded timings.
#include <algorithm>
#include <cmath>
#include <vector>

#include "checks/findings.h"
#include "comm/cost.h"
#include "model/networks.h"
#include "prediction_cases.h"
#include "prediction_support.h"

namespace odori::grader {
namespace {

/// Times need not be told from each other by less than what they lose in floats.
bool same_time(double seen, double expected) { return same(seen, expected, 1e-5); }

/// What somebody measured, and what is to be predicted from it.
struct Recorded {
  cost::Measured small, large;
  int images = 0, batch = 0;
  std::string network, other, link;
  int percent = 10;  // what an epoch may take more than its images alone; and a tenth of it
  double share(std::size_t i) const { return percent / (i == 0 ? 100.0 : 1000.0); }
};

// Before it is rounded, a batch at which the gain ends is no whole number, and not nearly one; in the fourth it is one
// exactly, and all numbers on the way to it are exact too; in the fifth, of a fast device, it is below 1. In the
// second, less than a millisecond is fixed. In it and the fourth, batches divide the images; 1125 times 1.0 / 75 is a
// little more than 15. In the third, floats don't hold the images, nor 16 bits the iterations.
const std::vector<Recorded>& all_recorded() {
  static const std::vector<Recorded> all{{{32, 0.0412}, {128, 0.1537}, 50000, 48, "mid", "vgg", "10gbit,50us"},
                                         {{16, 0.0095}, {64, 0.0359}, 6400, 64, "vgg", "mid", "100mbit,1ms", 7},
                                         {{8, 0.91}, {40, 1.7}, 16778001, 200, "tiny", "vgg", "1gbit,200us", 25},
                                         {{64, 0.125}, {128, 0.1875}, 1125, 75, "mid", "vgg", "1gbit,50us"},
                                         {{2, 8.2087e-07}, {8, 3.22687e-06}, 50000, 500, "tiny", "mid", "25gbit,5us"}};
  return all;
}

PredictionCase case_of(const Recorded& r) {
  return {.network = r.network,
          .other = r.other,
          .images = r.images,
          .batch = r.batch,
          .link = r.link,
          .small_batch = r.small.batch,
          .small_seconds = r.small.seconds,
          .large_batch = r.large.batch,
          .large_seconds = r.large.seconds,
          .percent = r.percent};
}

/// For messages: the program's flags, and the two measured iterations.
std::string described(const Recorded& r) {
  return fmt::format(
      "--model {} --other-model {} --images {} --batchsize {} --network {} --percent {}, {}: {} s, {}: {} s", r.network,
      r.other, r.images, r.batch, r.link, r.percent, r.small.batch, r.small.seconds, r.large.batch, r.large.seconds);
}

/// What a run predicts, one after the other: in the last one whatever an answer keeps from one prediction to the next
/// is wrong in the next, and the first prediction comes back.
const std::vector<std::vector<std::size_t>>& all_runs() {
  static const std::vector<std::vector<std::size_t>> all{{0}, {1}, {2}, {3}, {4}, {1, 0, 3, 2, 1}};
  return all;
}

RunPlan plan_of(const std::vector<std::size_t>& predictions) {
  std::vector<PredictionCase> cases;
  for (const std::size_t i : predictions) cases.push_back(case_of(all_recorded().at(i)));
  return {.epochs = 0, .shows = predictions.size(), .test_cases = nlohmann::json(cases).dump()};
}

/// What the program showed (exercises/06_prediction/support/show.cpp), and what it should have.
struct Shown {
  struct Point {
    int n = 1;
    double exchange = 0, iteration = 0;
  };

  Recorded given;
  cost::Compute compute;
  NetworkCost proxy, other;
  cost::Link link;
  double bytes = 0;
  double iterations = 0, per_image = 0, fixed = 0, other_per_image = 0, gain_ends[2] = {0, 0};
  std::vector<Point> curve;

  double batch() const { return given.batch; }
  double expected_exchange(int n) const {
    return cost::all_reduce("ring", {.nodes = n, .between = link}, {.bytes = bytes}).value();
  }
};

std::optional<Shown> shown(const Recorded& given, const std::vector<float>& numbers) {
  if (numbers.size() != 6 + 2 * std::size(device_counts)) return {};
  Shown seen{.given = given,
             .compute = cost::compute_from(given.small, given.large),
             .proxy = cost_of(create_network(given.network, 10)),
             .other = cost_of(create_network(given.other, 10)),
             .link = cost::link_from(given.link)};
  seen.bytes = 4 * seen.proxy.parameters;
  seen.iterations = numbers[0], seen.per_image = numbers[1], seen.fixed = numbers[2], seen.other_per_image = numbers[3];
  seen.gain_ends[0] = numbers[4], seen.gain_ends[1] = numbers[5];
  for (std::size_t i = 0; i < std::size(device_counts); ++i)
    seen.curve.push_back({device_counts[i], numbers[6 + 2 * i], numbers[7 + 2 * i]});
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
      if (const auto seen = shown(all_recorded().at((*run)[i]), values[i]))
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

/// With a word on digits that were lost, if what was seen is that near to what is expected.
Found with_note(Found wrong, double seen, double expected) {
  if (is_nearly(seen, expected)) wrong->values["note"] = "nearly_right";
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

// ---- Blank 1

Found find_in_iterations(const Shown& seen) {
  const double exact = seen.given.images / seen.batch(), expected = std::ceil(exact), rounded_down = std::floor(exact);
  if (same(seen.iterations, expected)) return {};
  const auto says = [&](const char* key) {
    return found(key, {{"images", seen.given.images},
                       {"batch", seen.given.batch},
                       {"seen", fmt::format("{:g}", seen.iterations)},
                       {"expected", fmt::format("{:g}", expected)},
                       {"left", fmt::format("{:g}", seen.given.images - rounded_down * seen.batch())}});
  };
  if (same(seen.iterations, rounded_down)) {
    const bool is_float =
        std::ceil(static_cast<float>(seen.given.images) / static_cast<float>(seen.given.batch)) < expected;
    return says(is_float ? "float_loses_images" : "last_images_left_out");
  }
  if (same(seen.iterations, expected + 1)) return says("one_iteration_too_many");
  return says(same(seen.iterations, exact) ? "iterations_not_whole" : "iterations_wrong");
}

// ---- Blanks 2 and 3: the line

Found find_in_per_image(const Shown& seen) {
  const double now = seen.per_image, expected = seen.compute.per_image;
  const cost::Measured &small = seen.given.small, &large = seen.given.large;
  if (same_time(now, expected)) return {};
  if (same_time(now, small.seconds / small.batch) || same_time(now, large.seconds / large.batch))
    return found_time("line_through_origin", now, expected);
  if (same_time(now, 1 / expected))
    return found("images_per_second", {{"seen", fmt::format("{:.4g}", now)}, {"expected", milliseconds(expected)}});
  return found_time("per_image_wrong", now, expected);
}

Found find_in_fixed(const Shown& seen) {
  const double now = seen.fixed, expected = seen.compute.fixed, per_image = seen.compute.per_image;
  const cost::Measured &small = seen.given.small, &large = seen.given.large;
  if (same_time(now, expected)) return {};
  const auto is = [&](double one, double other) { return same_time(now, one) || same_time(now, other); };
  const char* key = "fixed_wrong";
  if (now == 0) key = "fixed_left_out";
  if (is(small.seconds, large.seconds)) key = "fixed_is_whole_iteration";
  if (is(large.seconds - per_image * small.batch, small.seconds - per_image * large.batch)) key = "points_mixed";
  return found_time(key, now, expected);
}

// ---- Blank 4

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

// ---- Blanks 5 and 6: the exchange

Found find_in_messages(const Shown& seen) {
  const auto value = &Shown::Point::exchange;
  const auto of_messages = [&](auto messages) {
    return [&seen, messages](int n) { return messages(n) * seen.link.message(seen.bytes / n); };
  };
  const auto expected = [](int n) { return 2 * (n - 1); };
  if (all_points(seen, value, of_messages([](int n) { return n - 1; })))
    return found("messages_of_one_round", {{"n", 4}, {"seen", 3}, {"expected", 6}});
  if (all_points(seen, value, of_messages([](int n) { return 2 * n; })))
    return found("messages_to_oneself", {{"n", 4}, {"seen", 8}, {"expected", 6}});
  for (const Shown::Point& point : seen.curve) {
    const double right = of_messages(expected)(point.n);
    if (!same_time(point.exchange, right))
      return found("messages_wrong",
                   {{"n", point.n},
                    {"seen", fmt::format("{:.4g}", point.exchange / seen.link.message(seen.bytes / point.n))},
                    {"expected", expected(point.n)}});
  }
  return {};
}

Found find_in_exchange(const Shown& seen) {
  const auto value = &Shown::Point::exchange;
  const double latency = seen.link.latency, whole = seen.bytes / seen.link.bandwidth;
  const auto is = [&](auto formula) {
    return all_points(seen, value, [&](int n) { return formula(2.0 * (n - 1), double(n)); });
  };
  const char* key = "exchange_wrong";
  if (is([&](double m, double n) { return m * whole / n; })) key = "latency_left_out";
  if (is([&](double m, double n) { return latency + m * whole / n; })) key = "latency_once";
  if (is([&](double m, double) { return m * (latency + whole); })) key = "whole_vector_each_message";
  if (is([&](double, double) { return whole; }) || is([&](double, double) { return latency + whole; }))
    key = "bytes_over_bandwidth";
  for (const double bits : {8.0, 1 / 8.0})
    if (is([&](double m, double n) { return m * (latency + bits * whole / n); })) key = "bits_for_bytes";
  if (is([&](double m, double n) { return m * latency + std::floor(m / n) * whole; })) key = "whole_number_division";
  return found_point(seen, value, key, [&](int n) { return seen.expected_exchange(n); });
}

// ---- Blank 7

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

// ---- Blank 8

Found find_in_end_of_gain(const Shown& seen) {
  const double ratio = seen.compute.fixed / seen.compute.per_image;
  const auto is = [&](auto formula) {
    return same(seen.gain_ends[0], formula(seen.given.share(0))) &&
           same(seen.gain_ends[1], formula(seen.given.share(1)));
  };
  const auto roughly = [&](auto formula) {  // rounded in whatever way
    return std::abs(seen.gain_ends[0] - formula(seen.given.share(0))) <= 1 &&
           std::abs(seen.gain_ends[1] - formula(seen.given.share(1))) <= 1;
  };
  if (is([&](double share) { return std::ceil(ratio / share); })) return {};
  const char* key = "end_of_gain_wrong";
  if (roughly([&](double share) { return ratio * share; })) key = "share_multiplied";
  if (roughly([&](double) { return ratio; })) key = "share_left_out";
  if (roughly([&](double share) { return ratio * (1 - share) / share; })) key = "share_of_the_whole";
  if (roughly([&](double share) { return ratio / share; })) key = "batch_rounded_wrongly";
  if (is([&](double share) { return ratio / share; })) key = "batch_not_whole";
  if (is([&](double share) { return std::floor(ratio / share); })) key = "batch_rounded_down";
  for (const std::size_t i : {0, 1}) {
    const double expected = std::ceil(ratio / seen.given.share(i));
    if (same(seen.gain_ends[i], expected)) continue;
    return found(key, {{"percent", fmt::format("{:g}", 100 * seen.given.share(i))},
                       {"fixed", milliseconds(seen.compute.fixed)},
                       {"per_image", milliseconds(seen.compute.per_image)},
                       {"seen", fmt::format("{:.5g}", seen.gain_ends[i])},
                       {"expected", fmt::format("{:g}", expected)}});
  }
  return {};
}

// ---- What a right answer shows

/// Without test cases the program measures what it can. With the tiny network that takes some seconds.
const RunPlan measured_here{
    .epochs = 0, .flags = {"--batchsize", "32", "--model", "tiny", "--other-model", "vgg", "--network", "10gbit,50us"}};

/// In milliseconds with three decimals; none where a busy machine made a time that a logarithmic axis has no place for.
std::optional<double> on_axis(double seconds) {
  return seconds > 0 ? std::optional(std::round(1e6 * seconds) / 1e3) : std::nullopt;
}

ShownFigure predicted_and_measured(Runs& whole) {
  const std::vector<std::optional<double>> none(std::size(device_counts));
  Curve shared{"curve_shared", none}, predicted{"curve_predicted", none}, seen{"curve_measured", none, true};
  const std::vector<double> devices(std::begin(device_counts), std::end(device_counts));
  const auto& ranks = whole.of(measured_here).ranks;
  for (std::size_t which = 0; !ranks.empty() && which < ranks.front().values.size(); ++which) {
    const std::vector<float>& numbers = ranks.front().values[which];
    for (std::size_t i = 0;
         which == 0 && numbers.size() == 6 + 2 * std::size(device_counts) && i < std::size(device_counts); ++i)
      shared.values[i] = on_axis(numbers[7 + 2 * i]);
    if (which > 0 && which <= 2 && numbers.size() == 2)  // of one device, then of two
      predicted.values[which - 1] = on_axis(numbers[0]), seen.values[which - 1] = on_axis(numbers[1]);
  }
  return {{"curve", "curve_is", "curve_devices", "curve_milliseconds", devices, {shared, predicted, seen}}, {}};
}

}  // namespace

Exam exam_of_prediction() {
  std::vector<RunPlan> plans;
  for (const auto& predictions : all_runs()) plans.push_back(plan_of(predictions));
  return {plans,
          {{1, "EpochHasAllImages", in_each(find_in_iterations)},
           {2, "ImagesTakeTheSlope", in_each(find_in_per_image)},
           {3, "FixedTimeIsTheRest", in_each(find_in_fixed)},
           {4, "OtherNetworkTakesItsArithmetic", in_each(find_in_other_network)},
           {5, "RingSendsItsMessages", in_each(find_in_messages)},
           {6, "MessagesTakeTheirTime", in_each(find_in_exchange)},
           {7, "ImagesAloneAreShared", in_each(find_in_sharing)},
           {8, "GainEndsWhereTheFixedTimeIsSmall", in_each(find_in_end_of_gain)},
           {0, "ShowsItsNumbers", find_no_values},
           {0, "EvidenceIsOfTheProgram", find_forgery}},
          predicted_and_measured};
}

}  // namespace odori::grader
