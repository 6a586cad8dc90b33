// SPDX-License-Identifier: Apache-2.0
// Messages between two ranks: MpiCommunicator's send(), receive(), receive_any() and exchange().
//
// A message is a header with its length, as a synchronous send, and then its values. So a send of any length waits
// until its receiver has begun to receive, and a receiver detects a wrong length before it receives values. Over a
// simulated link (link.h) the header contains the time at which the sender was ready. The receiver charges the message
// to the network cards, and replies with its time of arrival; both sleep until then.
#include <algorithm>
#include <cstring>
#include <functional>

#include "comm/chunks.h"
#include "comm/collective.h"
#include "comm/mpi_check.h"
#include "comm/mpi_communicator.h"
#include "errors/error.h"
#include "observe/hooks.h"
#include "observe/refusal.h"
#include "trace/trace.h"

namespace odori {
namespace {

constexpr int head_tag = 1, values_tag = 2, arrival_tag = 3;  // 0: scatter()'s

/// Reports the message to the watchdog, the event stream and the observer.
struct Message {
  Message(const char* call, CallSite site, int to, std::size_t sent, int from, std::size_t received)
      : scope(call, to, sent, from, received),
        span(call, std::max(sent, received) * sizeof(float)),
        blocking(rank_table::Call{call, to, from, site}) {}
  observe::MessageScope scope;
  trace::Span span;
  BlockingCall blocking;
};

struct Head {
  std::int64_t length = 0;
  Link::Time there = 0;  // when its sender was
  std::int64_t from = 0;
};
constexpr int head_size = sizeof(Head) / sizeof(std::int64_t);

/// On its way from now on.
class Sending {
 public:
  Sending(std::span<const float> values, int from, int to, bool over_link)
      : over_link_(over_link), head_{static_cast<std::int64_t>(values.size()), Link::now(), from} {
    if (over_link) ODORI_MPI(MPI_Irecv(&arrival_, 1, MPI_INT64_T, to, arrival_tag, MPI_COMM_WORLD, &new_request()));
    ODORI_MPI(MPI_Issend(&head_, head_size, MPI_INT64_T, to, head_tag, MPI_COMM_WORLD, &new_request()));
    for_each_chunk(values.size(), [&](std::size_t offset, int count) {
      ODORI_MPI(MPI_Isend(&values[offset], count, MPI_FLOAT, to, values_tag, MPI_COMM_WORLD, &new_request()));
    });
  }
  Sending(const Sending&) = delete;
  Sending& operator=(const Sending&) = delete;

  /// Until it is received; over a link, the result is when it arrives.
  Link::Time wait() {
    if (over_link_) await({requests_.data(), 2});  // the receiver is there: the values follow at once
    ODORI_MPI(MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE));
    return arrival_;
  }

 private:
  MPI_Request& new_request() { return requests_.emplace_back(MPI_REQUEST_NULL); }

  bool over_link_;
  Head head_;
  Link::Time arrival_ = 0;
  std::vector<MPI_Request> requests_;
};

std::string in_words(std::size_t elements) {
  return in_language({"{} element{}", "{} 要素"}, elements, elements == 1 ? "" : "s");
}

void check_length(const char* call, std::size_t sent, int from, std::size_t expected, int rank) {
  refusal::require(refusal::other_length, sent == expected,
                   {"{}: rank {} sent {}, and rank {} expected {}.",
                    "{}: ランク {} が送ったのは {}ですが、ランク {} は {}を待っていました。"},
                   call, from, in_words(sent), rank, in_words(expected));
}

/// `from` may be MPI_ANY_SOURCE; it becomes the sender's rank. Over a link, the result is when it arrives.
Link::Time take(const char* call, std::span<float> values, int& from, const Interconnect& interconnect) {
  const int rank = interconnect.ranks().rank;
  const Link::Time own = Link::now();
  Link* const link = interconnect.link();
  Link::Time arrival = 0;
  Head head;
  MPI_Request request = MPI_REQUEST_NULL;
  ODORI_MPI(MPI_Irecv(&head, head_size, MPI_INT64_T, from, head_tag, MPI_COMM_WORLD, &request));
  if (link) await({&request, 1});
  ODORI_MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
  from = static_cast<int>(head.from);
  check_length(call, static_cast<std::size_t>(head.length), from, values.size(), rank);
  if (link) {
    arrival =
        link->carry(interconnect.load(from, rank, static_cast<double>(values.size_bytes())), std::max(own, head.there));
    ODORI_MPI(MPI_Send(&arrival, 1, MPI_INT64_T, from, arrival_tag, MPI_COMM_WORLD));
  }
  for_each_chunk(values.size(), [&](std::size_t offset, int count) {
    ODORI_MPI(MPI_Recv(&values[offset], count, MPI_FLOAT, from, values_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  });
  return arrival;
}

bool overlap(std::span<const float> a, std::span<const float> b) {
  const std::less<const float*> before;
  return !a.empty() && !b.empty() && before(a.data(), b.data() + b.size()) && before(b.data(), a.data() + a.size());
}

std::int64_t length_in_bytes(std::span<const float> values) { return static_cast<std::int64_t>(values.size_bytes()); }

}  // namespace

void MpiCommunicator::check_peer(const char* call, const char* verb, int peer) const {
  require(0 <= peer && peer < size(),
          {"{0}: rank {1} was to {2} rank {3}, but the ranks of this job are 0 to {4}.",
           "{0}: ランク {1} の相手としてランク {3} が指定されましたが、このジョブのランクは 0 から {4} です。"},
          call, rank(), verb, peer, size() - 1);
}

void MpiCommunicator::send(std::span<const float> values, int to, CallSite site) {
  const Message message("send", site, to, values.size(), -1, 0);
  check_peer("send", "send to", to);
  require(to != rank(),
          {"send: rank {} can't send to itself: it would wait for ever.",
           "send: ランク {} は自分自身には送れません。いつまでも待つことになります。"},
          rank());
  const Passage passage(Sending(values, rank(), to, interconnect_->link()).wait());
  interconnect_->count(rank(), to, 1, length_in_bytes(values));
}

void MpiCommunicator::receive(std::span<float> values, int from, CallSite site) {
  const Message message("receive", site, -1, 0, from, values.size());
  check_peer("receive", "receive from", from);
  require(from != rank(),
          {"receive: rank {} can't receive from itself: it would wait for ever.",
           "receive: ランク {} は自分自身からは受け取れません。いつまでも待つことになります。"},
          rank());
  const Passage passage(take("receive", values, from, *interconnect_));
  interconnect_->count(from, rank(), 1, length_in_bytes(values));
}

int MpiCommunicator::receive_any(std::span<float> values, CallSite site) {
  const Message message("receive_any", site, -1, 0, rank_table::several, values.size());
  require(size() > 1, {"receive_any: this job has one rank, so that no other one can send.",
                       "receive_any: このジョブは 1 ランクなので、送るランクがほかにありません。"});
  int from = MPI_ANY_SOURCE;
  const Passage passage(take("receive_any", values, from, *interconnect_));
  interconnect_->count(from, rank(), 1, length_in_bytes(values));
  return from;
}

void MpiCommunicator::exchange(std::span<const float> sent, int to, std::span<float> received, int from,
                               CallSite site) {
  const Message message("exchange", site, to, sent.size(), from, received.size());
  check_peer("exchange", "send to", to);
  check_peer("exchange", "receive from", from);
  require(!overlap(sent, received),
          {"exchange: what rank {} sends and what it receives lie in the same memory. Receive into memory of its own.",
           "exchange: ランク {} の送信データと受信先が同じメモリにあります。受信先には別のメモリを使ってください。"},
          rank());
  require((to == rank()) == (from == rank()),
          {"exchange: rank {0} was to send to rank {1} and to receive from rank {2}. A rank that exchanges with itself "
           "does both with itself.",
           "exchange: ランク {0} の送信先はランク {1}、受信元はランク {2} "
           "です。自分自身と交換するときは、送信も受信も自分自身に"
           "してください。"},
          rank(), to, from);
  if (to == rank()) {
    check_length("exchange", sent.size(), from, received.size(), rank());
    if (!sent.empty()) std::memcpy(received.data(), sent.data(), sent.size_bytes());
    return;
  }
  Sending sending(sent, rank(), to, interconnect_->link());
  const Passage in(take("exchange", received, from, *interconnect_)), out(sending.wait());
  interconnect_->count(rank(), to, 1, length_in_bytes(sent));
  interconnect_->count(from, rank(), 1, length_in_bytes(received));
}

}  // namespace odori
