// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "observe/hooks.h"
#include "observe/refusal.h"
#include "tensor_parallel_cases.h"
#include "tensor_parallel_support.h"

namespace odori {
namespace {

/// From the matrix [in + 1, out] whose last row is the bias.
Linear of_matrix(std::size_t in, std::size_t out, const std::vector<float>& matrix) {
  const auto bias = matrix.begin() + static_cast<std::ptrdiff_t>(in * out);
  return {in, out, {matrix.begin(), bias}, {bias, matrix.end()}, std::vector<float>(in * out), std::vector<float>(out)};
}

void require_rows(const char* name, std::size_t values, std::size_t columns) {
  require(columns > 0 && values % columns == 0,
          "{} has {} elements, which are no whole number of rows of {}. Pass [n, {}] for n images.", name, values,
          columns, columns);
}

}  // namespace

std::vector<float> Linear::forward(std::span<const float> x, std::span<const float> own_bias) const {
  require_rows("x", x.size(), in);
  const std::size_t n = x.size() / in;
  std::vector<float> y(n * out);
  mlp::linear_forward({n, in, out}, x, weights, own_bias, y);
  return y;
}

std::vector<float> Linear::backward(std::span<const float> x, std::span<const float> dy) {
  require_rows("dy", dy.size(), out);
  const std::size_t n = dy.size() / out;
  std::vector<float> dx(n * in);
  mlp::linear_backward({n, in, out}, x, weights, dy, dx, dweights, dbias);
  return dx;
}

void Linear::update(float learning_rate) {
  mlp::sgd_update(weights, dweights, learning_rate);
  mlp::sgd_update(bias, dbias, learning_rate);
}

void SplitNetwork::zero_gradients() {
  for (Linear* const layer : {&first, &a, &b}) {
    std::ranges::fill(layer->dweights, 0.0f);
    std::ranges::fill(layer->dbias, 0.0f);
  }
}

SplitNetwork assemble(const mlp::Layer& first, const mlp::Layer& A, const mlp::Layer& B, const std::vector<float>& a,
                      const std::vector<float>& b, std::uint64_t seed) {
  observe::on_values(a);
  observe::on_values(b);
  const std::size_t rows = A.in + 1, columns = a.size() / rows;
  refusal::require(
      shape_of_a, !a.empty() && a.size() % rows == 0,
      "The shard of A has {} elements. A column of A has {}: one for each of its {} rows, and its bias. So "
      "a shard of c columns has {} c elements, and c is at least 1.",
      a.size(), rows, A.in, rows);
  refusal::require(shape_of_b, b.size() == columns * B.out,
                   "The shard of B has {} elements. The {} columns of A on this rank need as many rows of B, of {} "
                   "elements each: {} elements.",
                   b.size(), columns, B.out, columns * B.out);
  std::vector<float> with_bias = b;
  const std::vector<float> bias = mlp::initial_slice(B, {B.in, B.in + 1}, {0, B.out}, seed);
  with_bias.insert(with_bias.end(), bias.begin(), bias.end());
  return {of_matrix(first.in, first.out, mlp::initial_slice(first, {0, first.in + 1}, {0, first.out}, seed)),
          of_matrix(A.in, columns, a), of_matrix(columns, B.out, with_bias)};
}

mlp::Images part_of(const mlp::Images& batch, Range range) {
  require(
      range.begin < range.end && range.end <= batch.labels.size(),
      "A rank would train on the images [{}, {}) of a batch of {}. Give a range within the batch, with at least one "
      "image.",
      range.begin, range.end, batch.labels.size());
  observe::on_event(images_taken, {static_cast<std::int64_t>(range.begin), static_cast<std::int64_t>(range.end)});
  const std::size_t values = batch.x.size() / batch.labels.size();
  const auto at = [](const auto& list, std::size_t i) { return list.begin() + static_cast<std::ptrdiff_t>(i); };
  return {{at(batch.x, range.begin * values), at(batch.x, range.end * values)},
          {at(batch.labels, range.begin), at(batch.labels, range.end)}};
}

}  // namespace odori
