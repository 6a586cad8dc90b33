// SPDX-License-Identifier: Apache-2.0
// Some of the ranks, and MPI's collectives among them.
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

struct Plan;

/// The calls are collective over the group's ranks, on elements in host memory, of one length on all of them, and no
/// longer than one call of MPI's may be (chunks.h).
class Group {
 public:
  /// Nobody's: to be assigned.
  Group() = default;
  /// All ranks of the job.
  explicit Group(std::shared_ptr<Interconnect> interconnect);
  /// Those of this group that give the same `color`, in the order of their `key`s. Collective over the group's ranks.
  Group split(int color, int key) const;

  int rank() const { return rank_; }
  int size() const { return size_; }
  const std::vector<int>& ranks() const { return ranks_; }  // of the job
  bool is_whole_job() const { return size_ == interconnect_->ranks().size; }

  /// Throws Error on every rank unless all of them plan the same call (agreement.h). Collective.
  void agree(const Plan& plan) const;

  /// The part of `length` elements that belongs to rank c: [c length / size, (c + 1) length / size).
  Range range_of(std::size_t length, int c) const;
  /// The parts of all ranks.
  std::vector<Range> parts(std::size_t length) const;
  std::span<float> chunk(std::span<float> numbers, int c) const;

  /// Replaces every rank's elements by their sum.
  void sum(std::span<float> numbers) const;
  /// The same of packed 16-bit elements (half_precision.h).
  void sum_packed(Dtype dtype, std::span<float> packed) const;
  /// Replaces the root's elements by the sum; does not change the others'.
  void sum_to(std::span<float> numbers, int root) const;
  /// Replaces every rank's elements by the root's.
  void broadcast(std::span<float> numbers, int root) const;
  /// Each rank's own chunk becomes the sum of all ranks' chunks there; the rest does not change.
  void reduce_scatter(std::span<float> numbers) const { reduce_scatter(numbers, chunk(numbers, rank_)); }
  /// The same, the sum written to `own`, which may be that chunk.
  void reduce_scatter(std::span<const float> numbers, std::span<float> own) const;
  /// The same in two steps, without MPI's sum: each rank gets its chunk of all others, and adds them up.
  void reduce_scatter_by_all_to_all(std::span<float> numbers) const;
  /// Each chunk becomes that of the rank that it belongs to.
  void all_gather(std::span<float> numbers) const;

  /// Every rank gets what each gives, in the order of the ranks. Not counted, and not charged by a link.
  template <typename Plain>
  std::vector<Plain> all_gather_plain(const Plain& own) const;

  /// Of a collective that isn't MPI's: its messages, for traffic().
  void count(std::span<const Steps> steps) const;
  void count(const Steps& steps) const { count({&steps, 1}); }
  /// For a collective of these steps, one after another, that is made while the result lives: over a simulated link, it
  /// begins when all have come, for whom they wait asleep, and lasts as long as the link takes. Collective.
  Passage pass(std::span<const Steps> steps) const;
  Passage pass(const Steps& steps) const { return pass({&steps, 1}); }
  /// For MPI's all-reduce of that many bytes.
  Passage pass_all_reduce(double bytes) const { return pass(interconnect_->all_reduce(ranks_, bytes)); }

 private:
  struct Handle;
  /// Counts and displacements of the chunks, as MPI takes them.
  struct Layout {
    std::vector<int> counts, offsets;
  };
  Layout layout(std::span<const float> numbers) const;
  void all_gather_bytes(const void* own, void* all, std::size_t bytes_of_each) const;
  /// pass(), and counted.
  Passage travel(std::span<const Steps> steps) const;
  Passage travel(const Steps& steps) const { return travel({&steps, 1}); }

  std::shared_ptr<Interconnect> interconnect_;
  std::shared_ptr<Handle> handle_;
  std::vector<int> ranks_;  // of the job
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
