// SPDX-License-Identifier: Apache-2.0
// Collectives on spans of floats among all ranks of a job or some of them: for programs that move activations,
// gradients or parameters themselves. What a Trainer exchanges goes through Communicator's calls on Buffers, over the
// same functions (group.h).
//
//   const ProcessGroup world = comm->group();
//   const ProcessGroup node = world.split(comm->inter_rank());    // the ranks of this node: tensor parallel
//   const ProcessGroup across = world.split(comm->intra_rank());  // one rank of each node: data parallel
//
//   node.all_reduce(activations);                    // every rank: the sum
//   across.reduce_scatter_mean(gradients, shard);    // each rank: the mean, of its shard
//   Work gathering = across.all_gather_async(shard, parameters);
//   ...                                              // meanwhile
//   gathering.wait();                                // every rank: all shards
//
//   bytes that a rank sends, of n ranks and E bytes   messages    source
//   all_reduce                    2 E (n-1)/n         2 (n-1)     as comm/ring.cpp; MPI picks the algorithm
//   reduce_scatter_mean             E (n-1)/n            n-1      half of it
//   all_gather                      E (n-1)/n            n-1      the other half
//   broadcast                       E, the last rank 0   1        comm/steps.h, chain
//
// Communicator::traffic() counts these. Before each call the ranks compare what they are about to do, in one all-reduce
// of 16 bytes, which is neither counted nor delayed by a simulated link.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <source_location>
#include <span>
#include <vector>

#include "numbers/range.h"

namespace odori {

class Background;
class Group;

/// Of a call in a program, for messages. Leave this last parameter out.
using CallSite = std::source_location;

/// A collective that runs while the program computes.
class Work {
 public:
  Work(std::shared_ptr<Background> background, std::int64_t ticket) noexcept;
  Work(Work&&) noexcept = default;
  Work& operator=(Work&&) = delete;
  /// Waits for the end of the collective; afterwards its memory may be freed. A failure is not reported here.
  ~Work();

  /// Returns when the collective has ended. Throws the Error of the first one in the background that failed.
  void wait();

 private:
  std::shared_ptr<Background> background_;
  std::int64_t ticket_;
};

/// All calls but shard() and the accessors are collective over the group's ranks: all of them make the same calls in
/// the same order, with the same lengths and root. If they do not, all of them throw an Error that names the ranks and
/// what they gave. A wrong shard length, root or color throws on that rank alone, before anything is sent. Spans lie in
/// host memory and have at most 2^28 elements; they may be empty. Ranks are counted within the group.
class ProcessGroup {
 public:
  /// Communicator::group() and split() make groups.
  explicit ProcessGroup(Group group);

  int rank() const;
  int size() const;
  /// The ranks of the job that belong to the group, by their rank within it.
  const std::vector<int>& ranks_of_job() const;
  /// The ranks that give the same color, 0 or greater, in the order of their ranks here.
  ProcessGroup split(int color, CallSite site = CallSite::current()) const;

  /// Rank r's shard of n elements: [n r / size, n (r + 1) / size), so that shards differ by one element at most.
  Range shard(std::size_t n, int r) const;
  Range shard(std::size_t n) const { return shard(n, rank()); }

  /// Replaces the values on every rank by their sum over all ranks.
  void all_reduce(std::span<float> values, CallSite site = CallSite::current()) const;
  /// `shard`: shard(values.size()) of the mean of all ranks' values. It may lie within `values`.
  void reduce_scatter_mean(std::span<const float> values, std::span<float> shard,
                           CallSite site = CallSite::current()) const;
  /// `values`: every rank's shard(values.size()), in order. `shard` may be its place in `values`.
  void all_gather(std::span<const float> shard, std::span<float> values, CallSite site = CallSite::current()) const;
  /// The same in the background, in the order of starting. Any other communication of this process, also of another
  /// group, starts only after it has ended. Do not touch either span before wait() has returned. Throws Error if this
  /// MPI does not support calls from a second thread.
  [[nodiscard]] Work all_gather_async(std::span<const float> shard, std::span<float> values,
                                      CallSite site = CallSite::current()) const;
  /// Replaces the values on every rank by the root's.
  void broadcast(std::span<float> values, int root = 0, CallSite site = CallSite::current()) const;

 private:
  struct Members;
  std::shared_ptr<Members> members_;
};

}  // namespace odori
