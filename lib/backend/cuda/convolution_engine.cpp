// SPDX-License-Identifier: Apache-2.0
// cuDNN's backend API: an operation graph of one convolution; its heuristics list engine configurations, each of which
// becomes a plan. Source: https://docs.nvidia.com/deeplearning/cudnn/backend/latest/developer/graph-api.html
#include "backend/cuda/convolution_engine.h"

#include <cudnn.h>
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "backend/cuda/cuda_check.h"
#include "errors/error.h"

namespace odori::cuda {
namespace {

void check(cudnnStatus_t status, const char* doing) {
  if (status == CUDNN_STATUS_SUCCESS) return;
  std::array<char, 512> details{};
  cudnnGetLastErrorString(details.data(), details.size());
  fail("{} failed while {}: cuDNN says {}. {}", current_gpu(), doing, cudnnGetErrorString(status), details.data());
}

/// One of cuDNN's descriptors: attributes are set, then it is finalised, then it can be used and asked.
class Descriptor {
 public:
  explicit Descriptor(cudnnBackendDescriptorType_t type) {
    cudnnBackendDescriptor_t descriptor = nullptr;
    check(cudnnBackendCreateDescriptor(type, &descriptor), "making a descriptor");
    descriptor_.reset(descriptor);
  }

  template <typename T>
  Descriptor& set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, const std::vector<T>& values) {
    check(cudnnBackendSetAttribute(get(), name, type, static_cast<std::int64_t>(values.size()), values.data()),
          "describing a convolution");
    return *this;
  }
  Descriptor& set(cudnnBackendAttributeName_t name, const std::vector<std::int64_t>& values) {
    return set(name, CUDNN_TYPE_INT64, values);
  }
  Descriptor& set(cudnnBackendAttributeName_t name, const Descriptor& other) {
    return set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, std::vector{other.get()});
  }

  /// At most `most` values, as many as there are.
  template <typename T>
  std::vector<T> list(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, std::int64_t most) const {
    std::vector<T> values(static_cast<std::size_t>(most));
    std::int64_t n = 0;
    check(cudnnBackendGetAttribute(get(), name, type, most, &n, values.data()), "asking for a convolution's plans");
    values.resize(static_cast<std::size_t>(std::min(n, most)));
    return values;
  }
  std::int64_t number(cudnnBackendAttributeName_t name) const {
    return list<std::int64_t>(name, CUDNN_TYPE_INT64, 1).at(0);
  }
  /// Descriptors are written into ones that the caller has made.
  std::vector<Descriptor> descriptors(cudnnBackendAttributeName_t name, cudnnBackendDescriptorType_t type,
                                      std::int64_t most) const {
    std::vector<Descriptor> made;
    std::vector<cudnnBackendDescriptor_t> raw;
    for (std::int64_t i = 0; i < most; ++i) raw.push_back(made.emplace_back(type).get());
    std::int64_t n = 0;
    check(cudnnBackendGetAttribute(get(), name, CUDNN_TYPE_BACKEND_DESCRIPTOR, most, &n, raw.data()),
          "asking for a convolution's plans");
    made.erase(made.begin() + std::min(n, most), made.end());
    return made;
  }

  cudnnStatus_t try_to_finalize() { return cudnnBackendFinalize(get()); }
  Descriptor& finalize() {
    check(try_to_finalize(), "describing a convolution");
    return *this;
  }
  cudnnBackendDescriptor_t get() const { return descriptor_.get(); }

 private:
  Owned<cudnnBackendDescriptor_t, cudnnBackendDestroyDescriptor> descriptor_;
};

// The names under which a plan is given the addresses of its tensors.
constexpr std::int64_t x_id = 'x', w_id = 'w', y_id = 'y';

std::vector<std::int64_t> ids(Pass pass) {  // as ConvolutionArguments has them
  switch (pass) {
    case Pass::forward:
      return {x_id, w_id, y_id};
    case Pass::backward_data:
      return {y_id, w_id, x_id};
    case Pass::backward_weights:
      return {x_id, y_id, w_id};
  }
  return {};
}

/// A tensor whose channels stand together: N x H x W x C, or O x H x W x I.
Descriptor tensor(std::int64_t id, const Shape& s, cudnnDataType_t type) {
  Descriptor d(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  d.set(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, std::vector{type});
  d.set(CUDNN_ATTR_TENSOR_DIMENSIONS, {s.n, s.c, s.h, s.w});
  d.set(CUDNN_ATTR_TENSOR_STRIDES, {std::int64_t{s.h} * s.w * s.c, 1, std::int64_t{s.w} * s.c, s.c});
  d.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, {id});
  d.set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, {16});
  d.finalize();
  return d;
}

Descriptor convolution(const ConvolutionSpec& spec) {
  Descriptor d(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
  d.set(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, std::vector{CUDNN_DATA_FLOAT});
  d.set(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, std::vector{CUDNN_CROSS_CORRELATION});
  d.set(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, {2});
  d.set(CUDNN_ATTR_CONVOLUTION_DILATIONS, {1, 1});
  d.set(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, {spec.stride, spec.stride});
  d.set(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, {spec.padding, spec.padding});
  d.set(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, {spec.padding, spec.padding});
  d.finalize();
  return d;
}

/// How cuDNN's names of a pass's attributes differ.
struct PassNames {
  cudnnBackendDescriptorType_t operation;
  cudnnBackendAttributeName_t alpha, beta, convolution, x, w, y;
};
PassNames names_of(Pass pass) {
  switch (pass) {
    case Pass::forward:
      return {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y};
    case Pass::backward_data:
      return {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY};
    case Pass::backward_weights:
      break;
  }
  return {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA,
          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY};
}

/// Whom plans are for: the GPU of a handle, or one that is only described (which cuDNN knows from 9.8 on).
class Target {
 public:
  explicit Target(cudaStream_t stream) {
    cudnnHandle_t handle = nullptr;
    check(cudnnCreate(&handle), "starting cuDNN");
    handle_.reset(handle);
    check(cudnnSetStream(handle, stream), "starting cuDNN");
  }
#if CUDNN_VERSION >= 90800
  explicit Target(const std::string& json) : properties_(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR) {
    properties_->set(CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, CUDNN_TYPE_CHAR, std::vector(json.begin(), json.end()));
    properties_->finalize();
  }
  void set_in_heuristics(Descriptor& heuristics) const {  // which have a handle by their graph
    if (properties_) heuristics.set(CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, *properties_);
  }
  void set_in_plan(Descriptor& plan) const {
    if (properties_) plan.set(CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, *properties_);
    set_handle(plan, CUDNN_ATTR_EXECUTION_PLAN_HANDLE);
  }
#else
  explicit Target(const std::string&) { fail("This build's cuDNN describes no GPUs: that takes 9.8 or later."); }
  void set_in_heuristics(Descriptor&) const {}
  void set_in_plan(Descriptor& plan) const { set_handle(plan, CUDNN_ATTR_EXECUTION_PLAN_HANDLE); }
#endif
  void set_in_graph(Descriptor& graph) const { set_handle(graph, CUDNN_ATTR_OPERATIONGRAPH_HANDLE); }
  cudnnHandle_t handle() const { return handle_.get(); }

 private:
  void set_handle(Descriptor& descriptor, cudnnBackendAttributeName_t name) const {
    if (handle_) descriptor.set(name, CUDNN_TYPE_HANDLE, std::vector{handle()});
  }

  Owned<cudnnHandle_t, cudnnDestroy> handle_;
  std::optional<Descriptor> properties_;
};

/// One pass as cuDNN's graph of one operation. What it stands on is kept with it.
class OperationGraph {
 public:
  OperationGraph(const Target& target, const ConvolutionCase& c)
      : x_(tensor(x_id, c.x, type_of(c))),
        w_(tensor(w_id, {c.spec.out_channels, c.x.c, c.spec.kernel, c.spec.kernel}, type_of(c))),
        y_(tensor(y_id, c.y, type_of(c))),
        convolution_(convolution(c.spec)),
        operation_(names_of(c.pass).operation) {
    const PassNames names = names_of(c.pass);
    operation_.set(names.x, x_).set(names.w, w_).set(names.y, y_).set(names.convolution, convolution_);
    operation_.set(names.alpha, CUDNN_TYPE_FLOAT, std::vector{1.0f});
    operation_.set(names.beta, CUDNN_TYPE_FLOAT, std::vector{0.0f}).finalize();
    target.set_in_graph(graph_);
    graph_.set(CUDNN_ATTR_OPERATIONGRAPH_OPS, operation_).finalize();
  }

  /// Configurations of engines, those first that are expected to be fast.
  std::vector<Descriptor> configurations(const Target& target, cudnnBackendHeurMode_t mode) const {
    Descriptor heuristics(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
    heuristics.set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph_);
    heuristics.set(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, std::vector{mode});
    target.set_in_heuristics(heuristics);
    if (heuristics.try_to_finalize() != CUDNN_STATUS_SUCCESS) return {};  // none for this case in this mode
    std::int64_t n = 0;
    check(cudnnBackendGetAttribute(heuristics.get(), CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR, 0,
                                   &n, nullptr),
          "asking for a convolution's plans");
    return heuristics.descriptors(CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, n);
  }

 private:
  static cudnnDataType_t type_of(const ConvolutionCase& c) {
    return c.precision == Precision::bf16 ? CUDNN_DATA_BFLOAT16 : CUDNN_DATA_FLOAT;
  }

  Descriptor x_, w_, y_, convolution_, operation_;
  Descriptor graph_{CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR};
};

Descriptor engine_of(const Descriptor& configuration) {
  auto engines = configuration.descriptors(CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_BACKEND_ENGINE_DESCRIPTOR, 1);
  return std::move(engines.at(0));
}

std::string name_of(const Descriptor& configuration) {
  std::string name = fmt::format("engine {}", engine_of(configuration).number(CUDNN_ATTR_ENGINE_GLOBAL_INDEX));
  const char* before = ", knobs ";
  for (const Descriptor& knob : configuration.descriptors(
           CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR, CUDNN_KNOB_TYPE_COUNTS)) {
    const auto type =
        knob.list<cudnnBackendKnobType_t>(CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE, 1).at(0);
    name += fmt::format("{}{}={}", before, static_cast<int>(type), knob.number(CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE));
    before = " ";
  }
  return name;
}

/// Would preparing it compile a program, for a second or more?
bool compiles(const Descriptor& configuration) {
  const auto notes = engine_of(configuration)
                         .list<cudnnBackendBehaviorNote_t>(CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE, CUDNN_TYPE_BEHAVIOR_NOTE,
                                                           CUDNN_BEHAVIOR_NOTE_TYPE_COUNT);
  return std::count(notes.begin(), notes.end(), CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION) > 0;
}

/// Are its results the same each time, and as exact as asked for?
bool is_acceptable(const Descriptor& configuration, Precision precision) {
  const auto notes = engine_of(configuration)
                         .list<cudnnBackendNumericalNote_t>(CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE,
                                                            CUDNN_NUMERICAL_NOTE_TYPE_COUNT);
  const auto has = [&](cudnnBackendNumericalNote_t note) { return std::count(notes.begin(), notes.end(), note) > 0; };
  if (has(CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC) || has(CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION)) return false;
  if (has(CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_13x13)) return false;
  if (precision == Precision::bf16) return true;
  if (has(CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS)) return false;  // to 16 bits
  return precision == Precision::tf32 || !has(CUDNN_NUMERICAL_NOTE_TENSOR_CORE);
}

class CudnnPlan : public ConvolutionPlan {
 public:
  CudnnPlan(const Target& target, std::shared_ptr<const OperationGraph> graph, Descriptor configuration, Pass pass)
      : handle_(target.handle()), graph_(std::move(graph)), configuration_(std::move(configuration)), pass_(pass) {
    target.set_in_plan(plan_);
    plan_.set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, configuration_);
  }
  /// Prepares the plan; false if the engine turns out not to do this case.
  bool prepare() {
    if (plan_.try_to_finalize() != CUDNN_STATUS_SUCCESS) return false;
    workspace_bytes_ = static_cast<std::size_t>(plan_.number(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE));
    return true;
  }

  std::string name() const override { return name_of(configuration_); }
  std::size_t workspace_bytes() const override { return workspace_bytes_; }
  void run(const ConvolutionArguments& arguments) override {
    const std::vector<const void*> addresses{arguments.first, arguments.second, arguments.result, arguments.workspace};
    if (addresses != addresses_) pack(addresses);
    check(cudnnBackendExecute(handle_, plan_.get(), pack_->get()), "running a convolution");
  }

 private:
  /// Kept from run to run: a graph's tensors stay where they are.
  void pack(const std::vector<const void*>& addresses) {
    const std::vector<const void*> tensors(addresses.begin(), addresses.end() - 1);
    pack_.emplace(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
    pack_->set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, ids(pass_));
    pack_->set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, tensors);
    pack_->set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, std::vector{addresses.back()}).finalize();
    addresses_ = addresses;
  }

  cudnnHandle_t handle_;
  std::shared_ptr<const OperationGraph> graph_;
  Descriptor configuration_, plan_{CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR};
  Pass pass_;
  std::size_t workspace_bytes_ = 0;
  std::optional<Descriptor> pack_;
  std::vector<const void*> addresses_;
};

class CudnnEngine : public ConvolutionEngine {
 public:
  /// `gpu`: a stream, or a GPU's properties.
  template <typename Gpu>
  explicit CudnnEngine(const Gpu& gpu) : target_(gpu) {}

  std::string version() const override {
    const std::size_t v = cudnnGetVersion();
    return fmt::format("cuDNN {}.{}.{}", v / 10000, v / 100 % 100, v % 100);
  }

  std::vector<ConvolutionPlanPtr> plans(const ConvolutionCase& which, std::size_t workspace_limit,
                                        std::size_t most) override {
    std::vector<ConvolutionPlanPtr> found;
    std::size_t least_workspace = 0;
    std::set<std::string> names;  // the fallback repeats some
    for_each_plan(
        which,
        [&](const Descriptor& configuration) {
          return names.insert(name_of(configuration)).second && (found.empty() || !compiles(configuration));
        },
        [&](ConvolutionPlanPtr plan) {
          const std::size_t bytes = plan->workspace_bytes();
          least_workspace = least_workspace == 0 ? bytes : std::min(least_workspace, bytes);
          if (bytes <= workspace_limit) found.push_back(std::move(plan));
          return found.size() < most;
        });
    if (!found.empty()) return found;
    require(least_workspace == 0,
            "cuDNN has no plan for a convolution ({}, {} -> {} channels, {}x{} images) within {} MiB of workspace: "
            "the least it asks for is {} MiB. Give a larger --workspace-mib.",
            to_string(which.pass), which.x.c, which.y.c, which.x.h, which.x.w, workspace_limit >> 20,
            (least_workspace >> 20) + 1);
    fail(
        "{} has no {} plan for a convolution ({}, {} -> {} channels, {}x{} images) that gives the same bits each "
        "time. Try another --precision.",
        version(), odori::to_string(which.precision), to_string(which.pass), which.x.c, which.y.c, which.x.h,
        which.x.w);
  }

  ConvolutionPlanPtr plan(const ConvolutionCase& which, const std::string& name) override {
    ConvolutionPlanPtr found;
    for_each_plan(
        which, [&](const Descriptor& configuration) { return name_of(configuration) == name; },
        [&](ConvolutionPlanPtr plan) {
          found = std::move(plan);
          return false;
        });
    return found;
  }

 private:
  /// Calls `take` with prepared plans of the configurations that `wanted` accepts, until it returns false.
  template <typename Wanted, typename Take>
  void for_each_plan(const ConvolutionCase& which, const Wanted& wanted, const Take& take) {
    const auto graph = std::make_shared<const OperationGraph>(target_, which);
    for (const cudnnBackendHeurMode_t mode : {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK})
      for (Descriptor& configuration : graph->configurations(target_, mode)) {
        if (!is_acceptable(configuration, which.precision) || !wanted(configuration)) continue;
        auto plan = std::make_unique<CudnnPlan>(target_, graph, std::move(configuration), which.pass);
        if (plan->prepare() && !take(std::move(plan))) return;
      }
  }

  Target target_;
};

}  // namespace

std::unique_ptr<ConvolutionEngine> new_convolution_engine(cudaStream_t stream) {
  return std::make_unique<CudnnEngine>(stream);
}

std::unique_ptr<ConvolutionEngine> new_convolution_engine(const std::string& properties) {
  return std::make_unique<CudnnEngine>(properties);
}

}  // namespace odori::cuda
