// What all communicators on MPI have in common: everything but how gradients are averaged.
#pragma once

#include "comm/communicator.h"
#include "comm/ranks.h"

namespace odori {

/// Stands on all ranks of the job (MPI_COMM_WORLD). What lies in a GPU's memory goes through page-locked host memory,
/// whether or not this MPI could read it there: that works with each MPI.
class MpiCommunicator : public Communicator {
 public:
  /// Collective. Throws Error, on every rank, where there is no MpiSession or ODORI_NODES can't be used.
  MpiCommunicator();

  int rank() const final { return ranks_.rank; }
  int size() const final { return ranks_.size; }
  int intra_rank() const final { return ranks_.intra_rank; }
  int intra_size() const final { return ranks_.intra_size; }
  int inter_rank() const final { return ranks_.inter_rank; }
  int inter_size() const final { return ranks_.inter_size; }

  void broadcast(Device& device, Buffer& values, int root) override;
  void sum(std::span<double> values) final;
  void broadcast(std::span<std::byte> bytes, int root) final;
  std::vector<std::byte> scatter(std::span<const std::byte> all, std::span<const std::size_t> counts, int root) final;
  void barrier() final;

 protected:
  /// For mean(): every rank's values in this range become their mean over all ranks. Collective.
  void average(Device& device, Buffer& values, Range range);

 private:
  /// Calls `exchange` with consecutive parts of the range, in host memory, none longer than `most` floats.
  template <typename Exchange>
  void on_host(Device& device, Buffer& values, Range range, std::size_t most, Exchange exchange);

  Ranks ranks_;
  Buffer staging_;  // page-locked, where the device is a GPU
};

// One algorithm a file.
std::unique_ptr<Communicator> make_naive_communicator();
std::unique_ptr<Communicator> make_flat_communicator();
std::unique_ptr<Communicator> make_pure_nccl_communicator();

}  // namespace odori
