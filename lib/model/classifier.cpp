// SPDX-License-Identifier: Apache-2.0
#include "model/classifier.h"

#include <cmath>
#include <utility>

#include "errors/error.h"
#include "model/layers.h"
#include "numbers/random.h"
#include "observe/hooks.h"
#include "program/rank_table.h"

namespace odori {
namespace {

/// Lays parameters out one after another, each at a multiple of 16 floats (64 bytes, a cache line).
class Places {
 public:
  ParameterView next(const Shape& shape, ParameterKind kind) {
    const ParameterView view{size_, shape, kind};
    size_ += (view.size() + 15) / 16 * 16;
    return view;
  }
  std::size_t size() const { return size_; }

 private:
  std::size_t size_ = 0;
};

std::vector<float> initial_values(const ParameterRequest& request, RandomSequence random) {
  std::vector<float> values(request.shape.size(), request.initializer == Initializer::one ? 1.0f : 0.0f);
  if (request.initializer == Initializer::lecun_normal) {
    const int inputs = request.shape.features();  // of one output: I x H x W of O x I x H x W
    random.fill_normal(values, 1.0f / std::sqrt(static_cast<float>(inputs)));
  }
  return values;
}

void check_sizes(const char* what, const std::vector<NamedView>& places,
                 const std::vector<std::vector<float>>& values) {
  require(places.size() == values.size(), "The saved model has {} {}, this one has {}: it is of another network.",
          values.size(), what, places.size());
  for (std::size_t i = 0; i < places.size(); ++i)
    require(places[i].view.size() == values[i].size(),
            "{} has {} numbers in the saved model and {} in this one: it is of another network.", places[i].name,
            values[i].size(), places[i].view.size());
}

}  // namespace

Classifier::Classifier(const NetworkSpec& network, int batch_size, std::uint64_t seed, std::uint32_t stream)
    : network_(network), batch_size_(batch_size), random_{seed, stream, 0} {
  require(batch_size > 0, "A batch needs at least one image, but the batch size is {}.", batch_size);
  Shape shape{batch_size, Example::channels, network.image_size, network.image_size};
  Places parameters, statistics;
  for (const auto& layer : layers_of(network)) {
    for (const ParameterRequest& request : layer->parameters(shape)) {
      auto& list = request.trained ? parameters_ : statistics_;
      auto& places = request.trained ? parameters : statistics;
      list.push_back({request.name, places.next(request.shape, request.kind)});
    }
    shape = layer->output(shape);
  }
  parameter_floats_ = parameters.size();
  statistic_floats_ = statistics.size();
}

Classifier::~Classifier() = default;

void Classifier::to_device(Device& device, const AlgorithmOptions& options) {
  observe::on_model_to_device(device.id());
  require(!device_, "The model is on {} already; a model moves to a device once.",
          device_ ? device_->description() : "");
  allocate(device, options.measure);
  if (options.show && random_.stream == 0)
    for (const std::string& line : graph_->describe()) fmt::print("{}\n", line);
  std::size_t parameter = 0, statistic = 0;
  Shape shape{batch_size_, Example::channels, network_.image_size, network_.image_size};
  for (const auto& layer : layers_of(network_)) {
    for (const ParameterRequest& request : layer->parameters(shape)) {
      const RandomSequence random(random_.seed, RandomUse::initial_weights, static_cast<std::uint32_t>(parameter));
      const NamedView& place = request.trained ? parameters_[parameter++] : statistics_[statistic++];
      graph_->write_parameter(request.trained ? memory_.parameters : memory_.statistics, place.view,
                              initial_values(request, random));
    }
    shape = layer->output(shape);
  }
}

void Classifier::allocate(Device& device, bool measure) {
  device.bind_thread();
  memory_.parameters = device.allocate(parameter_floats_);
  memory_.gradients = device.allocate(parameter_floats_);
  memory_.statistics = device.allocate(statistic_floats_);
  algorithms_.measure = measure;
  graph_ = device.new_graph(memory_, algorithms_);

  Tensor x = graph_->input({batch_size_, Example::channels, network_.image_size, network_.image_size});
  std::size_t parameter = 0, statistic = 0;
  for (const auto& layer : layers_of(network_)) {
    std::vector<ParameterView> views;
    for (const ParameterRequest& request : layer->parameters(x.shape))
      views.push_back((request.trained ? parameters_[parameter++] : statistics_[statistic++]).view);
    x = layer->build(*graph_, x, views);
  }
  graph_->softmax_cross_entropy(x);
  logits_ = x;
  graph_->finish();
  device_ = &device;
}

std::unique_ptr<Classifier> Classifier::replicate(Device& device, std::uint32_t stream) const {
  auto replica = std::make_unique<Classifier>(network_, batch_size_, random_.seed, stream);
  replica->algorithms_ = algorithms_;  // the same choices: the same bits
  replica->allocate(device, algorithms_.measure);
  ModelState values = state();
  values.random = replica->random_;
  replica->restore(values);
  return replica;
}

void Classifier::forward_backward(const Batch& batch, const OnGradientReady& on_gradient_ready) {
  Device& on = device();  // throws before to_device()
  require(batch.examples.size() == static_cast<std::size_t>(batch_size_),
          "A training batch has {} images, but the model was made for batches of {} on {}. Train with an "
          "iterator "
          "that repeats, and the model's batch size.",
          batch.examples.size(), batch_size_, on.description());
  observe::on_batch_trained(this, batch);
  rank_table::heartbeat();
  graph_->load(batch, random_);
  graph_->forward(Mode::train, random_);
  graph_->backward(on_gradient_ready);
  ++random_.step;
}

void Classifier::evaluate(const Batch& batch) {
  device();
  Batch part{{}, batch.transform, batch.storage};
  part.transform.crop_padding = 0;
  part.transform.flip = false;
  for (std::size_t begin = 0; begin < batch.examples.size(); begin += static_cast<std::size_t>(batch_size_)) {
    const std::size_t end = std::min(batch.examples.size(), begin + static_cast<std::size_t>(batch_size_));
    part.examples.assign(batch.examples.begin() + static_cast<std::ptrdiff_t>(begin),
                         batch.examples.begin() + static_cast<std::ptrdiff_t>(end));
    rank_table::heartbeat();
    graph_->load(part, random_);
    graph_->forward(Mode::evaluate, random_);
  }
}

std::vector<float> Classifier::read_logits() const {
  device();
  return graph_->read_value(logits_);
}

Metrics Classifier::take_metrics() {
  device();
  return graph_->take_metrics();
}

Device& Classifier::device() const {
  require(device_ != nullptr, "The model isn't on a device yet. Call model.to_device(pool.current()) first.");
  return *device_;
}

std::size_t Classifier::parameter_count() const {
  std::size_t count = 0;
  for (const NamedView& parameter : parameters_) count += parameter.view.size();
  return count;
}

ModelState Classifier::state() const {
  device();
  ModelState state{{}, {}, random_, algorithms_};
  for (const NamedView& p : parameters_) state.parameters.push_back(graph_->read_parameter(memory_.parameters, p.view));
  for (const NamedView& s : statistics_) state.statistics.push_back(graph_->read_parameter(memory_.statistics, s.view));
  return state;
}

void Classifier::restore(const ModelState& state) {
  device();
  check_sizes("parameters", parameters_, state.parameters);
  check_sizes("statistics", statistics_, state.statistics);
  if (state.algorithms != algorithms_) {
    algorithms_ = state.algorithms;
    allocate(*device_, algorithms_.measure);
  }
  for (std::size_t i = 0; i < parameters_.size(); ++i)
    graph_->write_parameter(memory_.parameters, parameters_[i].view, state.parameters[i]);
  for (std::size_t i = 0; i < statistics_.size(); ++i)
    graph_->write_parameter(memory_.statistics, statistics_[i].view, state.statistics[i]);
  random_ = state.random;
}

}  // namespace odori
