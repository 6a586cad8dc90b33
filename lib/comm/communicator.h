// SPDX-License-Identifier: Apache-2.0
// Communication between ranks. README.md here compares the algorithms, one .cpp file each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "backend/device.h"
#include "comm/process_group.h"
#include "numbers/dtype.h"
#include "numbers/range.h"

namespace odori {

struct Traffic {
  std::int64_t messages = 0, bytes = 0;
};

/// Communication statistics of a rank: its point-to-point messages, and the messages of collectives on models as
/// steps.h models them.
struct TrafficOfRank {
  Traffic sent_within_node, received_within_node, sent_to_other_nodes, received_from_other_nodes;
};

class Communicator {
 public:
  virtual ~Communicator() = default;

  // ---- Ranks. Those with the same host name are one node. ODORI_NODES=0,0,1,1 gives each rank's node instead, so that
  // one machine can play several.
  virtual int rank() const = 0;        // in the job
  virtual int size() const = 0;        // of the job
  virtual int intra_rank() const = 0;  // within this node
  virtual int intra_size() const = 0;
  virtual int inter_rank() const = 0;  // of this node; nodes are ordered by their lowest rank
  virtual int inter_size() const = 0;  // number of nodes
  virtual std::string name() const = 0;
  /// The simulated link between nodes (ODORI_LINK), as "1 Gbit/s, 50 us"; empty: none. Print it next to every measured
  /// time.
  virtual std::string link() const = 0;

  // ---- Collectives on models. Every rank gives a buffer of the same size on its device. Ordered with the device's
  // other work, as on one stream.
  /// Replaces the gradients on every rank by their mean over all ranks. `pieces`: one range per parameter, ascending.
  /// The gaps between them may be averaged too.
  virtual void all_reduce_mean(Device& device, Buffer& gradients, std::span<const Range> pieces) = 0;
  /// The same with 16-bit elements in messages, half the bytes. Each rank divides by the number of ranks before the
  /// sum, so a sum overflows no sooner than a gradient. Returns the number of infinite or NaN elements of the mean,
  /// equal on all ranks. Throws UsageError if the algorithm supports fp32 only.
  virtual std::int64_t all_reduce_mean_in(Dtype dtype, Device& device, Buffer& gradients,
                                          std::span<const Range> pieces) = 0;
  /// Throws the same UsageError if the algorithm does not support `dtype`. Not collective.
  virtual void require_takes(Dtype dtype) const = 0;
  /// This rank's shard of n elements. The shards of all ranks are disjoint and cover [0, n).
  virtual Range shard(std::size_t n) const = 0;
  /// Replaces this rank's shard() of the gradients by its mean over all ranks. Leaves the other elements unspecified.
  virtual void reduce_scatter_mean(Device& device, Buffer& gradients) = 0;
  /// Replaces each rank's shard() on all ranks by that rank's values.
  virtual void all_gather_shards(Device& device, Buffer& values) = 0;
  /// Replaces the values on every rank by the root's.
  virtual void broadcast(Device& device, Buffer& values, int root = 0) = 0;

  // ---- Collectives on small data in host memory
  virtual void sum(std::span<double> values, CallSite site = CallSite::current()) = 0;
  virtual void broadcast(std::span<std::byte> bytes, int root = 0, CallSite site = CallSite::current()) = 0;
  /// Rank r returns its counts[r] bytes of the root's `all`, which holds the bytes of all ranks in rank order. Every
  /// rank gives `counts`, only the root `all`.
  virtual std::vector<std::byte> scatter(std::span<const std::byte> all, std::span<const std::size_t> counts,
                                         int root = 0, CallSite site = CallSite::current()) = 0;
  /// Returns the concatenated bytes of all ranks, in rank order. All ranks give the same number of bytes.
  virtual std::vector<std::byte> all_gather(std::span<const std::byte> own, CallSite site = CallSite::current()) = 0;
  template <typename Plain>
  std::vector<Plain> all_gather(const Plain& own, CallSite site = CallSite::current());
  virtual void barrier(CallSite site = CallSite::current()) = 0;

  // ---- Collectives on spans of floats in host memory
  /// The group of all ranks, which split() divides into smaller groups. Not collective. Groups remain valid after this
  /// communicator is destroyed.
  virtual ProcessGroup group() const = 0;

  // ---- Point-to-point messages of floats in host memory. Throw Error if the receiver expects another length.
  /// Returns when the receiver has started to receive (MPI_Ssend).
  virtual void send(std::span<const float> values, int to, CallSite site = CallSite::current()) = 0;
  /// Returns when the message has arrived.
  virtual void receive(std::span<float> values, int from, CallSite site = CallSite::current()) = 0;
  /// Receives from any rank (MPI_ANY_SOURCE), and returns that rank. Messages of one rank arrive in the order of
  /// sending.
  virtual int receive_any(std::span<float> values, CallSite site = CallSite::current()) = 0;
  /// Sends and receives at once (MPI_Sendrecv). The buffers must not overlap. With its own rank: a copy.
  virtual void exchange(std::span<const float> sent, int to, std::span<float> received, int from,
                        CallSite site = CallSite::current()) = 0;
  /// Statistics since this communicator was created.
  virtual const TrafficOfRank& traffic() const = 0;
};

template <typename Plain>
std::vector<Plain> Communicator::all_gather(const Plain& own, CallSite site) {
  static_assert(std::is_trivially_copyable_v<Plain>);
  const std::vector<std::byte> bytes = all_gather(std::as_bytes(std::span(&own, 1)), site);
  std::vector<Plain> all(static_cast<std::size_t>(size()));
  std::memcpy(all.data(), bytes.data(), bytes.size());
  return all;
}

/// The names of all communicators, sorted.
std::vector<std::string> communicator_names();

/// Creates a communicator over all ranks of the job. Throws UsageError if `name` is not one of communicator_names(),
/// and for pure_nccl if there is no usable GPU. Collective.
std::unique_ptr<Communicator> create_communicator(const std::string& name);

/// Replaces `values` on every rank by their mean over all ranks. Collective.
using AllReduce = std::function<void(std::span<float> values, Communicator& comm)>;

/// Creates a communicator that averages gradients with a user-defined function, which gets all of them at once in host
/// memory. Collective.
std::unique_ptr<Communicator> create_communicator(AllReduce all_reduce, std::string name);

/// Returns the function that create_communicator(all_reduce, name) got; valid as long as `comm`. Throws Error for any
/// other communicator.
const AllReduce& all_reduce_of(const Communicator& comm);

}  // namespace odori
