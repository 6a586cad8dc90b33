// SPDX-License-Identifier: Apache-2.0
// Point-to-point messages of a Communicator on simulated ranks: code that uses send(), receive(), receive_any() and
// exchange() runs unchanged on a virtual clock.
//
// All ranks are fibers of one process and share its static and global variables. Code that stores a rank's value in
// such a variable works under mpirun, but not here.
#pragma once

#include <cstdint>

#include "comm/communicator.h"
#include "simulate/simulate.h"

namespace odori::simulate {

/// Supports messages and ranks; other calls throw Error. Valid in the rank's function.
class SimulatedCommunicator final : public Communicator {
 public:
  explicit SimulatedCommunicator(Rank& rank) : rank_(rank), cluster_(rank.cluster()) {}

  int rank() const override { return rank_.rank(); }
  int size() const override { return rank_.size(); }
  int intra_rank() const override { return rank_.rank() % cluster_.ranks_per_node; }
  int intra_size() const override { return cluster_.ranks_per_node; }
  int inter_rank() const override { return rank_.node(); }
  int inter_size() const override { return cluster_.nodes; }
  std::string name() const override { return "simulated"; }
  /// The link between the nodes; empty on one node.
  std::string link() const override;

  void send(std::span<const float> values, int to, CallSite site = CallSite::current()) override;
  void receive(std::span<float> values, int from, CallSite site = CallSite::current()) override;
  int receive_any(std::span<float> values, CallSite site = CallSite::current()) override;
  void exchange(std::span<const float> sent, int to, std::span<float> received, int from,
                CallSite site = CallSite::current()) override;
  const TrafficOfRank& traffic() const override { return traffic_; }

  // ---- Not simulated
  void all_reduce_mean(Device& device, Buffer& gradients, std::span<const Range> pieces) override;
  std::int64_t all_reduce_mean_in(Dtype dtype, Device& device, Buffer& gradients,
                                  std::span<const Range> pieces) override;
  void require_takes(Dtype dtype) const override;
  Range shard(std::size_t n) const override;
  void reduce_scatter_mean(Device& device, Buffer& gradients) override;
  void all_gather_shards(Device& device, Buffer& values) override;
  void broadcast(Device& device, Buffer& values, int root) override;
  void sum(std::span<double> values, CallSite site) override;
  void broadcast(std::span<std::byte> bytes, int root, CallSite site) override;
  std::vector<std::byte> scatter(std::span<const std::byte> all, std::span<const std::size_t> counts, int root,
                                 CallSite site) override;
  std::vector<std::byte> all_gather(std::span<const std::byte> own, CallSite site) override;
  void barrier(CallSite site) override;
  ProcessGroup group() const override;

 private:
  bool is_on_node(int other) const { return other / cluster_.ranks_per_node == rank_.node(); }
  void count_sent(int to, std::size_t values);
  void count_received(int from, std::size_t values);

  Rank& rank_;
  const cost::Cluster& cluster_;
  TrafficOfRank traffic_;
};

}  // namespace odori::simulate
