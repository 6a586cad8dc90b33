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
  void send(std::span<const float> values, int to) final;
  void receive(std::span<float> values, int from) final;
  void exchange(std::span<const float> sent, int to, std::span<float> received, int from) final;
  const TrafficOfRank& traffic() const final { return traffic_; }

 protected:
  /// For mean(): every rank's values in this range become their mean over all ranks. Collective.
  void average(Device& device, Buffer& values, Range range);
  /// Calls `work` with consecutive parts of the range, in host memory, none longer than `most` floats; at least once.
  void on_host(Device& device, Buffer& values, Range range, std::size_t most,
               const std::function<void(std::span<float>)>& work);

 private:
  void check_peer(const char* call, const char* verb, int peer) const;
  void count_sent(std::size_t floats, int to);
  void count_received(std::size_t floats, int from);

  Ranks ranks_;
  std::vector<bool> on_this_node_;  // which ranks are
  TrafficOfRank traffic_;
  Buffer staging_;  // page-locked, where the device is a GPU
};

/// Averages by this function, all gradients at once. Its messages are no learner's.
std::unique_ptr<Communicator> make_all_reduce_communicator(AllReduce all_reduce, std::string name);

// One algorithm a file.
std::unique_ptr<Communicator> make_naive_communicator();
std::unique_ptr<Communicator> make_flat_communicator();
std::unique_ptr<Communicator> make_ring_communicator();
std::unique_ptr<Communicator> make_pure_nccl_communicator();

}  // namespace odori
