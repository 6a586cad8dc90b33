// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/graph.h"

#include <algorithm>

#include "backend/cuda/kernels/layout.h"
#include "backend/cuda/kernels/softmax_cross_entropy.h"
#include "errors/error.h"
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
          [this](const OnGradientReady& on_gradient_ready) { queue_backward(on_gradient_ready); }) {}

CudaGraph::~CudaGraph() {
  // What follows is freed on this GPU, after all that stands on it.
  cudaSetDevice(device_.ordinal());
  cudaStreamSynchronize(device_.pass_stream());
}

// ---- Building

Tensor CudaGraph::input(const Shape& shape, bool needs_gradient) {
  require(values_.empty(), "A graph has one input, and it comes first.");
  const std::size_t bytes = setup_.bytes(shape);
  values_.push_back({shape, plan_.own(bytes), needs_gradient ? plan_.gradient(bytes, 0) : Place(), 0});
  return {0, shape};
}

const Value& CudaGraph::value(Tensor tensor) const {
  require(tensor.index >= 0 && tensor.index < static_cast<int>(values_.size()),
          "There is no tensor {} in this graph of {} tensors.", tensor.index, values_.size());
  return values_[static_cast<std::size_t>(tensor.index)];
}

const Value& CudaGraph::last(Tensor x) const {
  require(!finished_, "The graph is finished: operations can't be added any more.");
  require(x.index + 1 == static_cast<int>(values_.size()),
          "Operations stand in a row: this one has to take the last tensor, {}, but takes {}.", values_.size() - 1,
          x.index);
  return value(x);
}

Tensor CudaGraph::add(OperationPtr operation, const std::vector<ParameterView>& parameters) {
  gradients_.push_back(range_of(parameters));
  values_.push_back(operation->output());
  operations_.push_back(std::move(operation));
  return {static_cast<int>(values_.size()) - 1, values_.back().shape};
}

Tensor CudaGraph::convolution(Tensor x, const ConvolutionSpec& spec, const ParameterView& weight) {
  device_.bind_thread();  // it may be measured
  return add(cuda::convolution(setup_, last(x), spec, weight), {weight});
}
Tensor CudaGraph::batch_normalization(Tensor x, const BatchNormalizationSpec& spec,
                                      const BatchNormalizationParameters& parameters) {
  return add(cuda::batch_normalization(setup_, last(x), spec, parameters), {parameters.gamma, parameters.beta});
}
Tensor CudaGraph::relu(Tensor x) { return add(cuda::relu(setup_, last(x))); }
Tensor CudaGraph::gelu(Tensor x) {
  const Value input = last(x);
  if (operations_.empty() || !operations_.back()->fuse_gelu()) return add(cuda::gelu(setup_, input));
  return alias(x);
}
Tensor CudaGraph::bias(Tensor x, const ParameterView& bias) { return add(cuda::bias(setup_, last(x), bias), {bias}); }
Tensor CudaGraph::max_pooling(Tensor x, const PoolingSpec& spec) {
  return add(cuda::max_pooling(setup_, last(x), spec));
}
Tensor CudaGraph::dropout(Tensor x, float ratio) {
  const Value input = last(x);
  const std::uint32_t layer = dropouts_++;
  if (operations_.empty() || !operations_.back()->fuse_dropout(ratio, layer))
    return add(cuda::dropout(setup_, input, ratio, layer));
  return alias(x);
}
Tensor CudaGraph::alias(Tensor x) {
  values_.push_back(value(x));
  return {x.index + 1, x.shape};
}
Tensor CudaGraph::linear(Tensor x, int out, const ParameterView& weight, const ParameterView* bias) {
  flattened_[weight.offset] = {out, x.shape.c, x.shape.h, x.shape.w};
  return add(cuda::linear(setup_, last(x), out, weight, bias), trained(weight, bias));
}
Tensor CudaGraph::logits(Tensor x, const LogitsSpec& spec) { return add(cuda::logits(setup_, last(x), spec)); }
void CudaGraph::softmax_cross_entropy(Tensor x) { add(cuda::softmax_cross_entropy(setup_, last(x))); }

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

void CudaGraph::queue_backward(const OnGradientReady& on_gradient_ready) {
  for (std::size_t i = operations_.size(); i-- > 0;) {
    operations_[i]->backward();
    if (on_gradient_ready && gradients_[i].size() > 0) on_gradient_ready(gradients_[i]);
  }
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

const Place& CudaGraph::gradient(Tensor tensor) const {
  const Place& place = value(tensor).gradient;
  require(static_cast<bool>(place), "Tensor {} has no gradient: nothing in the graph needs it.", tensor.index);
  return place;
}

std::vector<float> CudaGraph::read_value(Tensor tensor) {
  return read(storage_, value(tensor).data.data(), tensor.shape);
}
std::vector<float> CudaGraph::read_gradient(Tensor tensor) {
  return read(storage_, gradient(tensor).data(), tensor.shape);
}
void CudaGraph::write_value(Tensor tensor, std::span<const float> plain) {
  write(storage_, value(tensor).data.data(), tensor.shape, plain);
}
void CudaGraph::write_gradient(Tensor tensor, std::span<const float> plain) {
  write(storage_, gradient(tensor).data(), tensor.shape, plain);
}

std::vector<std::string> CudaGraph::describe() const {
  std::vector<std::string> lines;
  for (const OperationPtr& operation : operations_) operation->describe(lines);
  lines.push_back(fmt::format("CUDA graphs: {}, evaluation {}", training_step_.state(), evaluate_.state()));
  return lines;
}

}  // namespace odori::cuda
