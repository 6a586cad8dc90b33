// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/graph.h"

#include <algorithm>

#include "backend/cuda/kernels/layout.h"
#include "backend/cuda/kernels/softmax_cross_entropy.h"
#include "trace/trace.h"

namespace odori::cuda {
namespace {

Storage storage_of(Precision precision) { return precision == Precision::bf16 ? Storage::bf16 : Storage::fp32; }

/// A span of the event stream. While that is written, it ends when the GPU has done what was queued, so that the
/// image shows where the time goes; otherwise nothing waits.
class GpuSpan {
 public:
  GpuSpan(CudaDevice& device, const char* name) : span_(name), stream_(device.pass_stream()) { device.bind_thread(); }
  ~GpuSpan() {
    if (trace::on()) cudaStreamSynchronize(stream_);  // an error is told by the next call
  }
  GpuSpan(const GpuSpan&) = delete;
  GpuSpan& operator=(const GpuSpan&) = delete;

 private:
  trace::Span span_;
  cudaStream_t stream_;
};

}  // namespace

CudaGraph::CudaGraph(CudaDevice& device, ModelMemory& memory, AlgorithmTable& algorithms)
    : device_(device),
      memory_(memory),
      storage_(storage_of(device.precision())),
      parameters_(memory, storage_),
      setup_{device_, storage_, parameters_, algorithms, plan_, loader_.step(), metrics_},
      training_step_(
          setup_, loader_, [this] { queue_forward(Mode::train); },
          [this](const OnGradientReady& on_gradient_ready) { backward_operations(on_gradient_ready); }) {}

CudaGraph::~CudaGraph() {
  // What follows is freed on this GPU, after all that stands on it.
  cudaSetDevice(device_.ordinal());
  cudaStreamSynchronize(device_.pass_stream());
}

// ---- Building

Tensor CudaGraph::input(const Shape& shape, bool needs_gradient) {
  const std::size_t bytes = setup_.bytes(shape);
  return add_input({shape, plan_.own(bytes), needs_gradient ? plan_.gradient(bytes, 0) : Place(), 0});
}

Tensor CudaGraph::gelu(Tensor x) {
  last(x);
  if (operations_.empty() || !operations_.back()->fuse_gelu()) return SequentialGraph::gelu(x);
  return alias(x);
}

Tensor CudaGraph::dropout(Tensor x, float ratio) {
  last(x);
  if (operations_.empty() || !operations_.back()->fuse_dropout(ratio, dropouts_))
    return SequentialGraph::dropout(x, ratio);
  ++dropouts_;
  return alias(x);
}

Tensor CudaGraph::alias(Tensor x) {
  values_.push_back(Value(last(x)));
  return {x.index + 1, x.shape};
}

Tensor CudaGraph::linear(Tensor x, int out, const ParameterView& weight, const ParameterView* bias) {
  flattened_[weight.offset] = {out, x.shape.c, x.shape.h, x.shape.w};
  return SequentialGraph::linear(x, out, weight, bias);
}

void CudaGraph::finish() {
  device_.bind_thread();
  plan_.finish(device_.stream());
  parameters_.finish(device_.stream());
  loader_.finish(device_, values_.front().shape);
  metrics_ = allocate_zeros(sizeof(kernels::MetricsMemory), "a batch's metrics", device_.stream());
  taken_metrics_ = allocate_pinned(sizeof(Metrics));
  finished_ = true;
}

// ---- Running

void CudaGraph::load(const Batch& batch, const RandomKey& key) {
  const GpuSpan span(device_, "load");
  device_.flush();
  loader_.load(batch, key, storage_, values_.front().data.data());
}

void CudaGraph::forward(Mode mode, const RandomKey& key) {
  const GpuSpan span(device_, "forward");
  device_.flush();
  loader_.send_key(key);
  if (mode == Mode::train) {
    training_step_.forward();
  } else {
    parameters_.refresh(device_.pass_stream());
    evaluate_.run(device_.pass_stream(), !trace::watched(), [&] { queue_forward(mode); });
  }
}

void CudaGraph::backward(const OnGradientReady& on_gradient_ready) {
  const GpuSpan span(device_, "backward");
  training_step_.backward(on_gradient_ready);
}

void CudaGraph::queue_forward(Mode mode) {
  for (const OperationPtr& operation : operations_) operation->forward(mode);
}

Metrics CudaGraph::take_metrics() {
  device_.bind_thread();
  device_.flush();
  const cudaStream_t stream = device_.pass_stream();
  check(cudaMemcpyAsync(taken_metrics_.get(), metrics_.get(), sizeof(Metrics), cudaMemcpyDeviceToHost, stream),
        "copying metrics from it");
  check(cudaMemsetAsync(metrics_.get(), 0, sizeof(Metrics), stream), "clearing metrics");
  device_.synchronize();
  return *reinterpret_cast<const Metrics*>(taken_metrics_.get());
}

// ---- Plain order there and back

std::vector<float> CudaGraph::read(Storage storage, const void* from, const Shape& shape) {
  device_.bind_thread();
  std::vector<float> plain(shape.size());
  const std::size_t bytes = plain.size() * sizeof(float);
  const DeviceMemory ordered = allocate_zeros(bytes, "a copy in plain order", device_.stream());
  kernels::to_plain(device_.stream(), storage, from, reinterpret_cast<float*>(ordered.get()), shape);
  check(cudaMemcpyAsync(plain.data(), ordered.get(), bytes, cudaMemcpyDeviceToHost, device_.stream()),
        "copying from it");
  device_.synchronize();
  return plain;
}

void CudaGraph::write(Storage storage, void* to, const Shape& shape, std::span<const float> plain) {
  require(plain.size() == shape.size(), "{} takes {} numbers, but {} were given.", to_string(shape), shape.size(),
          plain.size());
  device_.bind_thread();
  const DeviceMemory ordered = allocate_zeros(plain.size_bytes(), "a copy in plain order", device_.stream());
  check(cudaMemcpyAsync(ordered.get(), plain.data(), plain.size_bytes(), cudaMemcpyHostToDevice, device_.stream()),
        "copying to it");
  kernels::to_channels_last(device_.stream(), reinterpret_cast<const float*>(ordered.get()), storage, to, shape);
  device_.synchronize();
}

Shape CudaGraph::stored_shape(const ParameterView& view) const {
  const auto flattened = flattened_.find(view.offset);
  return view.kind == ParameterKind::linear_weight && flattened != flattened_.end() ? flattened->second : view.shape;
}

std::vector<float> CudaGraph::read_parameter(const Buffer& from, const ParameterView& view) {
  return read(Storage::fp32, from.data() + view.offset, stored_shape(view));
}

void CudaGraph::write_parameter(Buffer& to, const ParameterView& view, std::span<const float> plain) {
  write(Storage::fp32, to.data() + view.offset, stored_shape(view), plain);
}

std::vector<std::string> CudaGraph::describe() const {
  std::vector<std::string> lines = SequentialGraph::describe();
  lines.push_back(fmt::format("CUDA graphs: {}, evaluation {}", training_step_.state(), evaluate_.state()));
  return lines;
}

}  // namespace odori::cuda
