// SPDX-License-Identifier: Apache-2.0
// What all communicators on MPI have in common: everything but the algorithm that averages.
#pragma once

#include "comm/communicator.h"
#include "comm/group.h"
#include "comm/interconnect.h"

namespace odori {

/// Can the communicator of this name average 16-bit elements?
bool takes_half_precision(const std::string& name);

/// How much of a long vector is averaged at once: the slice, and the temporary memory that MPI takes for it, fit in
/// the cache, also for the factor after it. Two ranks of one machine average the VGG's 57 MiB in half the time that
/// one call and one pass take.
inline constexpr std::size_t slice_bytes = std::size_t{2} << 20;

/// Works on all ranks of the job (MPI_COMM_WORLD). What lies in a GPU's memory goes through page-locked host memory,
/// whether or not this MPI could read it there: that works with each MPI.
class MpiCommunicator : public Communicator {
 public:
  /// How many elements an algorithm gets at once: a slice, or all, for those that send messages and cut them
  /// themselves.
  enum class Cut { slices, whole };

  /// Collective. Throws Error, on every rank, where there is no MpiSession, or ODORI_NODES or ODORI_LINK can't
  /// be used.
  explicit MpiCommunicator(Cut cut = Cut::slices);

  int rank() const final { return interconnect_->ranks().rank; }
  int size() const final { return interconnect_->ranks().size; }
  int intra_rank() const final { return interconnect_->ranks().intra_rank; }
  int intra_size() const final { return interconnect_->ranks().intra_size; }
  int inter_rank() const final { return interconnect_->ranks().inter_rank; }
  int inter_size() const final { return interconnect_->ranks().inter_size; }

  /// From the first piece to the last as one vector, whatever the parameters are.
  void all_reduce_mean(Device& device, Buffer& gradients, std::span<const Range> pieces) override;
  void require_takes(Dtype dtype) const final;
  std::int64_t all_reduce_mean_in(Dtype dtype, Device& device, Buffer& gradients, std::span<const Range> pieces) final;
  Range part(std::size_t n) const final;
  void reduce_scatter_mean(Device& device, Buffer& gradients) override;
  void all_gather_parts(Device& device, Buffer& values) override;
  void broadcast(Device& device, Buffer& values, int root) override;
  void sum(std::span<double> values, CallSite site = CallSite::current()) final;
  void broadcast(std::span<std::byte> bytes, int root, CallSite site = CallSite::current()) final;
  std::vector<std::byte> all_gather(std::span<const std::byte> own, CallSite site = CallSite::current()) final;
  std::vector<std::byte> scatter(std::span<const std::byte> all, std::span<const std::size_t> counts, int root,
                                 CallSite site = CallSite::current()) final;
  void barrier(CallSite site = CallSite::current()) final;
  ProcessGroup group() const final { return ProcessGroup(world_); }
  void send(std::span<const float> values, int to, CallSite site = CallSite::current()) final;
  void receive(std::span<float> values, int from, CallSite site = CallSite::current()) final;
  int receive_any(std::span<float> values, CallSite site = CallSite::current()) final;
  void exchange(std::span<const float> sent, int to, std::span<float> received, int from,
                CallSite site = CallSite::current()) final;
  const TrafficOfRank& traffic() const final;
  std::string link() const final { return interconnect_->link() ? in_words(interconnect_->link()->speed()) : ""; }

 protected:
  /// THE ALGORITHM. Replaces `numbers` on every rank by their mean over all ranks. Without another one: MPI's own.
  virtual void all_reduce(std::span<float> numbers);
  /// Can it do that to packed 16-bit elements as well?
  virtual bool takes_packed() const { return takes_half_precision(name()); }

  /// From the first of these pieces to the end of the last one's cache line; without pieces, everything.
  static Range range_of(const Buffer& values, std::span<const Range> pieces);
  /// For all_reduce_mean(): every rank's values in this range become their mean over all ranks, by all_reduce().
  /// Collective.
  void average(Device& device, Buffer& values, Range range);
  /// Calls `work` with consecutive slices of the range, in host memory, at least once, and writes the
  /// results back to the device.
  void in_slices(Device& device, Buffer& values, Range range, const std::function<void(std::span<float>)>& work);
  /// The type of the elements in the messages of the current mean.
  Dtype dtype() const { return dtype_; }
  /// For an overridden all_reduce_mean() in 16 bits: how many elements of the mean are infinite or nan.
  void count_not_finite(std::int64_t n) { not_finite_ += n; }
  /// Multiplies by 1/P. Packed elements were multiplied before they were packed.
  void divide(std::span<float> numbers) const;

  /// All ranks.
  const Group& world() const { return world_; }
  // ---- For algorithms' constructors: groups of ranks. Collective.
  /// The ranks of this node.
  Group intra() const { return split(inter_rank(), intra_rank()); }
  /// The ranks with this intra_rank, one a node.
  Group inter() const { return split(intra_rank(), inter_rank()); }
  /// How many ranks each node has, by inter_rank.
  std::vector<int> ranks_of_nodes() const;

 private:
  Group split(int color, int key) const;
  /// Calls `work` with consecutive parts of the range, in host memory, none longer than `most` floats; at least once.
  void on_host(Device& device, Buffer& values, Range range, std::size_t most,
               const std::function<void(std::span<float>)>& work);
  /// all_reduce() of the packed elements.
  void all_reduce_packed(std::span<float> numbers);
  void check_peer(const char* call, const char* verb, int peer) const;

  Cut cut_;
  std::shared_ptr<Interconnect> interconnect_;
  Group world_;
  Buffer staging_;             // page-locked, where the device is a GPU
  Dtype dtype_ = Dtype::fp32;  // of the mean that is under way
  std::vector<float> packed_;
  std::int64_t not_finite_ = 0;
};

}  // namespace odori
