// SPDX-License-Identifier: Apache-2.0
// Batch normalisation, optionally followed by a ReLU. Normalises each channel over its m = N * H * W elements:
//
//   train:     mean, variance = of the batch (biased: divided by m)
//              running mean     <- decay * running mean     + (1 - decay) * mean
//              running variance <- decay * running variance + (1 - decay) * variance * m / max(m - 1, 1)
//   evaluate:  mean, variance = running mean, running variance
//   both:      x^ = (x - mean) / sqrt(variance + epsilon),   y = gamma * x^ + beta,   or max(y, 0)
//
// Source: S. Ioffe and C. Szegedy, 2015, "Batch Normalization: Accelerating Deep Network Training by Reducing Internal
// Covariate Shift".
#pragma once

#include <algorithm>
#include <cmath>

#include "backend/graph.h"
#include "backend/reference/array.h"
#include "backend/reference/elementwise.h"

namespace odori::reference {

/// One value per channel each.
template <typename T>
struct Statistics {
  std::vector<T> mean, variance;
};

/// Calls work(i) for the position i of every element of channel c.
template <typename Work>
void for_each_of_channel(const Shape& s, int c, const Work& work) {
  const std::size_t plane = static_cast<std::size_t>(s.h) * s.w;
  for (int n = 0; n < s.n; ++n)
    for (std::size_t p = 0; p < plane; ++p) work((static_cast<std::size_t>(n) * s.c + c) * plane + p);
}

/// Mean and biased variance of each channel.
template <typename T>
Statistics<T> batch_statistics(const Array<T>& x) {
  const T m = static_cast<T>(x.shape.size() / x.shape.c);
  Statistics<T> s{std::vector<T>(x.shape.c), std::vector<T>(x.shape.c)};
  for (int c = 0; c < x.shape.c; ++c) {
    for_each_of_channel(x.shape, c, [&](std::size_t i) { s.mean[c] += x.values[i] / m; });
    for_each_of_channel(
        x.shape, c, [&](std::size_t i) { s.variance[c] += (x.values[i] - s.mean[c]) * (x.values[i] - s.mean[c]) / m; });
  }
  return s;
}

/// m: elements per channel.
template <typename T>
void update_running(Statistics<T>& running, const Statistics<T>& batch, const BatchNormalizationSpec& spec,
                    std::size_t m) {
  const T decay = spec.decay, unbiased = static_cast<T>(m) / static_cast<T>(std::max<std::size_t>(m - 1, 1));
  for (std::size_t c = 0; c < batch.mean.size(); ++c) {
    running.mean[c] = decay * running.mean[c] + (1 - decay) * batch.mean[c];
    running.variance[c] = decay * running.variance[c] + (1 - decay) * batch.variance[c] * unbiased;
  }
}

/// x: N x C x H x W; gamma, beta: C; `s`: the batch's statistics, or the running ones.
template <typename T>
Array<T> batch_normalization(const Array<T>& x, const BatchNormalizationSpec& spec, const Array<T>& gamma,
                             const Array<T>& beta, const Statistics<T>& s) {
  Array<T> y(x.shape);
  for (int c = 0; c < x.shape.c; ++c) {
    const T inverse = 1 / std::sqrt(s.variance[c] + static_cast<T>(spec.epsilon));
    for_each_of_channel(x.shape, c, [&](std::size_t i) {
      y.values[i] = gamma.values[c] * (x.values[i] - s.mean[c]) * inverse + beta.values[c];
    });
  }
  return spec.relu ? relu(y) : y;
}

template <typename T>
struct BatchNormalizationGradients {
  Array<T> x, gamma, beta;
};

/// Backward in training. `s`: the batch's statistics; y: the output. Since mean and variance also depend on x:
///
///   dL/dx = gamma / sqrt(variance + epsilon) * (g - mean of g - x^ * mean of (g * x^)),   g = dL/dy
template <typename T>
BatchNormalizationGradients<T> batch_normalization_backward(const Array<T>& x, const BatchNormalizationSpec& spec,
                                                            const Array<T>& gamma, const Statistics<T>& s,
                                                            const Array<T>& y, const Array<T>& gy) {
  const Array<T> g = spec.relu ? relu_backward(y, gy) : gy;
  const T m = static_cast<T>(x.shape.size() / x.shape.c);
  BatchNormalizationGradients<T> out{Array<T>(x.shape), Array<T>(gamma.shape), Array<T>(gamma.shape)};
  for (int c = 0; c < x.shape.c; ++c) {
    const T inverse = 1 / std::sqrt(s.variance[c] + static_cast<T>(spec.epsilon));
    const auto normalised = [&](std::size_t i) { return (x.values[i] - s.mean[c]) * inverse; };
    T& ggamma = out.gamma.values[c];
    T& gbeta = out.beta.values[c];
    for_each_of_channel(x.shape, c, [&](std::size_t i) {
      gbeta += g.values[i];
      ggamma += g.values[i] * normalised(i);
    });
    for_each_of_channel(x.shape, c, [&](std::size_t i) {
      out.x.values[i] = gamma.values[c] * inverse * (g.values[i] - gbeta / m - normalised(i) * ggamma / m);
    });
  }
  return out;
}

}  // namespace odori::reference
