// SPDX-License-Identifier: Apache-2.0
#include "simulate/simulated_communicator.h"

#include "errors/error.h"

namespace odori::simulate {
namespace {

[[noreturn]] void refuse(const char* call) {
  fail({"{}: simulated ranks send messages alone, by send, receive, receive_any and exchange. Use these in what is to "
        "be "
        "simulated.",
        "{}: シミュレートしたランクで使えるのは send、receive、receive_any、exchange "
        "だけです。シミュレートする関数では、これらを"
        "使ってください。"},
       call);
}

void add(Traffic& traffic, std::size_t values) {
  ++traffic.messages;
  traffic.bytes += static_cast<std::int64_t>(values * sizeof(float));
}

}  // namespace

std::string SimulatedCommunicator::link() const { return cluster_.nodes > 1 ? in_words(cluster_.between) : ""; }

void SimulatedCommunicator::count_sent(int to, std::size_t values) {
  add(is_on_node(to) ? traffic_.sent_within_node : traffic_.sent_to_other_nodes, values);
}

void SimulatedCommunicator::count_received(int from, std::size_t values) {
  add(is_on_node(from) ? traffic_.received_within_node : traffic_.received_from_other_nodes, values);
}

void SimulatedCommunicator::send(std::span<const float> values, int to, CallSite) {
  rank_.send(values, to);
  count_sent(to, values.size());
}

void SimulatedCommunicator::receive(std::span<float> values, int from, CallSite) {
  rank_.receive(values, from);
  count_received(from, values.size());
}

int SimulatedCommunicator::receive_any(std::span<float> values, CallSite) {
  const int from = rank_.receive_any(values);
  count_received(from, values.size());
  return from;
}

void SimulatedCommunicator::exchange(std::span<const float> sent, int to, std::span<float> received, int from,
                                     CallSite) {
  rank_.exchange(sent, to, received, from);
  if (to == rank()) return;  // a copy
  count_sent(to, sent.size());
  count_received(from, received.size());
}

void SimulatedCommunicator::all_reduce_mean(Device&, Buffer&, std::span<const Range>) { refuse("all_reduce_mean"); }
std::int64_t SimulatedCommunicator::all_reduce_mean_in(Dtype, Device&, Buffer&, std::span<const Range>) {
  refuse("all_reduce_mean_in");
}
void SimulatedCommunicator::require_takes(Dtype) const { refuse("require_takes"); }
Range SimulatedCommunicator::shard(std::size_t) const { refuse("shard"); }
void SimulatedCommunicator::reduce_scatter_mean(Device&, Buffer&) { refuse("reduce_scatter_mean"); }
void SimulatedCommunicator::all_gather_shards(Device&, Buffer&) { refuse("all_gather_shards"); }
void SimulatedCommunicator::broadcast(Device&, Buffer&, int) { refuse("broadcast"); }
void SimulatedCommunicator::sum(std::span<double>, CallSite) { refuse("sum"); }
void SimulatedCommunicator::broadcast(std::span<std::byte>, int, CallSite) { refuse("broadcast"); }
std::vector<std::byte> SimulatedCommunicator::scatter(std::span<const std::byte>, std::span<const std::size_t>, int,
                                                      CallSite) {
  refuse("scatter");
}
std::vector<std::byte> SimulatedCommunicator::all_gather(std::span<const std::byte>, CallSite) { refuse("all_gather"); }
void SimulatedCommunicator::barrier(CallSite) { refuse("barrier"); }
ProcessGroup SimulatedCommunicator::group() const { refuse("group"); }

}  // namespace odori::simulate
