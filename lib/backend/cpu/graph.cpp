// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/graph.h"

#include <algorithm>
#include <utility>

#include "backend/cpu/device.h"
#include "backend/cpu/layout.h"
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
  const memory::desc layout = activation_layout(engine_, shape, setup_.type);
  const memory input = plan_.own(layout);
  const Tensor tensor = add_input({shape, input, needs_gradient ? plan_.gradient(layout, 0) : memory(), 0});
  pixels_ = input;
  if (setup_.type != Type::f32) {
    plan_.begin_pass();
    pixels_ = plan_.scratch(plain_layout(shape));
    to_input_.add_reorder("input", setup_, pixels_, plan_.alias(input, as_images(layout)));
  }
  const auto n = static_cast<std::size_t>(shape.n);
  labels_.label.resize(n);
  labels_.counted.resize(n);
  return tensor;
}

CpuGraph::OperationPtr CpuGraph::made(const std::function<OperationPtr()>& make) {
  try {
    return make();
  } catch (const dnnl::error& error) {
    fail("oneDNN could not make an operation on {}: {}. A smaller --batchsize or --image-size needs less memory.",
         to_string(values_.back().shape), error.what());
  }
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
  backward_operations(on_gradient_ready);
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

}  // namespace odori::cpu
