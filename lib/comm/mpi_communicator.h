// What all communicators on MPI have in common: everything but how gradients are averaged.
#pragma once

#include "comm/communicator.h"
#include "comm/ranks.h"

namespace odori {

/// Stands on all ranks of the job (MPI_COMM_WORLD), and on buffers in host memory.
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

  void broadcast(Buffer& values, int root) final;
  void sum(std::span<double> values) final;
  void broadcast(std::span<std::byte> bytes, int root) final;
  std::vector<std::byte> scatter(std::span<const std::byte> all, std::span<const std::size_t> counts, int root) final;
  void barrier() final;

 protected:
  /// For mean(): every rank's values become their mean over all ranks. Collective.
  void average(std::span<float> values);

 private:
  Ranks ranks_;
};

// One algorithm a file.
std::unique_ptr<Communicator> make_naive_communicator();
std::unique_ptr<Communicator> make_flat_communicator();

}  // namespace odori
