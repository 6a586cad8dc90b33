// SPDX-License-Identifier: Apache-2.0
// A test case of task 9: what the ranks showed, and what one process computes.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "checks/checks.h"
#include "tensor_parallel_cases.h"

namespace odori::grader {

using Values = std::vector<float>;
using Positions = std::vector<std::size_t>;

/// What values may differ by: rounding.
double tolerance_of(const Values& expected);
bool is_close(const Values& seen, const Values& expected);
Values scaled(Values values, double factor);
/// bias [out] added to each row of y [n, out].
Values plus_bias(Values y, const Values& bias);

/// Ranks on these nodes try these cases.
RunPlan trying(std::vector<int> nodes, const std::vector<TensorParallelCase>& cases);
std::vector<TensorParallelCase> cases_of(const RunPlan& plan);
/// The ranks on this rank's node, itself included.
std::vector<int> ranks_on_node(const std::vector<int>& nodes, int rank);
/// Of each node the rank with the same position among the node's ranks.
std::vector<int> ranks_across(const std::vector<int>& nodes, int rank);
/// The ranks of a group that this rank made; empty if it did not come that far.
std::vector<int> group_of(const Evidence& evidence, int rank, const char* event);

class NetworkCase {
 public:
  NetworkCase(const Situation& situation, std::size_t index);

  const TensorParallelCase& sizes() const { return sizes_; }
  const mlp::Layer& A() const { return layers_[1]; }
  const mlp::Layer& B() const { return layers_[2]; }
  int ranks() const { return static_cast<int>(nodes_.size()); }
  int tensor_size() const { return ranks() / copies(); }
  int copies() const { return static_cast<int>(ranks_across(nodes_, 0).size()); }
  /// Range of `size` elements of this rank of its tensor group: as ProcessGroup::shard().
  Range shard(int rank, std::size_t size) const;

  // ---- What was shown
  /// Empty if the rank did not come that far.
  const Values& shown(int rank, Shown what) const;
  bool has_shown(Shown what) const;  // on all ranks
  std::int64_t bytes(int rank, const char* event) const;
  /// Of the first update; empty if there was none.
  std::optional<Range> images(int rank) const;
  /// Which columns of A the rank has, in its order; nothing if one of its columns is none of A's.
  const std::optional<Positions>& columns(int rank) const { return columns_[static_cast<std::size_t>(rank)]; }

  bool has_columns() const {  // all ranks
    return std::ranges::all_of(columns_, [](const auto& columns) { return columns.has_value(); });
  }

  // ---- What one process has. The part of a rank is that of its columns.
  Values of_a(Range rows, Range columns) const { return mlp::initial_slice(A(), rows, columns, seed_); }
  Values of_b(Range rows, Range columns) const { return mlp::initial_slice(B(), rows, columns, seed_); }
  Values rows_of_b(const Positions& rows) const;
  const Values& bias_of_b() const { return bias_of_b_; }
  Values h_of_rank(int rank) const;
  const Values& y() const { return act_.back(); }
  Values y_of_rank(int rank) const;  // the rank's part of the sum, without bias
  Values y_without_relu() const;
  /// Is y what comes of an all-reduce of h, before or after the ReLU?
  bool is_of_summed_h(int rank, const Values& y) const;
  Values first_gradient() const { return matrix(gradients_, layers_[0]); }
  Values first_gradient_of_rank(int rank) const;  // from the rank's part of dx
  Values a_gradient(int rank) const;
  Values b_gradient(int rank) const;
  Values trained(Shown which, int rank) const;

 private:
  static Values matrix(const Values& flat, const mlp::Layer& layer);
  std::optional<Positions> find_columns(int rank) const;
  const Positions& own(int rank) const { return *columns(rank); }
  Values product(const Values& x, const Values& weights, std::size_t in, const Values& bias = {}) const;
  Values part(Shown which, const Values& flat, int rank) const;

  const std::vector<int>& nodes_;
  const Evidence& evidence_;
  std::size_t index_;
  TensorParallelCase sizes_;
  std::size_t updates_before_ = 0;
  std::uint64_t seed_;
  std::vector<mlp::Layer> layers_;
  Values initial_, bias_of_b_, dy_, gradients_, trained_;
  mlp::Activations act_;
  std::vector<std::optional<Positions>> columns_;
};

/// Bytes of tensor and data parallelism on two ranks, counted for several batches.
ShownFigure bytes_over_batch(Runs& runs);

}  // namespace odori::grader
