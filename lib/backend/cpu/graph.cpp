// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/graph.h"

#include <algorithm>
#include <utility>

#include "backend/cpu/layout.h"
#include "backend/cpu/new_graph.h"
#include "errors/error.h"
#include "trace/trace.h"

namespace odori {

// AVX512-BF16 without AMX halves the instructions that fp32 takes, and so does Winograd's algorithm, which is fp32
// alone.
bool cpu_has_bf16() {
  const auto bits = [](dnnl::cpu_isa isa) { return static_cast<unsigned>(isa); };
  const unsigned amx = bits(dnnl::cpu_isa::avx512_core_amx);
  return (bits(dnnl::get_effective_cpu_isa()) & amx) == amx;
}

}  // namespace odori

namespace odori::cpu {

std::unique_ptr<Graph> new_graph(int threads, Precision precision, ModelMemory& memory, AlgorithmTable& algorithms) {
  return std::make_unique<CpuGraph>(threads, precision, memory, algorithms);
}

using dnnl::memory;

// ---- Building

Tensor CpuGraph::input(const Shape& shape, bool needs_gradient) {
  require(values_.empty(), "A graph has one input, and it comes first.");
  const memory::desc layout = activation_layout(engine_, shape, setup_.type);
  const memory input = plan_.own(layout);
  values_.push_back({shape, input, needs_gradient ? plan_.gradient(layout, 0) : memory(), 0});
  pixels_ = input;
  if (setup_.type != Type::f32) {
    plan_.begin_pass();
    pixels_ = plan_.scratch(plain_layout(shape));
    to_input_.add_reorder("input", setup_, pixels_, plan_.alias(input, as_images(layout)));
  }
  const auto n = static_cast<std::size_t>(shape.n);
  labels_.label.resize(n);
  labels_.counted.resize(n);
  return {0, shape};
}

const Value& CpuGraph::value(Tensor tensor) const {
  require(tensor.index >= 0 && tensor.index < static_cast<int>(values_.size()),
          "There is no tensor {} in this graph of {} tensors.", tensor.index, values_.size());
  return values_[static_cast<std::size_t>(tensor.index)];
}

const Value& CpuGraph::last(Tensor x) const {
  require(!finished_, "The graph is finished: operations can't be added any more.");
  require(x.index + 1 == static_cast<int>(values_.size()),
          "Operations stand in a row: this one has to take the last tensor, {}, but takes {}.", values_.size() - 1,
          x.index);
  return value(x);
}

template <typename Make>
Tensor CpuGraph::add(const Make& make, std::vector<ParameterView> parameters) {
  try {
    operations_.push_back(make());
  } catch (const dnnl::error& error) {
    fail("oneDNN could not make an operation on {}: {}. A smaller --batchsize or --image-size needs less memory.",
         to_string(values_.back().shape), error.what());
  }
  values_.push_back(operations_.back()->output());
  gradients_.push_back(range_of(parameters));
  return {static_cast<int>(values_.size()) - 1, values_.back().shape};
}

Tensor CpuGraph::convolution(Tensor x, const ConvolutionSpec& spec, const ParameterView& weight) {
  return add([&] { return cpu::convolution(setup_, last(x), spec, weight); }, {weight});
}
Tensor CpuGraph::batch_normalization(Tensor x, const BatchNormalizationSpec& spec,
                                     const BatchNormalizationParameters& parameters) {
  return add([&] { return cpu::batch_normalization(setup_, last(x), spec, parameters); },
             {parameters.gamma, parameters.beta});
}
Tensor CpuGraph::relu(Tensor x) {
  return add([&] { return cpu::relu(setup_, last(x)); });
}
Tensor CpuGraph::gelu(Tensor x) {
  return add([&] { return cpu::gelu(setup_, last(x)); });
}
Tensor CpuGraph::bias(Tensor x, const ParameterView& bias) {
  return add([&] { return cpu::bias(setup_, last(x), bias); }, {bias});
}
Tensor CpuGraph::max_pooling(Tensor x, const PoolingSpec& spec) {
  return add([&] { return cpu::max_pooling(setup_, last(x), spec); });
}
Tensor CpuGraph::dropout(Tensor x, float ratio) {
  return add([&] { return cpu::dropout(setup_, last(x), ratio, dropouts_++); });
}
Tensor CpuGraph::linear(Tensor x, int out, const ParameterView& weight, const ParameterView* bias) {
  return add([&] { return cpu::linear(setup_, last(x), out, weight, bias); }, trained(weight, bias));
}
Tensor CpuGraph::logits(Tensor x, const LogitsSpec& spec) {
  return add([&] { return cpu::logits(setup_, last(x), spec, labels_); });
}
void CpuGraph::softmax_cross_entropy(Tensor x) {
  add([&] { return cpu::softmax_cross_entropy(setup_, last(x), labels_); });
}

void CpuGraph::finish() {
  plan_.finish();
  finished_ = true;
}

// ---- Running

void CpuGraph::load(const Batch& batch, const RandomKey& key) {
  const trace::Span span("load");
  loader_.load(batch, key, values_.front().shape, static_cast<float*>(pixels_.get_data_handle()), labels_);
  to_input_.run(setup_.stream);
}

void CpuGraph::forward(Mode mode, const RandomKey& key) {
  const trace::Span span("forward");
  for (const OperationPtr& operation : operations_) operation->forward(mode, key);
}

void CpuGraph::backward(const OnGradientReady& on_gradient_ready) {
  const trace::Span span("backward");
  for (std::size_t i = operations_.size(); i-- > 0;) {
    operations_[i]->backward();
    if (on_gradient_ready && gradients_[i].size() > 0) on_gradient_ready(gradients_[i]);
  }
}

Metrics CpuGraph::take_metrics() { return std::exchange(labels_.metrics, {}); }

// ---- Plain order there and back

/// Activations and parameters, whatever their types, layouts and dimensions.
void CpuGraph::copy(const memory& a, const memory& b) {
  const auto images = [&](const memory& m) { return memory(as_images(m.get_desc()), engine_, m.get_data_handle()); };
  memory from = images(a), to = images(b);
  dnnl::reorder(from, to).execute(setup_.stream, from, to);
  setup_.stream.wait();
}

std::vector<float> CpuGraph::read(const memory& from, const Shape& shape) {
  std::vector<float> plain(shape.size());
  copy(from, memory(plain_layout(shape), engine_, plain.data()));
  return plain;
}

void CpuGraph::write(const memory& to, const Shape& shape, std::span<const float> plain) {
  require(plain.size() == shape.size(), "{} takes {} numbers, but {} were given.", to_string(shape), shape.size(),
          plain.size());
  copy(memory(plain_layout(shape), engine_, const_cast<float*>(plain.data())), to);
}

std::vector<float> CpuGraph::read_parameter(const Buffer& from, const ParameterView& view) {
  return read(memory(parameter_layout(view), engine_, const_cast<float*>(from.data()) + view.offset), view.shape);
}

void CpuGraph::write_parameter(Buffer& to, const ParameterView& view, std::span<const float> plain) {
  write(memory(parameter_layout(view), engine_, to.data() + view.offset), view.shape, plain);
}

std::vector<float> CpuGraph::read_value(Tensor tensor) { return read(value(tensor).data, tensor.shape); }

std::vector<float> CpuGraph::read_gradient(Tensor tensor) {
  require(static_cast<bool>(value(tensor).gradient), "Tensor {} has no gradient: nothing in the graph needs it.",
          tensor.index);
  return read(value(tensor).gradient, tensor.shape);
}

void CpuGraph::write_value(Tensor tensor, std::span<const float> plain) {
  write(value(tensor).data, tensor.shape, plain);
}

void CpuGraph::write_gradient(Tensor tensor, std::span<const float> plain) {
  require(static_cast<bool>(value(tensor).gradient), "Tensor {} has no gradient: nothing in the graph needs it.",
          tensor.index);
  write(value(tensor).gradient, tensor.shape, plain);
}

std::vector<std::string> CpuGraph::describe() const {
  std::vector<std::string> lines;
  for (const OperationPtr& operation : operations_) operation->describe(lines);
  return lines;
}

}  // namespace odori::cpu
