// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/kernels/batch_normalization.h"
#include "backend/cuda/kernels/columns.h"
#include "backend/cuda/kernels/dropout_slots.h"
#include "backend/cuda/kernels/gelu_formula.h"

namespace odori::cuda::kernels {
namespace {

// ---- What is summed over the rows

/// Number, mean, and sum of squared distances from the mean of the numbers seen. Unlike sums of x and x * x it loses
/// nothing where the mean is large beside the deviation. Sources: B. Welford, 1962, "Note on a Method for Calculating
/// Corrected Sums of Squares and Products"; T. Chan et al., 1979, "Updating Formulae and a Pairwise Algorithm for
/// Computing Sample Variances".
struct Moments {
  float n, mean, squares;

  __device__ void add(float x, float reciprocal_n) {  // reciprocal_n: 1 / (n + 1)
    n += 1;
    const float distance = x - mean;
    mean += distance * reciprocal_n;
    squares += distance * (x - mean);
  }
  __device__ void add(const Moments& other) {
    const float both = n + other.n, part = other.n / fmaxf(both, 1), distance = other.mean - mean;
    mean += distance * part;
    squares += other.squares + distance * distance * n * part;
    n = both;
  }
};

/// Of the gradient g of the normalised and scaled: over g, and over g * x^.
struct Sums {
  float g, gx;
  __device__ void add(const Sums& other) { g += other.g, gx += other.gx; }
};

constexpr std::size_t most_blocks = 1024;  // that leave a partial result each

/// For the sums: each thread takes a few rows at least, so that fewer results have to be combined.
Cut cut_for_sums(std::size_t rows, int channels, int width) { return cut(rows, channels, width, 4, most_blocks); }

/// What forward and backward both compute, in the very same way, so that both agree about the ReLU.
__device__ float normalised(float x, float mean, float scale, float beta) { return fmaf(x - mean, scale, beta); }

// ---- Kernels

__device__ void finish_moments(const Moments& all, const BatchNormalization& b, int c, float* running_mean,
                               float* running_variance) {
  const float decay = b.spec.decay, unbiased = all.squares / fmaxf(all.n - 1, 1);
  b.mean[c] = all.mean;
  b.inverse_deviation[c] = 1 / sqrtf(all.squares / all.n + b.spec.epsilon);
  running_mean[c] = decay * running_mean[c] + (1 - decay) * all.mean;
  running_variance[c] = decay * running_variance[c] + (1 - decay) * unbiased;
}

template <typename T, int V>
__global__ void moments_of_chunks(BatchNormalization b, std::size_t chunk, Partial<Moments> partial,
                                  float* running_mean, float* running_variance) {
  wait_for_previous_kernel();
  const int column = my_column<V>();
  const T* x = static_cast<const T*>(b.x);
  Moments mine[V] = {};
  if (column < b.channels)
    for_my_rows<V>(b.rows, b.channels, chunk, [&](std::size_t i) {
      const auto a = read<V>(x + i);
      const float reciprocal_n = 1 / (mine[0].n + 1);
      for (int k = 0; k < V; ++k) mine[k].add(a[k], reciprocal_n);
    });
  combine_rows_of_threads(mine);
  if (combine_in_last_block(partial, b.channels, mine) && column < b.channels && threadIdx.y == 0)
    for (int k = 0; k < V; ++k) finish_moments(mine[k], b, column + k, running_mean, running_variance);
}

/// Combines `chunks` partial results a channel: in the threads of y = 0, for the channel my_column<1>().
template <typename Result>
__device__ Result combine_chunks(const Result* partial, int chunks, int channels) {
  Result mine[1] = {};
  if (my_column<1>() < channels)
#pragma unroll 8  // to have that many reads under way
    for (int chunk = threadIdx.y; chunk < chunks; chunk += blockDim.y)
      mine[0].add(partial[std::size_t(chunk) * channels + my_column<1>()]);
  combine_rows_of_threads(mine);
  return mine[0];
}

__global__ void combine_moments(const Moments* partial, int chunks, BatchNormalization b, float* running_mean,
                                float* running_variance) {
  wait_for_previous_kernel();
  const Moments all = combine_chunks(partial, chunks, b.channels);
  if (my_column<1>() < b.channels && threadIdx.y == 0)
    finish_moments(all, b, my_column<1>(), running_mean, running_variance);
}

/// As it comes back from memory of type T.
template <typename T>
__device__ float stored(float x) {
  T in_memory;
  assign(in_memory, x);
  return to_float(in_memory);
}

/// Statistics are b.mean and b.inverse_deviation, or the running ones. A GELU takes what is rounded as if memory lay
/// before it.
template <typename T, int V, bool gelu>
__global__ void normalise(BatchNormalization b, std::size_t chunk, const float* running_mean,
                          const float* running_variance, T* y) {
  wait_for_previous_kernel();
  const int column = my_column<V>();
  if (column >= b.channels) return;
  const T* x = static_cast<const T*>(b.x);
  const auto mean = read<V>((running_mean ? running_mean : b.mean) + column);
  auto scale = read<V>((running_variance ? running_variance : b.inverse_deviation) + column);
  const auto gamma = read<V>(b.gamma + column), beta = read<V>(b.beta + column);
  for (int k = 0; k < V; ++k) {
    if (running_variance) scale[k] = 1 / sqrtf(scale[k] + b.spec.epsilon);
    scale[k] *= gamma[k];
  }
  for_my_rows<V>(b.rows, b.channels, chunk, [&](std::size_t i) {
    auto a = read<V>(x + i);
    for (int k = 0; k < V; ++k) {
      a[k] = normalised(a[k], mean[k], scale[k], beta[k]);
      if (b.spec.relu) a[k] = a[k] < 0 ? 0 : a[k];
      if constexpr (gelu) a[k] = gelu_of(stored<T>(a[k]));
    }
    write(y + i, a);
  });
}

/// normalise() and dropout, with the statistics of this batch; each element is rounded as if memory lay between both.
template <typename T, int V>
__global__ void normalise_and_drop(BatchNormalization b, Slots slots, float kept_scale, T* y) {
  wait_for_previous_kernel();
  const T* x = static_cast<const T*>(b.x);
  int column = -1;
  Numbers<V> mean{}, scale{}, beta{};
  for_my_slots<V>(slots, [&](std::size_t i, int channel, unsigned int kept) {
    if (channel != column) {  // once, unless an image has fewer than eight pixels
      column = channel;
      mean = read<V>(b.mean + column), beta = read<V>(b.beta + column);
      scale = read<V>(b.inverse_deviation + column);
      const auto gamma = read<V>(b.gamma + column);
      for (int k = 0; k < V; ++k) scale[k] *= gamma[k];
    }
    auto a = read<V>(x + i);
    for (int k = 0; k < V; ++k) {
      a[k] = normalised(a[k], mean[k], scale[k], beta[k]);
      if (b.spec.relu) a[k] = a[k] < 0 ? 0 : a[k];
      a[k] = kept >> k & 1 ? stored<T>(a[k]) * kept_scale : 0;
    }
    write(y + i, a);
    b.dropout.kept[i / V] = static_cast<std::uint8_t>(kept);
  });
}

/// The gradient of what dropout took, rounded as if it had been in memory: never a factor of a fused multiply-add.
template <int V, typename T>
__device__ Numbers<V> read_gradient(const BatchNormalization& b, float kept_scale, const T* gy, std::size_t i) {
  auto g = read<V>(gy + i);
  if (!b.dropout.kept) return g;
  const unsigned int kept = b.dropout.kept[i / V];
  for (int k = 0; k < V; ++k) g[k] = kept >> k & 1 ? stored<T>(__fmul_rn(g[k], kept_scale)) : 0;
  return g;
}

/// The gradient behind the ReLU: 0 where it was shut.
__device__ float through_relu(const BatchNormalization& b, float g, float x, float mean, float scale, float beta) {
  return b.spec.relu && !(normalised(x, mean, scale, beta) > 0) ? 0 : g;
}

/// With a GELU, gy becomes the gradient of what the GELU takes.
template <typename T, int V, bool gelu>
__global__ void sums_of_chunks(BatchNormalization b, float kept_scale, T* gy, std::size_t chunk, Partial<Sums> partial,
                               float* ggamma, float* gbeta) {
  wait_for_previous_kernel();
  const int column = my_column<V>();
  const T* x = static_cast<const T*>(b.x);
  Sums mine[V] = {};
  if (column < b.channels) {
    const auto mean = read<V>(b.mean + column), inverse = read<V>(b.inverse_deviation + column);
    const auto beta = read<V>(b.beta + column);
    auto scale = read<V>(b.gamma + column);
    for (int k = 0; k < V; ++k) scale[k] *= inverse[k];
    for_my_rows<V>(b.rows, b.channels, chunk, [&](std::size_t i) {
      const auto a = read<V>(x + i);
      auto gradient = read_gradient<V>(b, kept_scale, gy, i);
      if constexpr (gelu) {
        for (int k = 0; k < V; ++k) {
          const float y = stored<T>(normalised(a[k], mean[k], scale[k], beta[k]));
          gradient[k] = stored<T>(gelu_gradient(y, gradient[k]));
        }
        write(gy + i, gradient);
      }
      for (int k = 0; k < V; ++k) {
        const float g = through_relu(b, gradient[k], a[k], mean[k], scale[k], beta[k]);
        mine[k].g += g;
        mine[k].gx += g * (a[k] - mean[k]);
      }
    });
    for (int k = 0; k < V; ++k) mine[k].gx *= inverse[k];
  }
  combine_rows_of_threads(mine);
  if (combine_in_last_block(partial, b.channels, mine) && column < b.channels && threadIdx.y == 0)
    for (int k = 0; k < V; ++k) ggamma[column + k] = mine[k].gx, gbeta[column + k] = mine[k].g;
}

__global__ void combine_sums(const Sums* partial, int chunks, int channels, float* ggamma, float* gbeta) {
  wait_for_previous_kernel();
  const Sums all = combine_chunks(partial, chunks, channels);
  const int c = my_column<1>();
  if (c >= channels || threadIdx.y != 0) return;
  ggamma[c] = all.gx;
  gbeta[c] = all.g;
}

/// gx = gamma / deviation * (g - mean of g - x^ * mean of (g * x^)); gx may be gy.
template <typename T, int V>
__global__ void gradient_of_x(BatchNormalization b, float kept_scale, const T* gy, std::size_t chunk,
                              const float* ggamma, const float* gbeta, T* gx) {
  wait_for_previous_kernel();
  const int column = my_column<V>();
  if (column >= b.channels) return;
  const T* x = static_cast<const T*>(b.x);
  const float per_row = 1 / static_cast<float>(b.rows);
  const auto mean = read<V>(b.mean + column), beta = read<V>(b.beta + column);
  const auto inverse = read<V>(b.inverse_deviation + column);
  auto scale = read<V>(b.gamma + column), mean_g = read<V>(gbeta + column), mean_gx = read<V>(ggamma + column);
  for (int k = 0; k < V; ++k) {
    scale[k] *= inverse[k];
    mean_g[k] *= per_row;
    mean_gx[k] *= per_row * inverse[k];
  }
  for_my_rows<V>(b.rows, b.channels, chunk, [&](std::size_t i) {
    const auto a = read<V>(x + i);
    auto g = read_gradient<V>(b, kept_scale, gy, i);
    for (int k = 0; k < V; ++k) {
      g[k] = through_relu(b, g[k], a[k], mean[k], scale[k], beta[k]);
      g[k] = scale[k] * (g[k] - mean_g[k] - (a[k] - mean[k]) * mean_gx[k]);
    }
    write(gx + i, g);
  });
}

// ---- Launching

/// For the second kernel of a sum: few channels a block, since there is little to do and much to wait for.
Cut cut_for_finish(int channels) {
  return {dim3(1, static_cast<unsigned int>(divided(static_cast<std::size_t>(channels), 4))), dim3(4, 64), 0};
}

/// For what computes each number on its own.
Cut cut_for_each(const BatchNormalization& b, int width) { return cut(b.rows, b.channels, width, 4, ~std::size_t{0}); }

/// Calls work(T(), Constant<V>()): 16 bytes at a time if every row begins at a multiple of them. With dropout all do.
template <typename Work>
void with_type_of(const BatchNormalization& b, bool lie_well, const Work& work) {
  const bool packs = static_cast<std::size_t>(b.channels) * bytes_of(b.storage) % 16 == 0;
  with_type(b.storage, (lie_well || b.dropout.kept) && packs, work);
}

/// The most of what() of the sums' grid over the widths that with_type() may choose.
template <typename What>
std::size_t most_of_widths(std::size_t rows, int channels, const What& what) {
  std::size_t most = 0;
  for (const int width : {1, 4, 8}) {
    const std::size_t of_width = what(cut_for_sums(rows, channels, width).grid);
    most = of_width > most ? of_width : most;
  }
  return most;
}

float kept_scale(const BatchNormalization& b) { return 1.0f / (1.0f - b.dropout.ratio); }

void launch_normalise_and_drop(cudaStream_t stream, const BatchNormalization& b, void* y) {
  const FusedDropout& d = b.dropout;
  with_type_of(b, aligned(b.x, y), [&](auto type, auto width) {
    using T = decltype(type);
    constexpr int V = decltype(width)::value;
    const Slots slots = slots_of(d.shape, d.ratio, d.layer, d.step);
    launch("batch normalization and dropout", normalise_and_drop<T, V>, stream, blocks_for<V>(slots), threads_per_block,
           b, slots, kept_scale(b), static_cast<T*>(y));
  });
}

void launch_normalise(cudaStream_t stream, const BatchNormalization& b, void* y, const float* running_mean,
                      const float* running_variance) {
  with_type_of(b, aligned(b.x, y), [&](auto type, auto width) {
    using T = decltype(type);
    constexpr int V = decltype(width)::value;
    const Cut c = cut_for_each(b, V);
    launch("batch normalization", b.gelu ? normalise<T, V, true> : normalise<T, V, false>, stream, c.grid, c.block, b,
           c.chunk, running_mean, running_variance, static_cast<T*>(y));
  });
}

}  // namespace

std::size_t kept_bytes(Storage storage, std::size_t rows, int channels) {
  const std::size_t n = rows * static_cast<std::size_t>(channels), bytes = bytes_of(storage);
  return static_cast<std::size_t>(channels) * bytes % 16 == 0 ? n * bytes / 16 : n;
}

std::size_t batch_normalization_counters(std::size_t rows, int channels) {
  return most_of_widths(rows, channels, [](dim3 grid) { return grid.y * (groups_of(grid.x) + 1); });
}

std::size_t batch_normalization_scratch_bytes(std::size_t rows, int channels) {
  return most_of_widths(rows, channels, [](dim3 grid) { return grid.x + groups_of(grid.x); }) *
         static_cast<std::size_t>(channels) * sizeof(Moments);
}

void batch_normalization_train(cudaStream_t stream, const BatchNormalization& b, void* y, float* running_mean,
                               float* running_variance, void* scratch) {
  const Partial<Moments> partial{static_cast<Moments*>(scratch), b.counters};
  with_type_of(b, aligned(b.x), [&](auto type, auto width) {
    using T = decltype(type);
    constexpr int V = decltype(width)::value;
    const Cut c = cut_for_sums(b.rows, b.channels, V), f = cut_for_finish(b.channels);
    launch("batch normalization, statistics", moments_of_chunks<T, V>, stream, c.grid, c.block, b, c.chunk, partial,
           running_mean, running_variance);
    if (!b.counters)
      launch("batch normalization, statistics", combine_moments, stream, f.grid, f.block, partial.results,
             static_cast<int>(c.grid.x), b, running_mean, running_variance);
  });
  if (b.dropout.kept)
    launch_normalise_and_drop(stream, b, y);
  else
    launch_normalise(stream, b, y, nullptr, nullptr);
}

void batch_normalization_evaluate(cudaStream_t stream, const BatchNormalization& b, void* y, const float* running_mean,
                                  const float* running_variance) {
  launch_normalise(stream, b, y, running_mean, running_variance);
}

void batch_normalization_backward(cudaStream_t stream, const BatchNormalization& b, void* gy, void* gx, float* ggamma,
                                  float* gbeta, void* scratch) {
  const Partial<Sums> partial{static_cast<Sums*>(scratch), b.counters};
  with_type_of(b, aligned(b.x, gy, gx), [&](auto type, auto width) {
    using T = decltype(type);
    constexpr int V = decltype(width)::value;
    const Cut c = cut_for_sums(b.rows, b.channels, V), f = cut_for_finish(b.channels), e = cut_for_each(b, V);
    launch("batch normalization, sums of the gradient",
           b.gelu ? sums_of_chunks<T, V, true> : sums_of_chunks<T, V, false>, stream, c.grid, c.block, b, kept_scale(b),
           static_cast<T*>(gy), c.chunk, partial, ggamma, gbeta);
    if (!b.counters)
      launch("batch normalization, sums of the gradient", combine_sums, stream, f.grid, f.block, partial.results,
             static_cast<int>(c.grid.x), b.channels, ggamma, gbeta);
    if (gx)
      launch("batch normalization, backward", gradient_of_x<T, V>, stream, e.grid, e.block, b, kept_scale(b),
             static_cast<const T*>(gy), e.chunk, ggamma, gbeta, static_cast<T*>(gx));
  });
}

}  // namespace odori::cuda::kernels
