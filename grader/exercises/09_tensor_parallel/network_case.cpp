// SPDX-License-Identifier: Apache-2.0
#include "network_case.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "files/json.h"

namespace odori::grader {
namespace {

/// From a matrix [rows, out], these columns.
Values columns_of(const Values& matrix, std::size_t out, const Positions& columns) {
  Values result;
  for (std::size_t row = 0; row < matrix.size() / out; ++row)
    for (const std::size_t column : columns) result.push_back(matrix[row * out + column]);
  return result;
}

/// From a matrix [rows, out], these rows.
Values rows_of(const Values& matrix, std::size_t out, const Positions& rows) {
  Values result;
  for (const std::size_t row : rows)
    for (std::size_t column = 0; column < out; ++column) result.push_back(matrix[row * out + column]);
  return result;
}

int place_on_node(const std::vector<int>& nodes, int rank) {
  return static_cast<int>(std::count(nodes.begin(), nodes.begin() + rank, nodes[static_cast<std::size_t>(rank)]));
}

const facts::Event* nth_event(const RankSeen& rank, std::string_view name, std::size_t n) {
  for (const facts::Event& event : rank.events)
    if (event.what == name && n-- == 0) return &event;
  return nullptr;
}

}  // namespace

double tolerance_of(const Values& expected) {
  double largest = 0;
  for (const float value : expected) largest = std::max(largest, std::abs(double{value}));
  return 1e-5 * largest;
}

bool is_close(const Values& seen, const Values& expected) {
  const double tolerance = tolerance_of(expected);
  return std::ranges::equal(seen, expected, [&](double a, double b) { return std::abs(a - b) <= tolerance; });
}

Values scaled(Values values, double factor) {
  for (float& value : values) value = static_cast<float>(value * factor);
  return values;
}

Values plus_bias(Values y, const Values& bias) {
  for (std::size_t i = 0; i < y.size(); ++i) y[i] += bias[i % bias.size()];
  return y;
}

RunPlan trying(std::vector<int> nodes, const std::vector<TensorParallelCase>& cases) {
  std::size_t most = 0;
  for (const TensorParallelCase& each : cases)
    most = std::max({most, (each.in + 1) * each.width, (each.width + 1) * each.hidden, each.images * each.hidden});
  return {.nodes = std::move(nodes),
          .epochs = 0,
          .most_values = most,
          .shows = cases.size() * static_cast<std::size_t>(Shown::count),
          .on_devices = false,
          .seeded = true,
          .test_cases = json_text(nlohmann::json(cases))};
}

std::vector<TensorParallelCase> cases_of(const RunPlan& plan) { return parse_json(plan.test_cases); }

std::vector<int> ranks_on_node(const std::vector<int>& nodes, int rank) {
  std::vector<int> ranks;
  for (int other = 0; other < static_cast<int>(nodes.size()); ++other)
    if (nodes[static_cast<std::size_t>(other)] == nodes[static_cast<std::size_t>(rank)]) ranks.push_back(other);
  return ranks;
}

std::vector<int> ranks_across(const std::vector<int>& nodes, int rank) {
  std::vector<int> ranks;
  for (int other = 0; other < static_cast<int>(nodes.size()); ++other)
    if (place_on_node(nodes, other) == place_on_node(nodes, rank)) ranks.push_back(other);
  return ranks;
}

std::vector<int> group_of(const Evidence& evidence, int rank, const char* event) {
  const facts::Event* const seen = nth_event(evidence.ranks[static_cast<std::size_t>(rank)], event, 0);
  return seen ? std::vector<int>(seen->about.begin(), seen->about.end()) : std::vector<int>();
}

NetworkCase::NetworkCase(const Situation& situation, std::size_t index)
    : nodes_(situation.plan.nodes),
      evidence_(situation.evidence()),
      index_(index),
      seed_(situation.plan.programs_seed(situation.data().seed) + index) {
  const std::vector<TensorParallelCase> cases = cases_of(situation.plan);
  sizes_ = cases[index];
  for (std::size_t i = 0; i < index; ++i) updates_before_ += static_cast<std::size_t>(cases[i].updates);
  layers_ = mlp::make_layers(sizes_.widths());
  initial_ = mlp::initial_parameters(layers_, mlp::range_of(layers_), seed_);
  bias_of_b_ = of_b({B().in, B().in + 1}, {0, B().out});
  dy_ = case_dy(sizes_, seed_);
  act_ = mlp::stage_forward(layers_, initial_, case_batch(sizes_, seed_, 0).x);
  gradients_.resize(initial_.size());
  mlp::stage_backward(layers_, initial_, act_, dy_, gradients_);
  trained_ = initial_;
  for (int update = 0; update < sizes_.updates; ++update) {
    const mlp::Images batch = case_batch(sizes_, seed_, update);
    const mlp::Activations act = mlp::stage_forward(layers_, trained_, batch.x);
    Values dy(act.back().size()), gradients(trained_.size());
    mlp::softmax_cross_entropy(act.back(), batch.labels, dy);
    mlp::stage_backward(layers_, trained_, act, dy, gradients);
    mlp::sgd_update(trained_, gradients, case_learning_rate);
  }
  for (int rank = 0; rank < ranks(); ++rank) columns_.push_back(find_columns(rank));
}

Range NetworkCase::shard(int rank, std::size_t size) const {
  const auto n = static_cast<std::size_t>(tensor_size()), r = static_cast<std::size_t>(place_on_node(nodes_, rank));
  return {size * r / n, size * (r + 1) / n};
}

const Values& NetworkCase::shown(int rank, Shown what) const {
  static const Values none;
  const auto& all = evidence_.ranks[static_cast<std::size_t>(rank)].values;
  const std::size_t i = index_ * static_cast<std::size_t>(Shown::count) + static_cast<std::size_t>(what);
  return i < all.size() ? all[i] : none;
}

bool NetworkCase::has_shown(Shown what) const {
  const std::size_t i = index_ * static_cast<std::size_t>(Shown::count) + static_cast<std::size_t>(what);
  return std::ranges::all_of(evidence_.ranks, [&](const RankSeen& rank) { return i < rank.values.size(); });
}

std::int64_t NetworkCase::bytes(int rank, const char* event) const {
  const facts::Event* const seen = nth_event(evidence_.ranks[static_cast<std::size_t>(rank)], event, index_);
  return seen && seen->about.size() == 1 ? seen->about[0] : 0;
}

std::optional<Range> NetworkCase::images(int rank) const {
  const facts::Event* const seen =
      nth_event(evidence_.ranks[static_cast<std::size_t>(rank)], images_taken, updates_before_);
  if (!seen || seen->about.size() != 2) return {};
  return Range{static_cast<std::size_t>(seen->about[0]), static_cast<std::size_t>(seen->about[1])};
}

std::optional<Positions> NetworkCase::find_columns(int rank) const {
  const Values& seen = shown(rank, Shown::a);
  const std::size_t rows = A().in + 1, n = seen.size() / rows;
  if (seen.empty() || seen.size() % rows != 0) return {};
  const Values whole = matrix(initial_, A());
  Positions columns;
  for (std::size_t j = 0; j < n; ++j) {
    const auto is = [&](std::size_t column) {
      for (std::size_t row = 0; row < rows; ++row)
        if (seen[row * n + j] != whole[row * A().out + column]) return false;
      return true;
    };
    std::size_t column = 0;
    while (column < A().out && !is(column)) ++column;
    if (column == A().out) return {};
    columns.push_back(column);
  }
  return columns;
}

Values NetworkCase::matrix(const Values& flat, const mlp::Layer& layer) {
  return {flat.begin() + static_cast<std::ptrdiff_t>(layer.range.begin),
          flat.begin() + static_cast<std::ptrdiff_t>(layer.range.end)};
}

Values NetworkCase::rows_of_b(const Positions& rows) const { return rows_of(matrix(initial_, B()), B().out, rows); }

/// x [images, in] weights [in, out], plus the bias.
Values NetworkCase::product(const Values& x, const Values& weights, std::size_t in, const Values& bias) const {
  const std::size_t n = x.size() / in, out = weights.size() / in;
  Values y(n * out);
  mlp::linear_forward({n, in, out}, x, weights, bias, y);
  return y;
}

Values NetworkCase::h_of_rank(int rank) const { return columns_of(act_[2], A().out, own(rank)); }

Values NetworkCase::y_of_rank(int rank) const {
  return product(h_of_rank(rank), rows_of_b(own(rank)), own(rank).size());
}

Values NetworkCase::y_without_relu() const {
  Values h(sizes_.images * A().out), weights = matrix(initial_, A()), of_b = matrix(initial_, B());
  const Values bias(weights.end() - static_cast<std::ptrdiff_t>(A().out), weights.end());
  weights.resize(A().in * A().out);
  of_b.resize(B().in * B().out);
  return product(product(act_[1], weights, A().in, bias), of_b, B().in, bias_of_b_);
}

bool NetworkCase::is_of_summed_h(int rank, const Values& y) const {
  const std::vector<int> group = ranks_on_node(nodes_, rank);
  const std::size_t width = own(rank).size();
  for (const bool relu_first : {true, false}) {
    Values h(sizes_.images * width);
    for (const int other : group) {
      if (own(other).size() != width) return false;
      const Values matrix_of_other = shown(other, Shown::a);
      const auto bias = matrix_of_other.end() - static_cast<std::ptrdiff_t>(width);
      Values of_other = product(act_[1], {matrix_of_other.begin(), bias}, A().in, {bias, matrix_of_other.end()});
      if (relu_first) mlp::relu_forward(of_other);
      for (std::size_t i = 0; i < h.size(); ++i) h[i] += of_other[i];
    }
    mlp::relu_forward(h);
    Values sum(y.size());
    for (const int other : group) {
      const Values of_rank = product(h, rows_of_b(own(other)), width);
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += of_rank[i];
      if (other == rank && (is_close(y, of_rank) || is_close(y, plus_bias(of_rank, bias_of_b_)))) return true;
    }
    if (is_close(y, sum) || is_close(y, plus_bias(sum, bias_of_b_))) return true;
  }
  return false;
}

Values NetworkCase::first_gradient_of_rank(int rank) const {
  const std::size_t n = sizes_.images, columns = own(rank).size();
  const Values h = h_of_rank(rank), b = rows_of_b(own(rank));
  Values a = columns_of(matrix(initial_, A()), A().out, own(rank));
  a.resize(A().in * columns);
  Values dh(n * columns), dx(n * A().in), of_a(a.size()), of_b(b.size()), gradients(layers_[0].range.size());
  mlp::linear_backward({n, columns, B().out}, h, b, dy_, dh, of_b, {});
  mlp::relu_backward(h, dh);
  mlp::linear_backward({n, A().in, columns}, act_[1], a, dh, dx, of_a, {});
  mlp::layer_backward(layers_[0], matrix(initial_, layers_[0]), act_[0], act_[1], dx, {}, gradients);
  return gradients;
}

Values NetworkCase::part(Shown which, const Values& flat, int rank) const {
  if (which == Shown::a_gradient || which == Shown::a_trained) return columns_of(matrix(flat, A()), A().out, own(rank));
  if (which == Shown::first_gradient || which == Shown::first_trained) return matrix(flat, layers_[0]);
  Positions rows = own(rank);
  rows.push_back(B().in);  // the bias
  return rows_of(matrix(flat, B()), B().out, rows);
}

Values NetworkCase::a_gradient(int rank) const { return part(Shown::a_gradient, gradients_, rank); }
Values NetworkCase::b_gradient(int rank) const { return part(Shown::b_gradient, gradients_, rank); }
Values NetworkCase::trained(Shown which, int rank) const { return part(which, trained_, rank); }

}  // namespace odori::grader
