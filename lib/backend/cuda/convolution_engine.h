// SPDX-License-Identifier: Apache-2.0
// cuDNN's convolutions, and the one place that knows cuDNN: which plans there are for a pass, and how to run one.
//
// A plan is one of cuDNN's engines (a family of GPU programs) with its knobs set (tile sizes and the like). Tensors are
// N x H x W x C, weights O x H x W x I, all of one storage; sums are fp32.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "backend/graph.h"
#include "backend/pass.h"
#include "backend/precision.h"

namespace odori::cuda {

/// One pass of one convolution.
struct ConvolutionCase {
  Shape x, y;  // as N, C, H, W
  ConvolutionSpec spec;
  Pass pass;
  Precision precision;
};

/// What a pass reads and writes, in device memory, at multiples of 16 bytes: forward x, w -> y; backward_data gy, w ->
/// gx; backward_weights x, gy -> gw. The result is written, not added to.
struct ConvolutionArguments {
  const void *first, *second;
  void *result, *workspace;
};

class ConvolutionPlan {
 public:
  virtual ~ConvolutionPlan() = default;
  /// "engine 38, knobs 2=13 12=0": on the same GPU and version, the same name means the same bits.
  virtual std::string name() const = 0;
  virtual std::size_t workspace_bytes() const = 0;
  /// Queues the pass on the engine's stream.
  virtual void run(const ConvolutionArguments& arguments) = 0;
};
using ConvolutionPlanPtr = std::unique_ptr<ConvolutionPlan>;

class ConvolutionEngine {
 public:
  virtual ~ConvolutionEngine() = default;
  /// "cuDNN 9.19.0"
  virtual std::string version() const = 0;
  /// At most `most` plans, in the order in which they are expected to be fast. Plans whose results change from run to
  /// run, that round their factors more than the precision says, or that want more workspace, are left out; so are
  /// those that are compiled first, unless there is no other. Throws Error if nothing is left.
  virtual std::vector<ConvolutionPlanPtr> plans(const ConvolutionCase& which, std::size_t workspace_limit,
                                                std::size_t most) = 0;
  /// The plan of this name; null if there is none.
  virtual ConvolutionPlanPtr plan(const ConvolutionCase& which, const std::string& name) = 0;
};

std::unique_ptr<ConvolutionEngine> new_convolution_engine(cudaStream_t stream);
/// For a GPU that need not be there, by its properties as cuDNN's JSON: plans are prepared, and can't run.
std::unique_ptr<ConvolutionEngine> new_convolution_engine(const std::string& properties);

}  // namespace odori::cuda
