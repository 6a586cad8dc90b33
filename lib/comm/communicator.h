// SPDX-License-Identifier: Apache-2.0
// Communication between ranks. One file of this folder for each algorithm; README.md here compares them.
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

/// What a rank has sent and received: messages, and what MPI's collectives on models come to (steps.h).
struct TrafficOfRank {
  Traffic sent_within_node, received_within_node, sent_to_other_nodes, received_from_other_nodes;
};

class Communicator {
 public:
  virtual ~Communicator() = default;

  // ---- Who is who. Nodes differ by name; ODORI_NODES=0,0,1,1 gives each rank's node instead, so that one
  // machine can play several.
  virtual int rank() const = 0;        // of all ranks
  virtual int size() const = 0;        // how many ranks
  virtual int intra_rank() const = 0;  // within this node
  virtual int intra_size() const = 0;
  virtual int inter_rank() const = 0;  // this node, ordered by each node's lowest rank
  virtual int inter_size() const = 0;  // how many nodes
  virtual std::string name() const = 0;
  /// The link that is simulated between the nodes (ODORI_LINK), as "1 Gbit/s, 50 us"; empty: none. Code that shows a
  /// time shows this with it.
  virtual std::string link() const = 0;

  // ---- Models. All collective: every rank calls, with buffers of the same size, each of this rank's device. They are
  // ordered with the device's other work, as on one stream.
  /// Every rank's gradients become their mean over all ranks, in these pieces: one range per parameter, ascending. The
  /// gaps between them (model/classifier.cpp) may be averaged too.
  virtual void all_reduce_mean(Device& device, Buffer& gradients, std::span<const Range> pieces) = 0;
  /// The same with 16-bit elements in the messages, half the bytes: each rank divides its gradients by the number of
  /// ranks before they are added, so that a sum overflows no sooner than a gradient does. Returns how many elements of
  /// the mean are infinite or nan, the same on every rank. Throws UsageError where the algorithm takes fp32 alone.
  virtual std::int64_t all_reduce_mean_in(Dtype dtype, Device& device, Buffer& gradients,
                                          std::span<const Range> pieces) = 0;
  /// Throws that error, before anything is exchanged.
  virtual void require_takes(Dtype dtype) const = 0;
  /// This rank's part of n elements: the parts of all ranks are everything, once.
  virtual Range part(std::size_t n) const = 0;
  /// This rank's part() of the gradients becomes their mean over all ranks. The other elements are unspecified
  /// afterwards.
  virtual void reduce_scatter_mean(Device& device, Buffer& gradients) = 0;
  /// Every rank gets each part's values from the rank whose part() it is.
  virtual void all_gather_parts(Device& device, Buffer& values) = 0;
  /// Every rank gets the root's values.
  virtual void broadcast(Device& device, Buffer& values, int root = 0) = 0;

  // ---- Small things of host memory. All collective.
  virtual void sum(std::span<double> values, CallSite site = CallSite::current()) = 0;
  virtual void broadcast(std::span<std::byte> bytes, int root = 0, CallSite site = CallSite::current()) = 0;
  /// Rank r receives counts[r] bytes of the root's `all` (ranks in order). counts is needed on every rank, `all` on
  /// the root only.
  virtual std::vector<std::byte> scatter(std::span<const std::byte> all, std::span<const std::size_t> counts,
                                         int root = 0, CallSite site = CallSite::current()) = 0;
  /// Every rank gets the contributions of all ranks, in the order of the ranks. All have the same number of bytes.
  virtual std::vector<std::byte> all_gather(std::span<const std::byte> own, CallSite site = CallSite::current()) = 0;
  template <typename Plain>
  std::vector<Plain> all_gather(const Plain& own, CallSite site = CallSite::current());
  virtual void barrier(CallSite site = CallSite::current()) = 0;

  // ---- Spans of floats in host memory
  /// All ranks, for collectives on spans, and to be split into groups of some of them. Not collective. Groups remain
  /// valid after this communicator is destroyed.
  virtual ProcessGroup group() const = 0;

  // ---- Messages between two ranks, in host memory; of one length on both sides, or an Error. Not collective.
  /// Waits until the receiver takes it.
  virtual void send(std::span<const float> values, int to, CallSite site = CallSite::current()) = 0;
  /// Waits until it has come.
  virtual void receive(std::span<float> values, int from, CallSite site = CallSite::current()) = 0;
  /// The same from whichever rank sends next. Returns that rank. Of several that wait, any may be the first; messages
  /// of one rank come in the order in which they were sent.
  virtual int receive_any(std::span<float> values, CallSite site = CallSite::current()) = 0;
  /// Both at once, in different memory. With oneself it copies.
  virtual void exchange(std::span<const float> sent, int to, std::span<float> received, int from,
                        CallSite site = CallSite::current()) = 0;
  /// Since this communicator was made.
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

/// Those that there are: one file each (README.md here).
std::vector<std::string> communicator_names();

/// Throws UsageError for a name that isn't one of these, and for pure_nccl where GPUs can't be used. Collective over
/// all ranks of the job.
std::unique_ptr<Communicator> create_communicator(const std::string& name);

/// Replaces `numbers` on every rank by their mean over all ranks. Collective.
using AllReduce = std::function<void(std::span<float> numbers, Communicator& comm)>;

/// One that averages gradients by a function of yours, all of them at once in host memory. Collective.
std::unique_ptr<Communicator> create_communicator(AllReduce all_reduce, std::string name);

/// Returns the function of a communicator that create_communicator(all_reduce, name) made, valid as long as that.
/// Throws Error for another communicator.
const AllReduce& all_reduce_of(const Communicator& comm);

}  // namespace odori
