// SPDX-License-Identifier: Apache-2.0
#include "comm/link.h"

#include <pthread.h>
#include <sys/prctl.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <ctime>
#include <exception>
#include <new>
#include <span>
#include <string_view>

#include "comm/collective.h"
#include "comm/mpi_check.h"
#include "errors/error.h"
#include "errors/text.h"
#include "program/rank_table.h"

namespace odori {
namespace {

constexpr Link::Time second = 1'000'000'000;

struct Unit {
  std::string_view name;
  double size;
};
constexpr std::array bandwidths{Unit{"kbit", 1e3}, Unit{"mbit", 1e6}, Unit{"gbit", 1e9}};
constexpr std::array latencies{Unit{"us", 1e-6}, Unit{"ms", 1e-3}};

/// "1gbit" in bits a second; NaN if it isn't a number and one of the units.
double quantity(std::string_view text, std::span<const Unit> units) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (error == std::errc() && std::isfinite(number))
    for (const Unit& unit : units)
      if (text.substr(static_cast<std::size_t>(end - text.data())) == unit.name) return number * unit.size;
  return std::nan("");
}

timespec to_timespec(Link::Time time) { return {time / second, time % second}; }

}  // namespace

namespace cost {

Link link_from(const std::string& value) {
  const std::string text = lower(value);
  const std::size_t comma = std::min(text.find(','), text.size());
  const double bandwidth = quantity(std::string_view(text).substr(0, comma), bandwidths);
  const std::string_view usual = "50us", given = std::string_view(text).substr(std::min(comma + 1, text.size()));
  const double latency = quantity(comma == text.size() ? usual : given, latencies);
  if (!(bandwidth > 0) || !(latency >= 0) || latency > 10)
    throw UsageError(in_language(
        {"A link can't be \"{}\" (ODORI_LINK, --link, --network). Give a bandwidth in kbit, mbit or gbit, and "
         "a latency in us or ms, at most 10 seconds, as in 1gbit,50us.",
         "「{}」という回線は使えません（ODORI_LINK、--link、--network）。1gbit,50us "
         "のように、帯域幅（kbit、mbit、gbit）と"
         "遅延（us、ms、10 秒まで）を指定してください。"},
        value));
  return {latency, bandwidth / 8};
}

std::string in_words(const Link& link) {
  const double bits = 8 * link.bandwidth, us = 1e6 * link.latency;
  const std::string bandwidth = bits >= 1e9   ? fmt::format("{:g} Gbit/s", bits / 1e9)
                                : bits >= 1e6 ? fmt::format("{:g} Mbit/s", bits / 1e6)
                                              : fmt::format("{:g} kbit/s", bits / 1e3);
  return bandwidth + (us >= 1000 ? fmt::format(", {:g} ms", us / 1000) : fmt::format(", {:g} us", us));
}

}  // namespace cost

void Load::add(int from_node, int to_node, double bytes) {
  if (from_node == to_node) return;
  out[static_cast<std::size_t>(from_node)] += bytes;
  in[static_cast<std::size_t>(to_node)] += bytes;
}

double Load::busiest() const {
  return std::max(*std::max_element(out.begin(), out.end()), *std::max_element(in.begin(), in.end()));
}

double Load::seconds(const cost::Link& speed) const { return busiest() / speed.bandwidth + latencies * speed.latency; }

Load load_of(const Steps& steps, const std::vector<int>& nodes_of_ranks, int nodes) {
  Load load(static_cast<std::size_t>(nodes));
  int crossings = 0;
  for (const Hop& hop : steps.hops) {
    const int from = nodes_of_ranks[static_cast<std::size_t>(hop.from)],
              to = nodes_of_ranks[static_cast<std::size_t>(hop.to)];
    load.add(from, to, hop.bytes);
    crossings += from != to ? 1 : 0;
  }
  load.latencies = steps.pipeline ? crossings : crossings > 0 ? steps.steps : 0;
  return load;
}

std::vector<Steps> all_reduce_steps(double bytes, const std::vector<int>& nodes_of_ranks, int nodes,
                                    const cost::Link& speed) {
  const auto n = static_cast<int>(nodes_of_ranks.size());
  std::vector<Steps> ring{ring_steps(n, 2, bytes)}, tree = tree_steps(n, bytes);
  const auto seconds = [&](const std::vector<Steps>& steps) {
    double sum = 0;
    for (const Steps& step : steps) sum += load_of(step, nodes_of_ranks, nodes).seconds(speed);
    return sum;
  };
  return seconds(tree) < seconds(ring) ? tree : ring;
}

/// When each card will be free, first of what it sends, node by node, then of what it receives.
struct Link::Cards {
  MPI_Win window = MPI_WIN_NULL;
  pthread_mutex_t* mutex = nullptr;
  std::span<Time> free;

  Cards() = default;
  Cards(const Cards&) = delete;
  Cards& operator=(const Cards&) = delete;
  ~Cards() {
    int finalized = 0;
    MPI_Finalized(&finalized);
    if (window == MPI_WIN_NULL || finalized || std::uncaught_exceptions() > 0) return;
    const BlockingCall call(rank_table::Call{"the communicator's end"});  // waits for all ranks
    MPI_Win_free(&window);
  }
};

Link::Link(const cost::Link& speed, int nodes) : speed_(speed), cards_(std::make_shared<Cards>()) {
  constexpr std::size_t mutex_size = (sizeof(pthread_mutex_t) + sizeof(Time) - 1) / sizeof(Time) * sizeof(Time);
  const std::size_t n = 2 * static_cast<std::size_t>(nodes);
  int rank = 0, unit = 0;
  ODORI_MPI(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
  std::byte* memory = nullptr;
  MPI_Aint size = rank == 0 ? static_cast<MPI_Aint>(mutex_size + n * sizeof(Time)) : 0;
  ODORI_MPI(MPI_Win_allocate_shared(size, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &cards_->window));
  ODORI_MPI(MPI_Win_shared_query(cards_->window, 0, &size, &unit, &memory));
  cards_->mutex = reinterpret_cast<pthread_mutex_t*>(memory);
  cards_->free = {reinterpret_cast<Time*>(memory + mutex_size), n};
  if (rank == 0) {
    pthread_mutexattr_t shared;
    pthread_mutexattr_init(&shared);
    pthread_mutexattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(new (memory) pthread_mutex_t, &shared);
    std::fill(cards_->free.begin(), cards_->free.end(), Time{0});
  }
  ODORI_MPI(MPI_Barrier(MPI_COMM_WORLD));
}

Link::Time Link::now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * second + time.tv_nsec;
}

Link::Time Link::carry(const Load& load, Time there) {
  std::vector<double> bytes = load.out;
  bytes.insert(bytes.end(), load.in.begin(), load.in.end());
  const auto seconds = [&](double of) { return static_cast<Time>(of / speed_.bandwidth * second); };

  pthread_mutex_lock(cards_->mutex);
  for (std::size_t i = 0; i < bytes.size(); ++i)
    if (bytes[i] > 0) there = std::max(there, cards_->free[i]);
  for (std::size_t i = 0; i < bytes.size(); ++i)
    if (bytes[i] > 0) cards_->free[i] = there + seconds(bytes[i]);
  pthread_mutex_unlock(cards_->mutex);
  return there + seconds(load.busiest()) + static_cast<Time>(load.latencies * speed_.latency * second);
}

void await(std::span<MPI_Request> requests) {
  const Link::Time begin = Link::now();
  for (int done = 0;;) {
    ODORI_MPI(MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE));
    if (done) return;
    // The longer it took, the less it matters when exactly it is seen: arrivals are reckoned from when both were there.
    const timespec pause = to_timespec(std::clamp<Link::Time>((Link::now() - begin) / 10, 20'000, 500'000));
    prctl(PR_SET_TIMERSLACK, 1);
    nanosleep(&pause, nullptr);
  }
}

void Link::sleep_until(Time time) {
  for (Time left; (left = time - now()) > 0;) {
    prctl(PR_SET_TIMERSLACK, 1);
    const timespec next = to_timespec(left > second ? now() + second : time);
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, nullptr);
    rank_table::heartbeat();  // a slow link is no hang
  }
}

}  // namespace odori
