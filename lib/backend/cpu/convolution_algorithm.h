// SPDX-License-Identifier: Apache-2.0
// Which of oneDNN's two algorithms a convolution's pass uses: direct, or Winograd's with its fewer multiplications.
// Source: A. Lavin and S. Gray, 2015, "Fast Algorithms for Convolutional Neural Networks", arXiv:1509.09308.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "backend/cpu/operation.h"
#include "backend/pass.h"

namespace odori::cpu {

/// What the choice depends on.
struct ConvolutionCase {
  Shape x;
  ConvolutionSpec spec;
  Pass pass;
};

/// Runs the pass once with this algorithm, for measuring; empty if the machine doesn't have it.
using Trial = std::function<void()>;
using MakeTrial = std::function<Trial(dnnl::algorithm)>;

struct Choice {
  dnnl::algorithm algorithm;
  std::string why;  // for people; with the times that were measured, if there were any
};

/// By the table of algorithms if the case is in it, by measuring if the table says so, else by a fixed rule. Direct
/// where Winograd's isn't available.
Choice choose_algorithm(const Setup& setup, const ConvolutionCase& which, const MakeTrial& make_trial);
const char* to_string(dnnl::algorithm algorithm);

}  // namespace odori::cpu
