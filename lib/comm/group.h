// SPDX-License-Identifier: Apache-2.0
// A group of ranks, and MPI's collectives on it.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include "comm/interconnect.h"
#include "numbers/dtype.h"
#include "numbers/range.h"

namespace odori {

struct CollectiveCall;

/// Calls are collective over the group's ranks. Spans are in host memory, have the same length on all ranks, and at
/// most max_mpi_count elements (chunks.h).
class Group {
 public:
  /// Empty; only to be assigned to.
  Group() = default;
  /// All ranks of the job.
  explicit Group(std::shared_ptr<Interconnect> interconnect);
  /// The ranks that give the same `color`, ordered by `key` (MPI_Comm_split). Collective.
  Group split(int color, int key) const;

  int rank() const { return rank_; }
  int size() const { return size_; }
  const std::vector<int>& ranks() const { return ranks_; }  // ranks of the job
  bool is_whole_job() const { return size_ == interconnect_->ranks().size; }

  /// Throws Error on every rank unless all of them plan the same call (agreement.h). Collective.
  void agree(const CollectiveCall& plan) const;

  /// Chunk c of `length` elements, which belongs to rank c: [c length / size, (c + 1) length / size).
  Range range_of(std::size_t length, int c) const;
  /// The chunks of all ranks.
  std::vector<Range> parts(std::size_t length) const;
  std::span<float> chunk(std::span<float> values, int c) const;

  /// Replaces the values on every rank by their sum over all ranks (MPI_Allreduce).
  void all_reduce(std::span<float> values) const;
  /// The same for packed 16-bit elements (half_precision.h).
  void all_reduce_packed(Dtype dtype, std::span<float> packed) const;
  /// Replaces the root's values by the sum over all ranks (MPI_Reduce); does not change the others'.
  void reduce(std::span<float> values, int root) const;
  /// Replaces the values on every rank by the root's.
  void broadcast(std::span<float> values, int root) const;
  /// Replaces this rank's chunk by its sum over all ranks; does not change the rest.
  void reduce_scatter(std::span<float> values) const { reduce_scatter(values, chunk(values, rank_)); }
  /// The same, with the sum written to `own`, which may be that chunk.
  void reduce_scatter(std::span<const float> values, std::span<float> own) const;
  /// The same by an all-to-all: each rank receives its chunk from all others, and adds them.
  void reduce_scatter_by_all_to_all(std::span<float> values) const;
  /// Replaces each chunk by the values of the rank that it belongs to.
  void all_gather(std::span<float> values) const;

  /// Returns the values of all ranks, in rank order. Neither counted in traffic() nor delayed by a simulated link.
  template <typename Plain>
  std::vector<Plain> all_gather_plain(const Plain& own) const;

  /// Adds the messages of a collective that MPI does not make to traffic().
  void count(std::span<const Steps> steps) const;
  void count(const Steps& steps) const { count({&steps, 1}); }
  /// Simulates the link for a collective of these steps: sleeps until all ranks have arrived, and charges the network
  /// cards. The result's destructor sleeps until the link has delivered; make the collective before that. Collective.
  Passage pass(std::span<const Steps> steps) const;
  Passage pass(const Steps& steps) const { return pass({&steps, 1}); }
  /// The same for an MPI all-reduce.
  Passage pass_all_reduce(double bytes) const { return pass(interconnect_->all_reduce(ranks_, bytes)); }

 private:
  struct Handle;
  /// Counts and displacements of the chunks, for MPI.
  struct Layout {
    std::vector<int> counts, offsets;
  };
  Layout layout(std::span<const float> values) const;
  void all_gather_bytes(const void* own, void* all, std::size_t bytes_of_each) const;
  /// pass() and count().
  Passage pass_and_count(std::span<const Steps> steps) const;
  Passage pass_and_count(const Steps& steps) const { return pass_and_count({&steps, 1}); }

  std::shared_ptr<Interconnect> interconnect_;
  std::shared_ptr<Handle> handle_;
  std::vector<int> ranks_;  // ranks of the job
  int rank_ = 0, size_ = 1;
};

template <typename Plain>
std::vector<Plain> Group::all_gather_plain(const Plain& own) const {
  static_assert(std::is_trivially_copyable_v<Plain>);
  std::vector<Plain> all(static_cast<std::size_t>(size_), own);
  all_gather_bytes(&own, all.data(), sizeof own);
  return all;
}

}  // namespace odori
