// SPDX-License-Identifier: Apache-2.0
// Convolutions by cuDNN: lists the plans for a pass, and runs them. Only this part of the backend uses cuDNN.
//
// A plan is one of cuDNN's engines (a family of kernels) with fixed knobs (such as tile sizes). Tensors are N x H x W x
// C, weights O x H x W x I, all of one storage type; sums are fp32.
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

/// Operands in device memory, aligned to 16 bytes: forward x, w -> y; backward_data gy, w -> gx; backward_weights x, gy
/// -> gw. The result is overwritten.
struct ConvolutionArguments {
  const void *first, *second;
  void *result, *workspace;
};

class ConvolutionPlan {
 public:
  virtual ~ConvolutionPlan() = default;
  /// "engine 38, knobs 2=13 12=0". On the same GPU and version, plans of the same name give the same bits.
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
  /// Returns at most `most` plans, by expected speed. Excludes plans that are not deterministic, that round operands
  /// more than the precision allows, or that need more workspace; also plans that are compiled at run time, unless
  /// there is no other. Throws Error if no plan is left.
  virtual std::vector<ConvolutionPlanPtr> plans(const ConvolutionCase& which, std::size_t workspace_limit,
                                                std::size_t most) = 0;
  /// The plan of this name; null if there is none.
  virtual ConvolutionPlanPtr plan(const ConvolutionCase& which, const std::string& name) = 0;
};

std::unique_ptr<ConvolutionEngine> new_convolution_engine(cudaStream_t stream);
/// For a GPU that need not exist, given its properties as cuDNN's JSON: plans can be listed, but not run.
std::unique_ptr<ConvolutionEngine> new_convolution_engine(const std::string& properties);

}  // namespace odori::cuda
