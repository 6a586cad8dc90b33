// SPDX-License-Identifier: Apache-2.0
// What the tests of backends share: the devices under test, random numbers, and one network on a device and on the
// reference in double, side by side.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "backend/device_pool.h"
#include "backend/reference/reference_graph.h"
#include "device_under_test.h"
#include "model/layers.h"
#include "numbers/random.h"

namespace odori::test {

/// CPU devices with one and two threads, one in bf16 with two, or a GPU in all of its precisions.
inline std::vector<DevicePoolOptions> devices_under_test() {
  std::vector<DevicePoolOptions> devices(on_gpus() ? 3 : on_cpu_bf16() ? 1 : 2, device_under_test());
  if (on_gpus()) {
    const Precision precisions[] = {Precision::fp32, Precision::tf32, Precision::bf16};
    for (std::size_t i = 0; i < devices.size(); ++i) devices[i].precision = precisions[i];
  } else {
    devices.back().threads_per_device = 2;
    if (on_cpu_bf16()) devices.back().precision = Precision::bf16;
  }
  return devices;
}

inline std::string name_of(const testing::TestParamInfo<DevicePoolOptions>& info) {
  const DevicePoolOptions& options = info.param;
  if (options.request == DeviceRequest::cpu)
    return (on_cpu_bf16() ? "cpu_bf16_" : "cpu_") + std::to_string(options.threads_per_device) + "_threads";
  return std::string("cuda_") + to_string(*options.precision);
}

/// The seed of a test's random numbers: new each run, unless --gtest_random_seed gives it.
inline std::uint64_t test_seed() {
  static const std::uint64_t seed = [] {
    const int given = testing::GTEST_FLAG(random_seed);
    const auto chosen = given ? static_cast<std::uint64_t>(given) : std::random_device()() % 99999 + 1;
    printf("Random numbers of seed %d: --gtest_random_seed=%d repeats them.\n", int(chosen), int(chosen));
    return chosen;
  }();
  return seed;
}

/// Tests over all devices; `device` is bound to the test's thread.
class DeviceTest : public testing::TestWithParam<DevicePoolOptions> {
 protected:
  bool is_bf16() const { return GetParam().precision == Precision::bf16; }
  /// The norm-wise relative error that an operation may have, where a CPU device in fp32 may have `cpu`.
  double bound(double cpu) const {
    if (is_bf16()) return std::max(cpu, 2e-2);
    if (GetParam().request == DeviceRequest::cpu) return cpu;
    return std::max(cpu, GetParam().precision == Precision::tf32 ? 2e-3 : 1e-4);
  }

  DevicePool pool{GetParam()};
  Device& device = pool.use(0);
  RandomSequence random{test_seed(), RandomUse::synthetic_data};
};

/// Cut to what bf16 can hold. Rounding of its own would let a device and the reference disagree about which of two
/// nearly equal values is the larger.
inline std::vector<float> cut_to_bf16(std::vector<float> values) {
  for (float& value : values) value = std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) & 0xffff0000u);
  return values;
}

inline std::vector<float> normal(std::size_t n, RandomSequence& random, float deviation = 1) {
  std::vector<float> values(n);
  random.fill_normal(values, deviation);
  return values;
}

/// |seen - expected| / |expected|, Euclidean; NaN where a number is missing or isn't one.
inline double relative_error(const std::vector<float>& seen, const std::vector<float>& expected) {
  if (seen.size() != expected.size()) return std::numeric_limits<double>::quiet_NaN();
  double error = 0, size = 0;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    error += (double(seen[i]) - expected[i]) * (double(seen[i]) - expected[i]);
    size += double(expected[i]) * expected[i];
  }
  return size > 0 ? std::sqrt(error / size) : std::sqrt(error);
}

/// A number that lies so near to 0 that float and double disagree about its ReLU changes one number of the gradients,
/// and a sum of two values that nearly cancels has a large relative error: so do no more than one or two of a few
/// draws.
inline double median_of_draws(const std::function<double()>& error) {
  std::vector<double> errors;
  for (int draw = 0; draw < 5; ++draw) errors.push_back(error());
  if (std::any_of(errors.begin(), errors.end(), [](double e) { return std::isnan(e); })) return NAN;
  std::sort(errors.begin(), errors.end());
  return errors[2];
}

/// A network on one backend: a device, or the reference in double. Layer i reads tensors[i] and writes tensors[i + 1].
struct Side {
  std::vector<ParameterView> parameters, statistics;
  ModelMemory memory;
  AlgorithmTable algorithms;
  std::unique_ptr<Graph> graph;
  std::vector<Tensor> tensors;

  /// No device: the reference. With `loss` the graph ends in softmax_cross_entropy.
  Side(Device* device, const Shape& input, const Network& network, bool loss, bool measure = false) {
    const std::size_t parameter_floats = place(input, network, true, parameters);
    const std::size_t statistic_floats = place(input, network, false, statistics);
    const auto allocate = [&](std::size_t n) { return device ? device->allocate(n) : reference::host_buffer(n); };
    memory = {allocate(parameter_floats), allocate(parameter_floats), allocate(statistic_floats)};
    algorithms.measure = measure;
    if (device)
      graph = device->new_graph(memory, algorithms);
    else
      graph = std::make_unique<reference::ReferenceGraph<double>>(memory);

    tensors.push_back(graph->input(input, true));
    auto parameter = parameters.begin(), statistic = statistics.begin();
    for (const auto& layer : network) {
      std::vector<ParameterView> views;
      for (const ParameterRequest& request : layer->parameters(tensors.back().shape))
        views.push_back(request.trained ? *parameter++ : *statistic++);
      tensors.push_back(layer->build(*graph, tensors.back(), views));
    }
    if (loss) graph->softmax_cross_entropy(tensors.back());
    graph->finish();
  }

  std::vector<float> output() { return graph->read_value(tensors.back()); }
  std::vector<float> input_gradient() { return graph->read_gradient(tensors.front()); }

 private:
  /// Places of the trained parameters, or of the statistics; returns how many floats they take.
  static std::size_t place(const Shape& input, const Network& network, bool trained,
                           std::vector<ParameterView>& views) {
    std::size_t size = 0;
    Shape shape = input;
    for (const auto& layer : network) {
      for (const ParameterRequest& request : layer->parameters(shape)) {
        if (request.trained != trained) continue;
        views.push_back({size, request.shape, request.kind});
        size += (views.back().size() + 15) / 16 * 16;
      }
      shape = layer->output(shape);
    }
    return size;
  }
};

/// The same network with the same values on a device and on the reference.
class Comparison {
 public:
  /// Parameters and statistics are random; variances and gammas are positive.
  Comparison(Device& device, const Shape& input, const Network& network, RandomSequence& random, bool loss = false,
             bool measure = false)
      : fast(&device, input, network, loss, measure),
        plain(nullptr, input, network, loss),
        loss_(loss),
        cuts_(device.kind() == DeviceKind::cuda || device.precision() == Precision::bf16),
        random_(random) {
    for (std::size_t i = 0; i < fast.parameters.size(); ++i) {
      const ParameterView& view = fast.parameters[i];
      const bool vector = view.kind == ParameterKind::vector;
      const float inputs = static_cast<float>(view.shape.features());
      set(&ModelMemory::parameters, view, normal(view.size(), random, vector ? 1 : 1 / std::sqrt(inputs)));
    }
    for (const ParameterView& view : fast.statistics) {
      std::vector<float> values(view.size());
      for (float& value : values) value = 0.5f + random.uniform();
      set(&ModelMemory::statistics, view, values);
    }
  }

  /// Forward on random images, or what `values` gives; all values and outputs were poisoned before.
  void forward(Mode mode, const RandomKey& key = {}, std::vector<float> values = {}) {
    if (values.empty()) values = numbers(fast.tensors.front().shape.size());
    for (auto tensor = fast.tensors.rbegin(); tensor != fast.tensors.rend(); ++tensor)
      fast.graph->write_value(*tensor, nan(tensor->shape.size()));
    for (Side* side : {&fast, &plain}) {
      side->graph->write_value(side->tensors.front(), values);
      side->graph->forward(mode, key);
    }
  }
  /// Backward from the loss, or from a random gradient of the last tensor; all gradients were poisoned before.
  void backward() {
    for (const ParameterView& view : fast.parameters)
      fast.graph->write_parameter(fast.memory.gradients, view, nan(view.size()));
    const auto gradient = numbers(fast.tensors.back().shape.size());
    if (!loss_) fast.graph->write_gradient(fast.tensors.front(), nan(fast.tensors.front().shape.size()));
    for (Side* side : {&fast, &plain}) {
      if (!loss_) side->graph->write_gradient(side->tensors.back(), gradient);
      side->graph->backward();
    }
  }

  double output_error() { return relative_error(fast.output(), plain.output()); }
  double input_gradient_error() { return relative_error(fast.input_gradient(), plain.input_gradient()); }
  double gradient_error(std::size_t i) { return error(&ModelMemory::gradients, fast.parameters[i]); }
  double statistic_error(std::size_t i) { return error(&ModelMemory::statistics, fast.statistics[i]); }
  /// The largest error of all gradients of parameters.
  double worst_gradient_error() {
    double worst = 0;
    for (std::size_t i = 0; i < fast.parameters.size(); ++i)
      worst = std::isnan(gradient_error(i)) ? gradient_error(i) : std::max(worst, gradient_error(i));
    return worst;
  }

  Side fast, plain;

 private:
  static std::vector<float> nan(std::size_t n) {
    return std::vector<float>(n, std::numeric_limits<float>::quiet_NaN());
  }
  void set(Buffer ModelMemory::*buffer, const ParameterView& view, const std::vector<float>& values) {
    for (Side* side : {&fast, &plain}) side->graph->write_parameter(side->memory.*buffer, view, values);
  }
  double error(Buffer ModelMemory::*buffer, const ParameterView& view) {
    return relative_error(fast.graph->read_parameter(fast.memory.*buffer, view),
                          plain.graph->read_parameter(plain.memory.*buffer, view));
  }

  std::vector<float> numbers(std::size_t n) {
    auto values = normal(n, random_);
    return cuts_ ? cut_to_bf16(values) : values;  // its activations may be bf16
  }

  bool loss_, cuts_;
  RandomSequence& random_;
};

/// A network of one or several layers: network_of(convolution("c", 8), relu()).
template <typename... Layers>
Network network_of(Layers... layers) {
  Network network;
  (network.push_back(std::move(layers)), ...);
  return network;
}

}  // namespace odori::test
