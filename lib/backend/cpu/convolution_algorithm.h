// SPDX-License-Identifier: Apache-2.0
// Chooses oneDNN's algorithm for a pass of a convolution: direct, or Winograd's, which needs fewer multiplications.
// Source: A. Lavin and S. Gray, 2015, "Fast Algorithms for Convolutional Neural Networks", arXiv:1509.09308.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "backend/cpu/operation.h"
#include "backend/pass.h"

namespace odori::cpu {

/// Input of the choice.
struct ConvolutionCase {
  Shape x;
  ConvolutionSpec spec;
  Pass pass;
};

/// Runs the pass once with this algorithm, for measurements; empty if oneDNN does not support it here.
using Trial = std::function<void()>;
using MakeTrial = std::function<Trial(dnnl::algorithm)>;

struct Choice {
  dnnl::algorithm algorithm;
  std::string why;  // for reports; with measured times, if any
};

/// Returns the choice of setup.algorithms if it contains the case; otherwise measures if AlgorithmTable::measure is
/// set, or else applies a fixed rule. Direct if Winograd's is not available.
Choice choose_algorithm(const Setup& setup, const ConvolutionCase& which, const MakeTrial& make_trial);
const char* to_string(dnnl::algorithm algorithm);

}  // namespace odori::cpu
