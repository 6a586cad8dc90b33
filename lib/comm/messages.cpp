// Messages between two ranks: MpiCommunicator's send(), receive() and exchange().
//
// A message is its length, as a synchronous send, then its numbers. So a send waits until its receiver has begun to
// receive, whatever its length is and wherever the other rank runs, and a receiver knows of a wrong length before it
// takes the numbers.
#include <algorithm>
#include <cstring>
#include <functional>

#include "comm/chunks.h"
#include "comm/collective.h"
#include "comm/mpi_check.h"
#include "comm/mpi_communicator.h"
#include "core/error.h"
#include "trace/trace.h"

namespace odori {
namespace {

constexpr int length_tag = 1, numbers_tag = 2;  // 0: scatter()'s

/// The watch, the event stream and the grader know of it.
struct Message {
  Message(const char* call, int to, std::size_t sent, int from, std::size_t received)
      : evidence(call, to, sent, from, received),
        span(call, std::max(sent, received) * sizeof(float)),
        exchange({call, to, from}) {}
  evidence::Message evidence;
  trace::Span span;
  Exchange exchange;
};

/// On its way from now on.
class Sending {
 public:
  Sending(std::span<const float> values, int to) : length_(static_cast<std::int64_t>(values.size())) {
    ODORI_MPI(MPI_Issend(&length_, 1, MPI_INT64_T, to, length_tag, MPI_COMM_WORLD, &new_request()));
    for_each_chunk(values.size(), [&](std::size_t offset, int count) {
      ODORI_MPI(MPI_Isend(&values[offset], count, MPI_FLOAT, to, numbers_tag, MPI_COMM_WORLD, &new_request()));
    });
  }
  Sending(const Sending&) = delete;
  Sending& operator=(const Sending&) = delete;

  void wait() { ODORI_MPI(MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE)); }

 private:
  MPI_Request& new_request() { return requests_.emplace_back(MPI_REQUEST_NULL); }

  std::int64_t length_;
  std::vector<MPI_Request> requests_;
};

std::string in_words(std::size_t numbers) { return fmt::format("{} number{}", numbers, numbers == 1 ? "" : "s"); }

void check_length(const char* call, std::size_t sent, int from, std::size_t expected, int rank) {
  require(sent == expected, "{}: rank {} sent {}, and rank {} expected {}.", call, from, in_words(sent), rank,
          expected);
}

void take(const char* call, std::span<float> values, int from, int rank) {
  std::int64_t length = 0;
  ODORI_MPI(MPI_Recv(&length, 1, MPI_INT64_T, from, length_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  check_length(call, static_cast<std::size_t>(length), from, values.size(), rank);
  for_each_chunk(values.size(), [&](std::size_t offset, int count) {
    ODORI_MPI(MPI_Recv(&values[offset], count, MPI_FLOAT, from, numbers_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  });
}

bool overlap(std::span<const float> a, std::span<const float> b) {
  const std::less<const float*> before;
  return !a.empty() && !b.empty() && before(a.data(), b.data() + b.size()) && before(b.data(), a.data() + a.size());
}

void count(Traffic& traffic, std::size_t floats) {
  ++traffic.messages;
  traffic.bytes += static_cast<std::int64_t>(floats * sizeof(float));
}

}  // namespace

void MpiCommunicator::check_peer(const char* call, const char* verb, int peer) const {
  require(0 <= peer && peer < size(), "{}: rank {} was to {} rank {}, but the ranks of this job are 0 to {}.", call,
          rank(), verb, peer, size() - 1);
}

void MpiCommunicator::count_sent(std::size_t floats, int to) {
  const bool here = on_this_node_[static_cast<std::size_t>(to)];
  count(here ? traffic_.sent_within_node : traffic_.sent_to_other_nodes, floats);
}

void MpiCommunicator::count_received(std::size_t floats, int from) {
  const bool here = on_this_node_[static_cast<std::size_t>(from)];
  count(here ? traffic_.received_within_node : traffic_.received_from_other_nodes, floats);
}

void MpiCommunicator::send(std::span<const float> values, int to) {
  const Message message("send", to, values.size(), -1, 0);
  check_peer("send", "send to", to);
  require(to != rank(), "send: rank {} can't send to itself: it would wait for ever.", rank());
  Sending(values, to).wait();
  count_sent(values.size(), to);
}

void MpiCommunicator::receive(std::span<float> values, int from) {
  const Message message("receive", -1, 0, from, values.size());
  check_peer("receive", "receive from", from);
  require(from != rank(), "receive: rank {} can't receive from itself: it would wait for ever.", rank());
  take("receive", values, from, rank());
  count_received(values.size(), from);
}

void MpiCommunicator::exchange(std::span<const float> sent, int to, std::span<float> received, int from) {
  const Message message("exchange", to, sent.size(), from, received.size());
  check_peer("exchange", "send to", to);
  check_peer("exchange", "receive from", from);
  require(!overlap(sent, received),
          "exchange: what rank {} sends and what it receives lie in the same memory. Receive into memory of its own.",
          rank());
  require((to == rank()) == (from == rank()),
          "exchange: rank {0} was to send to rank {1} and to receive from rank {2}. A rank that exchanges with itself "
          "does both with itself.",
          rank(), to, from);
  if (to == rank()) {
    check_length("exchange", sent.size(), from, received.size(), rank());
    if (!sent.empty()) std::memcpy(received.data(), sent.data(), sent.size_bytes());
    return;
  }
  Sending sending(sent, to);
  take("exchange", received, from, rank());
  sending.wait();
  count_sent(sent.size(), to);
  count_received(received.size(), from);
}

}  // namespace odori
