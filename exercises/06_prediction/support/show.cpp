// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>

#include "comm/cost.h"
#include "errors/error.h"
#include "observe/hooks.h"
#include "predict/forecast.h"
#include "predict/measure.h"
#include "prediction_support.h"
#include "report/table.h"

namespace odori {
namespace {

void write_evidence(const Prediction& p) {
  std::vector<float> values;
  const auto add = [&](double value) { values.push_back(static_cast<float>(value)); };
  add(p.compute.per_image), add(p.compute_of_other.per_image);
  add(p.batch_within_percent), add(p.batch_within_tenth_of_it);
  for (const Point& point : p.curve) {
    const auto chosen = std::ranges::find(all_reduce_names, point.chosen);
    add(point.ring), add(point.iteration);
    add(chosen == std::end(all_reduce_names) ? -1 : static_cast<double>(chosen - std::begin(all_reduce_names)));
    add(point.iteration_with_chosen);
  }
  observe::on_values(values);
}

std::string milliseconds(double seconds) { return fmt::format("{:.3f}", 1e3 * seconds); }

/// Milliseconds of the all-reduces that the ring is compared with, "-" where the devices are in one node.
std::vector<std::string> times_of_others(const Given& given, int n) {
  std::vector<std::string> times{"-", "-"};
  for (const Candidate& one : candidates_for(given, n, [](int, double, const cost::Link&) { return 0.0; })) {
    const std::string seconds = milliseconds(one.seconds(n, 4 * cost_of(given.network).parameters));
    if (one.name == "tree") times[0] = seconds;
    if (one.name == "hierarchical") times[1] = seconds;
  }
  return times;
}

/// The devices at which an iteration takes least, if more devices are slower.
std::optional<int> end_of_gain(const std::vector<Point>& curve, double Point::*iteration) {
  const auto quickest = std::ranges::min_element(curve, {}, iteration);
  return quickest + 1 == curve.end() ? std::nullopt : std::optional(quickest->devices);
}

/// Each device has at least one image.
void show_curve(const Prediction& p) {
  std::vector<Point> curve;
  std::ranges::copy_if(p.curve, std::back_inserter(curve),
                       [&](const Point& point) { return point.devices <= p.given.batch; });
  if (curve.empty()) return;
  const double least = std::ranges::min_element(curve, {}, &Point::iteration_with_chosen)->iteration_with_chosen;
  std::vector<TableRow> rows;
  for (const Point& point : curve) {
    const double share = least / point.iteration_with_chosen;
    const double width = share >= 0 && share <= 1 ? 20 * share : 0;  // a learner's formula may return anything
    const auto others = times_of_others(p.given, point.devices);
    rows.push_back({std::to_string(point.devices), milliseconds(point.ring), others[0], others[1],
                    milliseconds(point.iteration), point.devices == 1 ? "-" : point.chosen,
                    milliseconds(point.iteration_with_chosen),
                    fmt::format("{:.2f}", curve.front().iteration_with_chosen / point.iteration_with_chosen),
                    std::string(static_cast<std::size_t>(std::lround(width)), '#')});
  }
  fmt::print("{} images shared by all devices, {} in each node. Milliseconds of an all-reduce and of an iteration:\n{}",
             p.given.batch, p.given.per_node,
             text_table({"devices", "ring", "tree", "hierarchical", "iteration, ring", "chosen", "iteration, chosen",
                         "speedup", ""},
                        rows));
  const auto ring = end_of_gain(curve, &Point::iteration), chosen = end_of_gain(curve, &Point::iteration_with_chosen);
  if (ring) fmt::print("With the ring alone, more than {} devices: no more gain.\n", *ring);
  if (chosen) fmt::print("With what you choose, more than {} devices: no more gain.\n", *chosen);
  if (ring && !chosen) fmt::print("What you choose goes on.\n");
  fmt::print("\n");
}

/// What ZeRO and tensor parallelism would cost, with the number of devices at which an iteration by the ring is
/// quickest.
void show_splits(const Prediction& p) {
  const Given& given = p.given;
  const Point* quickest = nullptr;
  for (const Point& point : p.curve)
    if (point.devices <= given.batch && (!quickest || point.iteration < quickest->iteration)) quickest = &point;
  if (!quickest || quickest->devices == 1) return;
  const int n = quickest->devices, in_node = std::min(n, given.per_node);
  const cost::Training training{.compute = p.compute, .cluster = {n / in_node, in_node, given.within, given.between}};
  fmt::print(
      "{} devices, the same images, Adam in fp32. MB of a device and MB that it sends; milliseconds by rings, none "
      "hidden:\n{}\n",
      n,
      to_text(
          splits_of(training, cost_of(given.network).layers, cost::fp32_adam, static_cast<double>(given.batch) / n)));
}

}  // namespace

void show(const Prediction& p) {
  write_evidence(p);
  const Given& given = p.given;
  const double iterations = cost::iterations(given.images, given.batch);
  const auto seconds = [&](const cost::Compute& compute) { return iterations * compute.seconds(given.batch); };
  fmt::print("An iteration of {} images on one device: {:.3f} ms + {:.4f} ms an image = {:.3f} ms\n", given.batch,
             1e3 * p.compute.fixed, 1e3 * p.compute.per_image, 1e3 * p.compute.seconds(given.batch));
  if (p.compute.fixed < 0)
    fmt::print(
        "A time can't be below 0. If the formulas are right, the machine was busy while the larger batch was measured: "
        "run this again.\n");
  fmt::print("An epoch of {} images: {} iterations, {:.1f} s with {}, {:.1f} s with {}\n", given.images, iterations,
             seconds(p.compute), given.network.name, seconds(p.compute_of_other), given.other.name);
  if (p.batch_within_percent < 0)
    fmt::print("Larger batches would save nothing: the formula gives the batches {} and {} for {} % and {} %.\n\n",
               p.batch_within_percent, p.batch_within_tenth_of_it, given.percent, given.percent / 10.0);
  else
    fmt::print("From batch {} on, an epoch takes at most {} % more than its images alone; from batch {} on, {} %\n\n",
               p.batch_within_percent, given.percent, p.batch_within_tenth_of_it, given.percent / 10.0);
  show_curve(p);
  show_splits(p);
}

void show_error(const std::string& what, double predicted, const NetworkSpec& network, int batch, int n_devices,
                const DevicePoolOptions& devices) {
  std::string result;
  try {
    const double measured = measure_iteration(network, batch, n_devices, devices).seconds;
    // For the grader's figure.
    const float both[] = {static_cast<float>(predicted), static_cast<float>(measured)};
    observe::on_values(both);
    result = fmt::format("measured {:.3f} ms, error {:+.1f} %", 1e3 * measured, 100 * (predicted / measured - 1));
  } catch (const Error& error) {  // a machine with one GPU
    result = fmt::format("not measured: {}", error.what());
  }
  fmt::print("{}: predicted {:.3f} ms, {}\n", what, 1e3 * predicted, result);
}

}  // namespace odori
