// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/convolution_algorithm.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <limits>

namespace odori::cpu {
namespace {

using dnnl::algorithm;

/// Where Winograd's algorithm is the quicker one, as measured on AVX-512. It works on tiles of 4 x 4 outputs, so it
/// needs channels that fill its vectors, and enough tiles to be worth transforming the weights: of small images, a
/// large batch. Weight gradients gain most, since their sums are long.
bool winograd_by_rule(const ConvolutionCase& c) {
  if (c.spec.kernel != 3 || c.spec.stride != 1 || c.x.c % 16 != 0 || c.spec.out_channels % 16 != 0) return false;
  const bool weights = c.pass == Pass::backward_weights, large_batch = c.x.n >= 64;
  if (c.x.h >= 8) return true;
  if (c.x.h >= 4) return weights || large_batch;
  return c.x.h >= 2 && weights && large_batch;
}

std::string processor_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "unknown processor";
}

/// Measured choices hold for one machine, one number of threads and one version of oneDNN.
std::string key_of(const Setup& setup, const ConvolutionCase& c) {
  const dnnl_version_t& version = *dnnl_version();
  return fmt::format("convolution {}, {} -> {}, {}x{}, stride {}, padding {}; {} threads; oneDNN {}.{}.{}; {}",
                     to_string(c.pass), to_string(c.x), c.spec.out_channels, c.spec.kernel, c.spec.kernel,
                     c.spec.stride, c.spec.padding, setup.threads, version.major, version.minor, version.patch,
                     processor_name());
}

/// Seconds of the quickest of a few runs, after one that warms up.
double seconds(const Trial& trial) {
  using Clock = std::chrono::steady_clock;
  trial();
  double best = std::numeric_limits<double>::infinity();
  for (int run = 0; run < 4; ++run) {
    const auto begin = Clock::now();
    trial();
    best = std::min(best, std::chrono::duration<double>(Clock::now() - begin).count());
  }
  return best;
}

}  // namespace

const char* to_string(algorithm a) { return a == algorithm::convolution_winograd ? "winograd" : "direct"; }

Choice choose_algorithm(const Setup& setup, const ConvolutionCase& which, const MakeTrial& make_trial) {
  const Trial winograd = make_trial(algorithm::convolution_winograd);
  if (!winograd) return {algorithm::convolution_direct, "the only one here"};
  const auto named = [](bool is_winograd) {
    return is_winograd ? algorithm::convolution_winograd : algorithm::convolution_direct;
  };

  const std::string key = key_of(setup, which);
  auto& chosen = setup.algorithms.chosen;
  if (const auto known = chosen.find(key); known != chosen.end())
    return {named(known->second == to_string(algorithm::convolution_winograd)), "as chosen before"};
  if (!setup.algorithms.measure) return {named(winograd_by_rule(which)), "by rule"};
  const Trial direct = make_trial(algorithm::convolution_direct);
  const double winograd_ms = seconds(winograd) * 1e3, direct_ms = seconds(direct) * 1e3;
  const algorithm best = named(winograd_ms < direct_ms);
  chosen[key] = to_string(best);
  return {best, fmt::format("measured: winograd {:.3f} ms, direct {:.3f} ms", winograd_ms, direct_ms)};
}

}  // namespace odori::cpu
