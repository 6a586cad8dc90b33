// SPDX-License-Identifier: Apache-2.0
// Collectives on spans of floats among all or some ranks of a job, for programs that exchange activations, gradients or
// parameters themselves. A Trainer uses Communicator's calls on Buffers instead.
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
// Communicator::traffic() counts these. Before each call, an all-reduce of 16 bytes checks that all ranks make the same
// call; it is neither counted nor delayed by a simulated link.
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

/// Where the program makes a call, for error messages. Omit this last argument.
using CallSite = std::source_location;

/// A collective that runs while the program computes.
class Work {
 public:
  Work(std::shared_ptr<Background> background, std::int64_t ticket) noexcept;
  Work(Work&&) noexcept = default;
  Work& operator=(Work&&) = delete;
  /// Waits until the collective has ended; afterwards its memory may be freed. Does not report failures.
  ~Work();

  /// Returns when the collective has ended. Throws the Error of the first background collective that failed.
  void wait();

 private:
  std::shared_ptr<Background> background_;
  std::int64_t ticket_;
};

/// A group of ranks. All calls but shard() and the accessors are collective over the group: its ranks make the same
/// calls in the same order, with the same lengths and root. Otherwise all of them throw an Error that names the ranks
/// and their arguments. A wrong shard length, root or color throws on that rank alone, before anything is sent. Spans
/// are in host memory and have 0 to 2^28 elements. `rank` and `root` are ranks within the group.
class ProcessGroup {
 public:
  /// Use Communicator::group() or split() instead.
  explicit ProcessGroup(Group group);

  int rank() const;
  int size() const;
  /// Rank in the job of each rank of the group.
  const std::vector<int>& ranks_of_job() const;
  /// Divides the group: returns the group of the ranks that give the same color, in rank order (MPI_Comm_split). Throws
  /// Error if the color is negative.
  ProcessGroup split(int color, CallSite site = CallSite::current()) const;

  /// Rank r's shard of n elements: [n r / size, n (r + 1) / size). Lengths differ by at most one.
  Range shard(std::size_t n, int r) const;
  Range shard(std::size_t n) const { return shard(n, rank()); }

  /// Replaces the values on every rank by their sum over all ranks.
  void all_reduce(std::span<float> values, CallSite site = CallSite::current()) const;
  /// Writes this rank's shard of the mean over all ranks to `shard`, which may be its place in `values`.
  void reduce_scatter_mean(std::span<const float> values, std::span<float> shard,
                           CallSite site = CallSite::current()) const;
  /// Writes the shards of all ranks to `values`, in rank order. `shard` may be its place in `values`.
  void all_gather(std::span<const float> shard, std::span<float> values, CallSite site = CallSite::current()) const;
  /// The same in the background, in the order of starting. Any later communication of this process, also in another
  /// group, waits for its end. Do not access either span before wait() has returned. Throws Error if MPI does not
  /// support calls from a second thread.
  [[nodiscard]] Work all_gather_async(std::span<const float> shard, std::span<float> values,
                                      CallSite site = CallSite::current()) const;
  /// Replaces the values on every rank by the root's.
  void broadcast(std::span<float> values, int root = 0, CallSite site = CallSite::current()) const;

 private:
  struct Members;
  std::shared_ptr<Members> members_;
};

}  // namespace odori
