// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "errors/error.h"
#include "observe/hooks.h"
#include "predict/measure.h"
#include "prediction_support.h"
#include "report/table.h"

namespace odori {
namespace {

void write_evidence(const Prediction& p) {
  std::vector<float> values;
  const auto add = [&](double value) { values.push_back(static_cast<float>(value)); };
  for (const double value : {p.iterations, p.compute.per_image, p.compute.fixed, p.compute_of_other.per_image,
                             p.batch_within_percent, p.batch_within_tenth_of_it})
    add(value);
  for (const Point& point : p.curve) add(point.exchange), add(point.iteration);
  observe::on_values(values);
}

}  // namespace

void show(const Prediction& p) {
  write_evidence(p);
  const auto seconds = [&](const cost::Compute& compute) { return p.iterations * compute.seconds(p.batch); };
  fmt::print("An iteration of {} images on one device: {:.3f} ms + {:.4f} ms an image = {:.3f} ms\n", p.batch,
             1e3 * p.compute.fixed, 1e3 * p.compute.per_image, 1e3 * p.compute.seconds(p.batch));
  if (p.compute.fixed < 0)
    fmt::print(
        "A time can't be below 0. If the formulas are right, the machine was busy while the larger batch was measured: "
        "run this again.\n");
  fmt::print("An epoch of {} images: {} iterations, {:.1f} s with {}, {:.1f} s with {}\n", p.images, p.iterations,
             seconds(p.compute), p.network, seconds(p.compute_of_other), p.other_network);
  if (p.batch_within_percent < 0)
    fmt::print("Larger batches would save nothing: the formula gives the batches {} and {} for {} % and {} %.\n\n",
               p.batch_within_percent, p.batch_within_tenth_of_it, p.percent, p.percent / 10.0);
  else
    fmt::print("From batch {} on, an epoch takes at most {} % more than its images alone; from batch {} on, {} %\n\n",
               p.batch_within_percent, p.percent, p.batch_within_tenth_of_it, p.percent / 10.0);
  if (p.curve.empty()) return;

  // Each device has at least one image.
  std::vector<Point> curve;
  std::copy_if(p.curve.begin(), p.curve.end(), std::back_inserter(curve),
               [&](const Point& point) { return point.devices <= p.batch; });
  const auto quickest = std::min_element(curve.begin(), curve.end(),
                                         [](const Point& a, const Point& b) { return a.iteration < b.iteration; });
  std::vector<TableRow> rows;
  for (const Point& point : curve) {
    const double speedup = curve.front().iteration / point.iteration, share = quickest->iteration / point.iteration;
    const double width = share >= 0 && share <= 1 ? 40 * share : 0;  // a learner's formula may return anything
    rows.push_back({std::to_string(point.devices), fmt::format("{:.3f}", 1e3 * point.iteration),
                    fmt::format("{:.3f}", 1e3 * point.exchange), fmt::format("{:.2f}", speedup),
                    std::string(static_cast<std::size_t>(std::lround(width)), '#')});
  }
  fmt::print("{}", text_table({"devices", "ms an iteration", "ms exchange", "speedup", ""}, rows));
  if (quickest + 1 != curve.end())
    fmt::print(
        "{} images shared by more than {} devices: no more gain with the ring. A tree goes on: ./odori predict.\n",
        p.batch, quickest->devices);
  fmt::print("\n");
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
