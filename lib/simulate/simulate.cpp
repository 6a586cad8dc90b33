// SPDX-License-Identifier: Apache-2.0
#include "simulate/simulate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <optional>
#include <queue>
#include <system_error>
#include <utility>

#include "errors/error.h"
#include "errors/language.h"
#include "threads/fiber.h"

namespace odori::simulate {

/// The peer of receive_any().
constexpr int any_rank = -2;

/// Unwinds a rank when another one has failed.
struct Stopped {};

/// One direction of a rank's call: what it sends, or what it receives.
struct Part {
  int peer = -1;  // or any_rank
  std::size_t bytes = 0;
  const float* sent = nullptr;
  float* received = nullptr;  // both null: without values
  int tag = 0;
  bool open = false;          // its message has not started
  double begin = 0, end = 0;  // of its message
  double seconds() const { return end - begin; }
};

namespace {

Part part(std::span<const float> values, int to, int tag) {
  return {.peer = to, .bytes = values.size_bytes(), .sent = values.data(), .tag = tag, .open = true};
}
Part part(std::span<float> values, int from, int tag) {
  return {.peer = from, .bytes = values.size_bytes(), .received = values.data(), .tag = tag, .open = true};
}
Part part(Bytes length, int peer, int tag) { return {.peer = peer, .bytes = length.count, .tag = tag, .open = true}; }

bool overlap(const Part& out, const Part& in) {
  const std::less<const void*> before;
  const auto end = [](auto* values, std::size_t bytes) { return reinterpret_cast<const std::byte*>(values) + bytes; };
  return out.sent && in.received && before(out.sent, end(in.received, in.bytes)) &&
         before(in.received, end(out.sent, out.bytes));
}

/// "rank 3", "ranks 0-1023".
std::string in_words(int first, int last, const char* rank) {
  const std::string name = in_language({first == last ? rank : rank + std::string("s"), "ランク"});
  return first == last ? fmt::format("{} {}", name, first) : fmt::format("{} {}-{}", name, first, last);
}

}  // namespace

class Simulation {
 public:
  Simulation(const cost::Cluster& cluster, const Options& options);
  Result run(const std::function<void(Rank&)>& function);

  int size() const { return static_cast<int>(ranks_.size()); }
  int node(int rank) const { return rank / cluster_.ranks_per_node; }
  const cost::Cluster& cluster() const { return cluster_; }
  double now() const { return now_; }
  void compute(int rank, double seconds, const char* name);
  /// Makes a call of one or both parts. Returns the rank that was received from.
  int communicate(int rank, const char* call, const Part& out, const Part& in);

 private:
  struct State {
    std::unique_ptr<Fiber> fiber;
    const char* call = "";  // in which it waits
    double called = 0;      // when it began
    Part out, in;
    double ended = 0;
    Totals totals;
  };
  struct Card {
    double out_free = 0, in_free = 0;  // from when on
  };

  State& state(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }
  void body(int rank, const std::function<void(Rank&)>& function);
  bool has_ended(int rank) { return state(rank).fiber->ended(); }
  Fiber& next();
  void wait(int rank);
  void wake(int rank, double at) { queue_.emplace(at, rank); }
  void check(int rank, const char* call, const Part& out, const Part& in);
  bool fits(int from, int to);
  int sender_for(int to);
  void transfer(int from, int to);
  void record(const Event& event) {
    if (options_.events && is_recorded_[static_cast<std::size_t>(event.rank)]) result_.events.push_back(event);
  }
  std::string waits_of(int rank, bool relative);
  std::string deadlock();

  const cost::Cluster cluster_;
  const Options options_;
  Fiber main_;  // of run()
  std::vector<State> ranks_;
  std::vector<Card> cards_;  // of each node
  std::vector<bool> is_recorded_;
  using Wake = std::pair<double, int>;
  std::priority_queue<Wake, std::vector<Wake>, std::greater<>> queue_;  // ranks that go on, each at most once
  double now_ = 0;
  std::optional<Error> error_;
  Result result_;
};

Simulation::Simulation(const cost::Cluster& cluster, const Options& options) : cluster_(cluster), options_(options) {
  require(cluster.nodes > 0 && cluster.ranks_per_node > 0,
          "A simulation needs at least one rank, but got {} nodes of {} ranks.", cluster.nodes, cluster.ranks_per_node);
  for (const cost::Link& link : {cluster.within, cluster.between})
    require(link.latency >= 0 && link.bandwidth > 0,
            "A link needs a latency of at least 0 s and a bandwidth above 0 bytes/s, but got {} and {}.", link.latency,
            link.bandwidth);
  ranks_.resize(static_cast<std::size_t>(cluster.ranks()));
  cards_.resize(static_cast<std::size_t>(cluster.nodes));
  require(options.slowdown.empty() || options.slowdown.size() == ranks_.size(),
          "Options::slowdown has {} factors, but the simulation has {} ranks. It needs one per rank, or none.",
          options.slowdown.size(), ranks_.size());
  for (const double factor : options.slowdown)
    require(factor >= 0 && std::isfinite(factor), "Options::slowdown needs factors of at least 0, but has {}.", factor);
  require(options.scale > 0 && std::isfinite(options.scale), "Options::scale needs a factor above 0, but is {}.",
          options.scale);
  is_recorded_.assign(ranks_.size(), options.recorded.empty());
  for (const int rank : options.recorded) {
    require(rank >= 0 && rank < size(), "Options::recorded names rank {}, but the ranks are 0 to {}.", rank,
            size() - 1);
    is_recorded_[static_cast<std::size_t>(rank)] = true;
  }
}

Result Simulation::run(const std::function<void(Rank&)>& function) {
  try {
    for (int rank = 0; rank < size(); ++rank)
      state(rank).fiber = std::make_unique<Fiber>(
          [this, rank, &function]() -> Fiber& {
            body(rank, function);
            return next();
          },
          options_.stack_bytes);
  } catch (const std::system_error& error) {
    fail({"The system has no stack of {} KiB for another simulated rank: {}. Simulate fewer ranks.",
          "シミュレートするランクのスタック（{} KiB）をこれ以上確保できません: {}。ランクを減らしてください。"},
         options_.stack_bytes / 1024, error.code().message());
  }
  for (int rank = 0; rank < size(); ++rank) wake(rank, 0);
  main_.switch_to(next());
  for (int rank = 0; rank < size() && !error_; ++rank)
    if (!has_ended(rank)) error_.emplace(deadlock());
  if (error_) {
    for (int rank = 0; rank < size(); ++rank)
      if (!has_ended(rank)) main_.switch_to(*state(rank).fiber);
    throw *error_;
  }
  result_.seconds = now_;
  for (State& one : ranks_) {
    one.totals.idle += now_ - one.ended;
    result_.ranks.push_back(one.totals);
  }
  return std::move(result_);
}

void Simulation::body(int rank, const std::function<void(Rank&)>& function) {
  if (error_) return;
  std::string words;
  int code = exit_code::failure;
  try {
    Rank self(*this, rank);
    function(self);
    state(rank).ended = now_;
    return;
  } catch (const Stopped&) {
    return;
  } catch (const Error& error) {
    words = error.what(), code = error.code();
  } catch (const std::exception& error) {
    words = error.what();
  } catch (...) {
    words = in_language(
        Text{"It threw something that is no std::exception.", "std::exception ではないものが投げられました。"});
  }
  // All ranks stop at the same blank.
  if (!error_)
    error_.emplace(code == exit_code::unfilled ? words : fmt::format("{}: {}", in_words(rank, rank, "Rank"), words),
                   code);
}

/// The fiber that goes on: of the rank with the next event, or run() if there is none or a rank has failed.
Fiber& Simulation::next() {
  if (queue_.empty() || error_) return main_;
  const auto [time, rank] = queue_.top();
  queue_.pop();
  now_ = time;
  return *state(rank).fiber;
}

void Simulation::wait(int rank) {
  Fiber &self = *state(rank).fiber, &to = next();
  if (&to != &self && !error_) self.switch_to(to);
  if (error_) throw Stopped{};
}

void Simulation::compute(int rank, double seconds, const char* name) {
  require(seconds >= 0 && std::isfinite(seconds), "compute() needs at least 0 seconds, but got {}.", seconds);
  if (!options_.slowdown.empty()) seconds *= options_.slowdown[static_cast<std::size_t>(rank)];
  const double begin = now_;
  wake(rank, now_ + seconds);
  wait(rank);
  state(rank).totals.busy += now_ - begin;
  record({.rank = rank, .name = name, .begin = begin, .end = now_});
}

void Simulation::check(int rank, const char* call, const Part& out, const Part& in) {
  const auto check_peer = [&](const Part& one, const char* verb) {
    if (!one.open || one.peer == any_rank) return;
    require(
        one.peer >= 0 && one.peer < size(),
        {"{}: there is no rank {}. The ranks are 0 to {}.", "{}: ランク {} はありません。ランクは 0 から {} です。"},
        call, one.peer, size() - 1);
    require(one.peer != rank,
            {"{0}: rank {1} can't {2} itself: it would wait for ever.",
             "{0}: ランク {1} が自分自身を相手にしています。いつまでも待つことになります。"},
            call, rank, verb);
  };
  check_peer(out, "send to");
  check_peer(in, "receive from");
  require(!overlap(out, in),
          {"{}: what rank {} sends and what it receives overlap in memory. Receive into other memory.",
           "{}: ランク {} の送信データと受信先がメモリ上で重なっています。受信先には別のメモリを使ってください。"},
          call, rank);
}

int Simulation::communicate(int rank, const char* call, const Part& out, const Part& in) {
  if (error_) throw Stopped{};
  State& self = state(rank);
  if (out.open && in.open && out.peer == rank && in.peer == rank) {
    require(out.bytes == in.bytes,
            {"{}: rank {} sends {} bytes to itself, but receives {}.",
             "{}: ランク {} は自分自身に {} バイトを送り、{} バイトを受け取ろうとしています。"},
            call, rank, out.bytes, in.bytes);
    if (out.sent && in.received) std::memmove(in.received, out.sent, out.bytes);
    return rank;
  }
  check(rank, call, out, in);
  self.call = call, self.called = now_, self.out = out, self.in = in;
  if (out.open && fits(rank, out.peer)) transfer(rank, out.peer);
  if (in.open)
    if (const int from = sender_for(rank); from >= 0) transfer(from, rank);
  wait(rank);

  const double moved = self.out.seconds() + self.in.seconds() -
                       std::max(0.0, std::min(self.out.end, self.in.end) - std::max(self.out.begin, self.in.begin));
  const double waited = now_ - self.called - moved;
  self.totals.communicating += moved;
  self.totals.idle += waited;
  if (out.peer >= 0) self.totals.bytes_sent += out.bytes, ++self.totals.messages_sent;
  const Part& main = out.peer >= 0 ? self.out : self.in;
  const double bytes = options_.scale * static_cast<double>(main.bytes);
  record({rank, call, self.called, now_, waited, main.peer, static_cast<std::size_t>(std::llround(bytes))});
  return self.in.peer;
}

/// True if the rank `from` sends what `to` receives.
bool Simulation::fits(int from, int to) {
  const Part &out = state(from).out, &in = state(to).in;
  return out.open && in.open && out.peer == to && (in.peer == from || in.peer == any_rank) && out.tag == in.tag;
}

int Simulation::sender_for(int to) {
  const int peer = state(to).in.peer;
  if (peer != any_rank) return fits(peer, to) ? peer : -1;
  int first = -1;
  for (int from = 0; from < size(); ++from)
    if (fits(from, to) && (first < 0 || state(from).called < state(first).called)) first = from;
  return first;
}

void Simulation::transfer(int from, int to) {
  State &sender = state(from), &receiver = state(to);
  Part &out = sender.out, &in = receiver.in;
  if (out.bytes != in.bytes) {
    error_.emplace(in_language(
        {fmt::format("{}: rank {} sends {} bytes to rank {}, which receives {}. Both need the same length.",
                     receiver.call, from, out.bytes, to, in.bytes),
         fmt::format("{}：ランク {} は {} バイトをランク {} に送りますが、受信側の長さは {} バイトです。長さを同じに"
                     "してください。",
                     receiver.call, from, out.bytes, to, in.bytes)}));
    throw Stopped{};
  }
  if (out.sent && in.received) std::memcpy(in.received, out.sent, out.bytes);
  const double bytes = options_.scale * static_cast<double>(out.bytes);
  double begin = now_;
  const bool crosses = node(from) != node(to);
  const cost::Link& link = crosses ? cluster_.between : cluster_.within;
  if (crosses) {
    double& out_free = cards_[static_cast<std::size_t>(node(from))].out_free;
    double& in_free = cards_[static_cast<std::size_t>(node(to))].in_free;
    begin = std::max({begin, out_free, in_free});
    out_free = in_free = begin + bytes / link.bandwidth;
  }
  in.peer = from;
  for (Part* one : {&out, &in}) one->begin = begin, one->end = begin + link.message(bytes), one->open = false;
  for (const int rank : {from, to})
    if (const State& one = state(rank); !one.out.open && !one.in.open) wake(rank, std::max(one.out.end, one.in.end));
}

/// "send to 3 (tag 0)". Relative: the other rank as "rank + 1", modulo the number of ranks.
std::string Simulation::waits_of(int rank, bool relative) {
  const State& self = state(rank);
  const auto peer = [&](int other) {
    if (!relative || other < 0)
      return other < 0 ? in_language({"any rank", "どれかのランク"}) : fmt::format("{}", other);
    const int above = (other - rank + size()) % size();
    return above <= size() / 2 ? fmt::format("rank + {}", above) : fmt::format("rank - {}", size() - above);
  };
  std::vector<std::string> parts;
  const auto add = [&](const Part& part, const Text& text) {
    if (part.open) parts.push_back(fmt::format(fmt::runtime(in_language(text)), peer(part.peer)));
  };
  add(self.out, {"send to {}", "{} への送信"});
  add(self.in, {"receive from {}", "{} からの受信"});
  const int tag = self.out.open ? self.out.tag : self.in.tag;
  return fmt::format("{}{} (tag {})", std::strcmp(self.call, "exchange") == 0 ? "exchange: " : "",
                     fmt::join(parts, in_language({" and ", "と"})), tag);
}

/// Lists up to 4 ranks one by one. Of more ranks, neighbours are joined if they wait for the same rank, or each for the
/// rank at the same distance.
std::string Simulation::deadlock() {
  constexpr std::size_t one_by_one = 4, most_groups = 8;
  std::vector<int> waiting;
  std::string ended, waits;
  for (int rank = 0; rank < size(); ++rank) {
    if (!has_ended(rank)) {
      waiting.push_back(rank);
      continue;
    }
    const int first = rank;
    while (rank + 1 < size() && has_ended(rank + 1)) ++rank;
    ended += (ended.empty() ? in_language({" Ended: ", "終了したランク："}) : ", ") + in_words(first, rank, "rank");
  }
  std::size_t groups = 0;
  for (auto first = waiting.begin(); first != waiting.end() && groups < most_groups; ++groups) {
    const auto last_of = [&](bool relative) {
      auto last = first;
      while (waiting.size() > one_by_one && last + 1 != waiting.end() && last[1] == *last + 1 &&
             waits_of(last[1], relative) == waits_of(*first, relative))
        ++last;
      return last;
    };
    const auto same = last_of(false), distance = last_of(true), last = std::max(same, distance);
    waits += groups == 0 ? in_words(*first, *last, "Rank") + in_language({first == last ? " waits" : " wait", ""})
                         : ", " + in_words(*first, *last, "rank");
    waits += in_language({" in ", "："}) + waits_of(*first, distance > same);
    first = last + 1;
    if (groups + 1 == most_groups && first != waiting.end())
      waits +=
          fmt::format(fmt::runtime(in_language({", and {} more ranks", "、ほか {} ランク"})), waiting.end() - first);
  }
  return in_language(
      {fmt::format("The simulated ranks wait for each other: none can go on. {}.{}{} A send waits for a receive on the "
                   "other rank, with the same tag; exchange() does both at once.",
                   waits, ended, ended.empty() ? "" : "."),
       fmt::format("シミュレートしたランクが互いを待っていて、どれも先に進めません。{}。{}{}送信は、相手のランクが同じ "
                   "tag で受信するまで待ちます。exchange() は送信と受信を同時に行います。",
                   waits, ended, ended.empty() ? "" : "。")});
}

int Rank::size() const { return simulation_.size(); }
int Rank::node() const { return simulation_.node(rank_); }
const cost::Cluster& Rank::cluster() const { return simulation_.cluster(); }
double Rank::now() const { return simulation_.now(); }
void Rank::compute(double seconds, const char* name) { simulation_.compute(rank_, seconds, name); }

void Rank::send(std::span<const float> values, int to, int tag) {
  simulation_.communicate(rank_, "send", part(values, to, tag), {});
}
void Rank::send(Bytes length, int to, int tag) { simulation_.communicate(rank_, "send", part(length, to, tag), {}); }

void Rank::receive(std::span<float> values, int from, int tag) {
  simulation_.communicate(rank_, "receive", {}, part(values, from, tag));
}
void Rank::receive(Bytes length, int from, int tag) {
  simulation_.communicate(rank_, "receive", {}, part(length, from, tag));
}

int Rank::receive_any(std::span<float> values, int tag) {
  return simulation_.communicate(rank_, "receive", {}, part(values, any_rank, tag));
}
int Rank::receive_any(Bytes length, int tag) {
  return simulation_.communicate(rank_, "receive", {}, part(length, any_rank, tag));
}

void Rank::exchange(std::span<const float> sent, int to, std::span<float> received, int from, int tag) {
  simulation_.communicate(rank_, "exchange", part(sent, to, tag), part(received, from, tag));
}
void Rank::exchange(Bytes sent, int to, Bytes received, int from, int tag) {
  simulation_.communicate(rank_, "exchange", part(sent, to, tag), part(received, from, tag));
}

Result run(const cost::Cluster& cluster, const std::function<void(Rank&)>& function, const Options& options) {
  return Simulation(cluster, options).run(function);
}

}  // namespace odori::simulate
