// SPDX-License-Identifier: Apache-2.0
#include "pipeline_seen.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "files/json.h"

namespace odori::grader {
namespace {

using Doubles = std::vector<double>;

/// A matrix [in + 1, out] of the flat parameters: the weights, then the bias.
struct Part {
  std::size_t in, out, begin;
  std::size_t weight(std::size_t i, std::size_t j) const { return begin + i * out + j; }
  std::size_t bias(std::size_t j) const { return weight(in, j); }
};

std::vector<Part> parts_of(const std::vector<std::size_t>& widths) {
  const std::vector<std::size_t> offsets = offsets_of_layers(widths);
  std::vector<Part> parts;
  for (std::size_t i = 0; i + 1 < widths.size(); ++i) parts.push_back({widths[i], widths[i + 1], offsets[i]});
  return parts;
}

/// Adds the gradient of one image's loss, times `weight`.
void add_gradient(const std::vector<Part>& layers, const Doubles& parameters, Doubles x, std::size_t label,
                  double weight, Doubles& gradient) {
  std::vector<Doubles> activations{std::move(x)};
  for (const Part& layer : layers) {
    Doubles y(layer.out);
    for (std::size_t j = 0; j < layer.out; ++j) {
      y[j] = parameters[layer.bias(j)];
      for (std::size_t i = 0; i < layer.in; ++i) y[j] += activations.back()[i] * parameters[layer.weight(i, j)];
      if (&layer != &layers.back()) y[j] = std::max(y[j], 0.0);
    }
    activations.push_back(std::move(y));
  }
  Doubles dy;
  double sum = 0;
  for (const double z : activations.back()) sum += std::exp(z);
  for (const double z : activations.back()) dy.push_back(weight * std::exp(z) / sum);
  dy[label] -= weight;
  for (std::size_t l = layers.size(); l-- > 0;) {
    const Part& layer = layers[l];
    const Doubles &in = activations[l], &out = activations[l + 1];
    Doubles dx(layer.in);
    for (std::size_t j = 0; j < layer.out; ++j) {
      if (l + 1 < layers.size() && out[j] == 0) continue;
      gradient[layer.bias(j)] += dy[j];
      for (std::size_t i = 0; i < layer.in; ++i) {
        gradient[layer.weight(i, j)] += in[i] * dy[j];
        dx[i] += dy[j] * parameters[layer.weight(i, j)];
      }
    }
    dy = std::move(dx);
  }
}

double norm(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += value * value;
  return std::sqrt(sum);
}

/// Is `seen` the same as `expected` times `factor`, but for rounding to floats?
bool is_scaled(std::span<const float> seen, std::span<const double> expected, double factor) {
  double difference = 0;
  for (std::size_t i = 0; i < seen.size(); ++i) difference += std::pow(seen[i] - factor * expected[i], 2);
  return std::sqrt(difference) <= 2e-5 * std::abs(factor) * norm(expected);
}

}  // namespace

std::string in_words(const OrderSeen& order) {
  std::vector<std::string> steps;
  for (const StepSeen& step : order)
    steps.push_back(fmt::format("{}{}", step.is_backward ? 'B' : 'F', step.micro_batch));
  return steps.empty() ? "-" : fmt::format("{}", fmt::join(steps, " "));
}

std::vector<Scheduled> schedules_seen(const Evidence& evidence, const char* event) {
  std::vector<Scheduled> all;
  if (evidence.ranks.empty()) return all;
  const std::size_t n_head = event == std::string_view(gpipe_order) ? 1 : 3;
  for (const facts::Event& each : evidence.ranks.front().events) {
    if (each.what != event || each.about.size() < n_head) continue;
    Scheduled& one = all.emplace_back();
    one.m = static_cast<int>(each.about[n_head - 1]);
    if (n_head == 3) one.rank = static_cast<int>(each.about[0]), one.p = static_cast<int>(each.about[1]);
    for (const std::int64_t code : std::span(each.about).subspan(n_head))
      one.order.push_back({code % 2 != 0, code >= 0 ? code / 2 : (code - 1) / 2});
  }
  return all;
}

OrderSeen expected_one_forward_one_backward(int rank, int p, int m) {
  const int warm_up = expected_warm_up(rank, p, m);
  OrderSeen order;
  for (int i = 0; i < m + warm_up; ++i) {
    if (i < m) order.push_back({false, i});
    if (i >= warm_up) order.push_back({true, i - warm_up});
  }
  return order;
}

int most_held(const OrderSeen& order) {
  int held = 0, most = 0;
  for (const StepSeen& step : order) most = std::max(most, held += step.is_backward ? -1 : 1);
  return most;
}

PipelineCases pipeline_cases_of(const RunPlan& plan) { return parse_json(plan.test_cases).get<PipelineCases>(); }

std::vector<std::size_t> offsets_of_layers(const std::vector<std::size_t>& widths) {
  std::vector<std::size_t> offsets{0};
  for (std::size_t i = 0; i + 1 < widths.size(); ++i)
    offsets.push_back(offsets.back() + (widths[i] + 1) * widths[i + 1]);
  return offsets;
}

std::vector<std::vector<double>> gradients_of_one_device(const PipelineRun& run) {
  const std::vector<Part> layers = parts_of(run.widths);
  Doubles parameters;
  for (const Part& layer : layers)
    for (std::size_t k = 0; k < (layer.in + 1) * layer.out; ++k)
      parameters.push_back(known_parameter(layer.begin + k, layer.in, k >= layer.in * layer.out));
  const std::size_t images = run.images * static_cast<std::size_t>(run.micro_batches);
  std::vector<Doubles> gradients;
  for (int iteration = 0; iteration < run.iterations; ++iteration) {
    Doubles& gradient = gradients.emplace_back(parameters.size());
    for (std::size_t image = 0; image < images; ++image) {
      Doubles x;
      for (std::size_t pixel = 0; pixel < run.widths.front(); ++pixel)
        x.push_back(known_pixel(iteration, image, pixel));
      const int label = known_label(iteration, image, run.widths.back());
      add_gradient(layers, parameters, std::move(x), static_cast<std::size_t>(label), 1.0 / static_cast<double>(images),
                   gradient);
    }
    for (std::size_t i = 0; i < parameters.size(); ++i) parameters[i] -= double{known_rate} * gradient[i];
  }
  return gradients;
}

std::optional<WrongGradients> find_wrong_gradients(const Situation& situation) {
  const PipelineCases cases = pipeline_cases_of(situation.plan);
  const auto& ranks = situation.evidence().ranks;
  std::size_t shown = cases.functions ? 2 : 0;
  for (const PipelineRun& run : cases.runs) {
    const std::vector<Doubles> expected = gradients_of_one_device(run);
    const std::vector<std::size_t> offsets = offsets_of_layers(run.widths);
    for (int iteration = 0; iteration < run.iterations; ++iteration, ++shown) {
      const Doubles& all = expected[static_cast<std::size_t>(iteration)];
      WrongGradients found{.run = run, .iteration = iteration, .ranks = static_cast<int>(ranks.size())};
      std::vector<std::pair<std::span<const float>, std::span<const double>>> pairs;
      for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
        if (ranks[rank].values.size() <= shown) return {};
        const std::size_t begin = offsets.at(run.begins.at(rank)),
                          end = rank + 1 < run.begins.size() ? offsets.at(run.begins[rank + 1]) : offsets.back();
        const std::span<const float> seen = ranks[rank].values[shown];
        const auto right = std::span(all).subspan(begin, end - begin);
        if (seen.size() != right.size()) return {};  // an answer's own values: find_forgery reports them
        if (!is_scaled(seen, right, 1)) found.wrong.push_back(static_cast<int>(rank));
        pairs.emplace_back(seen, right);
      }
      if (found.wrong.empty()) continue;
      double product = 0, square = 0;
      for (const auto& [seen, right] : pairs)
        for (std::size_t i = 0; i < seen.size(); ++i) product += seen[i] * right[i], square += right[i] * right[i];
      const double factor = product / square;
      if (factor != 0 &&
          std::ranges::all_of(pairs, [&](const auto& p) { return is_scaled(p.first, p.second, factor); }))
        found.factor = factor;
      return found;
    }
  }
  return {};
}

}  // namespace odori::grader
