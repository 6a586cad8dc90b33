// SPDX-License-Identifier: Apache-2.0
// Simulates ranks as fibers of one thread, with a virtual clock. Computation and messages take virtual time; the values
// of messages are copied.
//
//   const Result result = run(cluster, [&](Rank& rank) {
//     rank.compute(0.010, "forward");
//     rank.exchange(sent, right, received, left);
//   });
//
// A message takes the alpha-beta time of its link, latency + bytes / bandwidth (comm/cost_terms.h). As in comm/link.h,
// a message starts when its send and its receive have both been called. The ranks of a node share one network card,
// which sends one message at a time and receives one at a time, each for bytes / bandwidth; messages queue for it in
// the order in which they could start. The latency does not occupy the card. Links within a node are not shared. Both
// calls return when the message has arrived.
//
// An algorithm takes the time of comm/cost.h if each step starts after all ranks have ended the step before, and less
// if a shared card starts the next step earlier.
//
// Deterministic: events are processed by time, and by rank where times are equal. There is no randomness.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "comm/cost_terms.h"

namespace odori::simulate {

/// A message without values: only its length counts.
struct Bytes {
  std::size_t count = 0;
};

class Simulation;

/// One simulated rank: the argument of the function that run() calls. Valid in that function only.
class Rank {
 public:
  Rank(Simulation& simulation, int rank) : simulation_(simulation), rank_(rank) {}

  int rank() const { return rank_; }
  int size() const;
  int node() const;
  const cost::Cluster& cluster() const;
  /// Returns the simulated seconds since the start.
  double now() const;

  /// Advances the clock of this rank by `seconds`, times its slowdown. `name` is the event's name; it must outlive the
  /// Result. The timeline counts "load", "forward", "backward" and "update" as computation. Throws Error if `seconds`
  /// is negative or not finite.
  void compute(double seconds, const char* name = "forward");

  /// Sends to another rank. Returns when the message has arrived. Tags must match.
  void send(std::span<const float> values, int to, int tag = 0);
  void send(Bytes length, int to, int tag = 0);
  /// Receives from another rank a message of exactly this length.
  void receive(std::span<float> values, int from, int tag = 0);
  void receive(Bytes length, int from, int tag = 0);
  /// Receives from the rank whose send was called first, the lowest rank if several were called at the same time.
  /// Returns that rank.
  int receive_any(std::span<float> values, int tag = 0);
  int receive_any(Bytes length, int tag = 0);
  /// Sends and receives at once. The buffers must not overlap. With its own rank: a copy, which takes no time.
  void exchange(std::span<const float> sent, int to, std::span<float> received, int from, int tag = 0);
  void exchange(Bytes sent, int to, Bytes received, int from, int tag = 0);

 private:
  Simulation& simulation_;
  int rank_;
};

struct Options {
  std::vector<double> slowdown = {};     // factor on compute(), one per rank; empty: 1 each
  double scale = 1;                      // a message of m bytes takes the time of scale * m: for shortened vectors
  bool events = false;                   // record Result::events, 56 bytes per call
  std::vector<int> recorded = {};        // of these ranks only; empty: all
  std::size_t stack_bytes = 256 * 1024;  // of each rank; only the pages that it touches take memory
};

/// Seconds; busy + communicating + idle = Result::seconds.
struct Totals {
  double busy = 0;           // in compute()
  double communicating = 0;  // while a message of this rank was being sent or received
  double idle = 0;           // waiting for another rank or for the node's card, and after the end of its function
  std::size_t bytes_sent = 0, messages_sent = 0;  // without Options::scale
};

struct Event {
  int rank = 0;
  const char* name = "";      // "send", "receive", "exchange", or that of compute()
  double begin = 0, end = 0;  // seconds
  double waited = 0;          // seconds of it without a message in transfer; 0 for compute()
  int peer = -1;              // the rank it sent to or, for a receive, received from; -1 for compute()
  std::size_t bytes = 0;      // sent or, for a receive, received; times Options::scale
  bool operator==(const Event&) const = default;
};

struct Result {
  double seconds = 0;  // until the last rank has ended
  std::vector<Totals> ranks;
  std::vector<Event> events;  // in the order of their end
};

/// Runs `function` once for each rank of the cluster, and returns when all have ended. Throws Error on a deadlock
/// (naming who waits for whom), if the lengths of a message differ, and if a rank throws (naming the rank unless it
/// stopped at a blank, with the code of the rank's Error). The other ranks are then unwound by an exception that is no
/// std::exception.
Result run(const cost::Cluster& cluster, const std::function<void(Rank&)>& function, const Options& options = {});

/// Writes trace.RANK.json of each rank that has recorded events into `directory`, for `./odori timeline`, with times
/// rounded to microseconds and one iteration. A message's span begins when its rank has waited. Throws WriteError.
void write_trace(const Result& result, const std::string& directory);

}  // namespace odori::simulate
