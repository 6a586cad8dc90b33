// SPDX-License-Identifier: Apache-2.0
// The base class of all communicators on MPI: everything but the averaging algorithm.
#pragma once

#include "comm/communicator.h"
#include "comm/group.h"
#include "comm/interconnect.h"

namespace odori {

/// True if the communicator of this name can average 16-bit elements.
bool takes_half_precision(const std::string& name);

/// Long vectors are averaged in slices of this size: a slice and MPI's temporary memory for it fit in the cache until
/// it has been divided. lib/bench/RESULTS.md has the effect.
inline constexpr std::size_t slice_bytes = std::size_t{2} << 20;

/// A communicator over all ranks of the job (MPI_COMM_WORLD). Data in GPU memory is copied through page-locked host
/// memory, also if the MPI is CUDA-aware, so it works with every MPI.
class MpiCommunicator : public Communicator {
 public:
  /// Argument of all_reduce(): slices of slice_bytes, or the whole vector, for algorithms that divide it themselves.
  enum class Cut { slices, whole };

  /// Throws Error on every rank if there is no MpiSession, or if ODORI_NODES or ODORI_LINK cannot be used. Collective.
  explicit MpiCommunicator(Cut cut = Cut::slices);

  int rank() const final { return interconnect_->ranks().rank; }
  int size() const final { return interconnect_->ranks().size; }
  int intra_rank() const final { return interconnect_->ranks().intra_rank; }
  int intra_size() const final { return interconnect_->ranks().intra_size; }
  int inter_rank() const final { return interconnect_->ranks().inter_rank; }
  int inter_size() const final { return interconnect_->ranks().inter_size; }

  /// Averages everything from the first piece to the last as one vector.
  void all_reduce_mean(Device& device, Buffer& gradients, std::span<const Range> pieces) override;
  void require_takes(Dtype dtype) const final;
  std::int64_t all_reduce_mean_in(Dtype dtype, Device& device, Buffer& gradients, std::span<const Range> pieces) final;
  Range shard(std::size_t n) const final;
  void reduce_scatter_mean(Device& device, Buffer& gradients) override;
  void all_gather_shards(Device& device, Buffer& values) override;
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
  /// THE ALGORITHM. Replaces the values of `slice` on every rank by their mean over all ranks. Default: MPI_Allreduce.
  virtual void all_reduce(std::span<float> slice);
  /// True if all_reduce() also supports packed 16-bit elements.
  virtual bool takes_packed() const { return takes_half_precision(name()); }

  /// The range from the first piece to the end of the last one's cache line; without pieces, everything.
  static Range range_of(const Buffer& values, std::span<const Range> pieces);
  /// Replaces the values in `range` on every rank by their mean over all ranks, with all_reduce(). Collective.
  void average(Device& device, Buffer& values, Range range);
  /// Calls `work` with consecutive slices of the range in host memory, at least once, and writes the results back to
  /// the device.
  void in_slices(Device& device, Buffer& values, Range range, const std::function<void(std::span<float>)>& work);
  /// Type of the elements in the messages of the current all-reduce.
  Dtype dtype() const { return dtype_; }
  /// Adds to the result of all_reduce_mean_in(): infinite or NaN elements that an overridden all_reduce_mean() found.
  void count_not_finite(std::int64_t n) { not_finite_ += n; }
  /// Multiplies fp32 by 1/P; does nothing for packed elements, which were divided before packing.
  void divide(std::span<float> slice) const;

  /// The group of all ranks.
  const Group& world() const { return world_; }
  // ---- Groups of ranks, for constructors of algorithms. Collective.
  /// The ranks of this node.
  Group intra() const { return split(inter_rank(), intra_rank()); }
  /// The ranks with the same intra_rank: one per node.
  Group inter() const { return split(intra_rank(), inter_rank()); }
  /// Number of ranks of each node, by inter_rank.
  std::vector<int> ranks_of_nodes() const;

 private:
  Group split(int color, int key) const;
  /// As in_slices(), with slices of at most `most` floats.
  void on_host(Device& device, Buffer& values, Range range, std::size_t most,
               const std::function<void(std::span<float>)>& work);
  /// Packs, calls all_reduce(), and unpacks.
  void all_reduce_packed(std::span<float> slice);
  void check_peer(const char* call, const char* verb, int peer) const;

  Cut cut_;
  std::shared_ptr<Interconnect> interconnect_;
  Group world_;
  Buffer staging_;             // page-locked; only for GPUs
  Dtype dtype_ = Dtype::fp32;  // of the all-reduce in progress
  std::vector<float> packed_;
  std::int64_t not_finite_ = 0;
};

}  // namespace odori
