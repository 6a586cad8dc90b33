// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <vector>

#include "backend/device_pool.h"
#include "errors/error.h"
#include "observe/hooks.h"
#include "ring_support.h"
#include "simulate_ring.h"
#include "tried_numbers.h"

namespace odori {
namespace {

/// The result of one rank.
struct Seen {
  std::size_t wrong = 0, first = 0;  // number of wrong elements, and the position of the first
  float value = 0, expected = 0;     // of that element
  Traffic sent;
};

Seen compare(std::span<const float> seen, std::span<const float> truth) {
  Seen result;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    const double tolerance = 2e-6 * std::abs(truth[i]);  // rounding; less than the share of one of 64 ranks
    if (std::abs(double{seen[i]} - truth[i]) <= tolerance) continue;
    if (result.wrong++ == 0) result.first = i, result.value = seen[i], result.expected = truth[i];
  }
  return result;
}

void print(const std::vector<Seen>& all, std::size_t length) {
  std::size_t wrong = 0;
  std::int64_t messages = 0, bytes = 0;
  std::vector<std::size_t> ranks;
  for (std::size_t r = 0; r < all.size(); ++r) {
    wrong += all[r].wrong;
    if (all[r].wrong > 0) ranks.push_back(r);
    messages = std::max(messages, all[r].sent.messages);
    bytes = std::max(bytes, all[r].sent.bytes);
  }
  const std::size_t n = all.size();
  const double whole = static_cast<double>(length * sizeof(float)), least = 2.0 * static_cast<double>(n - 1);
  fmt::print("Mean of {} numbers over {} ranks: {}\n", length, n, ranks.empty() ? "right on every rank" : "WRONG");
  if (!ranks.empty()) {
    const Seen& first = all[ranks.front()];
    fmt::print("  {} numbers differ, on {} of {} ranks; the first is number {} of rank {}: {}, and should be {}\n",
               wrong, ranks.size(), n, first.first, ranks.front(), first.value, first.expected);
  }
  fmt::print("  the busiest rank    messages sent    bytes sent\n");
  fmt::print("  this one         {:16}  {:12}\n", messages, bytes);
  fmt::print("  a ring           {:16.0f}  {:12.0f}    2 (n - 1) messages, 2 (n - 1) / n of {:.0f} bytes\n", least,
             least / static_cast<double>(n) * whole, whole);
}

Traffic sent_by(const Communicator& comm) {
  const TrafficOfRank& traffic = comm.traffic();
  return {traffic.sent_within_node.messages + traffic.sent_to_other_nodes.messages,
          traffic.sent_within_node.bytes + traffic.sent_to_other_nodes.bytes};
}

}  // namespace

void try_all_reduce(Communicator& comm, std::size_t length) {
  if (simulate_if_asked(comm)) return;
  const observe::CollectiveScope call("try_all_reduce()");
  DevicePool pool({.request = DeviceRequest::cpu});
  Device& device = pool.device(0);
  std::vector<float> numbers(length), truth(length);
  for (std::size_t i = 0; i < length; ++i) numbers[i] = tried_number(comm.rank(), i);
  const Range all{0, length};
  const auto mean = [&](Communicator& by, std::vector<float>& result) {
    Buffer buffer = device.allocate(length);
    device.write(buffer, 0, numbers);
    by.all_reduce_mean(device, buffer, {&all, 1});
    device.read(buffer, 0, result);
  };
  mean(*create_communicator("flat"), truth);
  const Traffic before = sent_by(comm);
  mean(comm, numbers);
  const Traffic after = sent_by(comm);
  observe::on_values(numbers);

  Seen seen = compare(numbers, truth);
  seen.sent = {after.messages - before.messages, after.bytes - before.bytes};
  const std::vector<Seen> of_all = comm.all_gather(seen);
  if (comm.rank() != 0) return;
  print(of_all, length);
  if (!observe::enabled()) fmt::print("On up to 1024 simulated ranks: ./odori simulate ring\n");
}

}  // namespace odori
