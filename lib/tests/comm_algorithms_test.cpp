// SPDX-License-Identifier: Apache-2.0
// The contract of all algorithms that average gradients, on nodes of all kinds. Runs under mpirun with 1, 2, 3, 4, 5
// and 8 ranks; every rank computes the truth itself.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <string>
#include <string_view>

#include "comm/communicator.h"
#include "device_under_test.h"
#include "errors/error.h"
#include "on_nodes.h"

namespace odori {
namespace {

/// What rank r brings: of both signs, of several magnitudes, with digits that don't vanish.
float value(int rank, std::size_t i, int call) {
  static const auto sines = [] {
    std::array<std::array<float, 1009>, 8> table;
    for (std::size_t r = 0; r < table.size(); ++r)
      for (std::size_t k = 0; k < 1009; ++k)
        table[r][k] = std::sin(static_cast<float>(k) + 0.37f * static_cast<float>(r));
    return table;
  }();
  return sines[static_cast<std::size_t>(rank)][i % 1009] *
         static_cast<float>(1 + i % 3 * 10 + static_cast<std::size_t>(call));
}

/// Parameters of uneven sizes: 1, 4, 16, ... floats until n are used up.
std::vector<Range> pieces_of(std::size_t n) {
  std::vector<Range> pieces;
  for (std::size_t begin = 0, size = 1; begin < n; begin = pieces.back().end, size *= 4)
    pieces.push_back({begin, std::min(begin + size, n)});
  return pieces;
}

/// How many ranks mpirun has started.
int job_size() {
  const char* size = std::getenv("OMPI_COMM_WORLD_SIZE");
  return size ? std::atoi(size) : 1;
}

/// An algorithm, and the nodes that its ranks stand on.
struct Place {
  std::string name, nodes;
  bool cpus_on_second = false;  // the second node has no GPUs
  friend void PrintTo(const Place& place, std::ostream* out) { *out << place.name << " on " << place.nodes; }
};

/// One node, two by turns, one of its own for the last rank of four, and three of one, two and the rest.
std::vector<Place> places() {
  const int size = job_size();
  std::vector<Place> places;
  for (const std::string& name : communicators_under_test()) {
    if (name == "dummy") continue;
    if (size > 4 && (name == "naive" || name == "flat" || name == "single_node")) continue;  // MPI's own alone
    std::vector<std::string> seen;
    for (const char* digits : {"00000000", "01010101", "00010000", "01122222"}) {
      const std::string nodes = nodes_of(digits, size);
      const bool several = nodes.find_first_not_of("0,") != std::string::npos;
      const bool even = !several || (std::string(digits) == "01010101" && size % 2 == 0) || (size == 2);
      if (std::find(seen.begin(), seen.end(), nodes) != seen.end()) continue;
      if (several && name == "single_node") continue;
      if (several && on_gpus() && name != "hierarchical" && name != "two_dimensional") continue;  // NCCL in a node
      if (!even && name == "two_dimensional") continue;
      seen.push_back(nodes);
      places.push_back({name, nodes});
      if (several && on_gpus() && size == 4 && even) places.push_back({name, nodes, true});
    }
  }
  return places;
}

/// What a rank has sent: messages, and floats.
std::array<std::size_t, 2> sent_by(const Communicator& comm) {
  const TrafficOfRank& traffic = comm.traffic();
  return {static_cast<std::size_t>(traffic.sent_within_node.messages + traffic.sent_to_other_nodes.messages),
          static_cast<std::size_t>(traffic.sent_within_node.bytes + traffic.sent_to_other_nodes.bytes) / sizeof(float)};
}

/// Of the formula in ring.cpp: all chunks but one, twice.
std::array<std::size_t, 2> sent_by_ring(std::size_t n, std::size_t rank, std::size_t size) {
  const auto chunk = [&](std::size_t c) { return (c % size + 1) * n / size - c % size * n / size; };
  return {2 * (size - 1), 2 * n - chunk(rank + 1) - chunk(rank + 2)};
}

/// Of the formula in tree.cpp.
std::array<std::size_t, 2> sent_by_tree(std::size_t n, std::size_t rank, std::size_t size) {
  std::size_t power = 1, steps = 0;
  for (; 2 * power <= size; power *= 2) ++steps;
  const std::size_t in_pairs = 2 * (size - power);
  if (rank < in_pairs && rank % 2 == 0) return {1, n};
  const std::size_t place = rank < in_pairs ? rank / 2 : rank - (size - power);
  std::size_t begin = 0, end = n, floats = 0;
  for (std::size_t distance = 1; distance < power; distance *= 2) {
    const std::size_t middle = begin + (end - begin) / 2;
    const bool keeps_lower = (place & distance) == 0;
    floats += end - begin;  // the half that isn't kept, and on the way back the one that is
    (keeps_lower ? end : begin) = middle;
  }
  return rank < in_pairs ? std::array{2 * steps + 1, floats + n} : std::array{2 * steps, floats};
}

class Mean : public testing::TestWithParam<Place> {
 protected:
  /// Of what all ranks bring in this call, on this rank's device.
  std::vector<float> mean(std::size_t n, int call) {
    std::vector<float> host(n);
    for (std::size_t i = 0; i < n; ++i) host[i] = value(comm_->rank(), i, call);
    Buffer buffer = device_.allocate(n);
    device_.write(buffer, 0, host);
    comm_->all_reduce_mean(device_, buffer, pieces_of(n));
    device_.read(buffer, 0, host);
    return host;
  }
  void expect_right(const std::vector<float>& seen, int call) {
    const std::size_t step = seen.size() < 200'000 ? 1 : 97;
    for (std::size_t i = 0; i < seen.size(); i += step) {
      double truth = 0, magnitude = 0;
      for (int r = 0; r < comm_->size(); ++r) {
        truth += value(r, i, call);
        magnitude += std::abs(value(r, i, call));
      }
      ASSERT_NEAR(seen[i], truth / comm_->size(), 3e-7 * magnitude) << i << " of " << seen.size();
    }
  }
  /// Whatever the algorithm is, all ranks together send all bytes 2 (P - 1) times; those that know nodes, 2 (N - 1)
  /// times between these.
  void expect_total(double bytes) {
    if (GetParam().name == "pure_nccl") return;  // NCCL doesn't tell
    double within = 0, between = 0;
    for (const TrafficOfRank& of : comm_->all_gather(comm_->traffic())) {
      within += static_cast<double>(of.sent_within_node.bytes);
      between += static_cast<double>(of.sent_to_other_nodes.bytes);
    }
    constexpr double rounding = 1000;
    EXPECT_NEAR(within + between, 2 * (comm_->size() - 1) * bytes, rounding);
    for (const char* name : {"hierarchical", "two_dimensional", "non_cuda_aware"})
      if (GetParam().name == name) {
        EXPECT_NEAR(between, 2 * (comm_->inter_size() - 1) * bytes, rounding);
      }
  }
  std::unique_ptr<Communicator> comm_ = create_on(GetParam().nodes, GetParam().name);
  DevicePool pool_{GetParam().cpus_on_second && comm_->inter_rank() == 1
                       ? DevicePoolOptions{.request = DeviceRequest::cpu}
                       : device_under_test()};
  Device& device_ = pool_.use(on_gpus() ? comm_->rank() : comm_->intra_rank());  // one each on simulated nodes, too
};
INSTANTIATE_TEST_SUITE_P(All, Mean, testing::ValuesIn(places()));

// Each call to another rank may take long on a busy machine, so there are few.
TEST_P(Mean, IsRightAndTheSameOnAllRanksAndTakesTheMessagesThatItSays) {
  EXPECT_EQ(comm_->name(), GetParam().name);
  const auto formula = GetParam().name == "ring" ? sent_by_ring : GetParam().name == "tree" ? sent_by_tree : nullptr;
  const auto rank = static_cast<std::size_t>(comm_->rank()), size = static_cast<std::size_t>(comm_->size());
  std::array<std::size_t, 2> sent{};
  double numbers = 0;
  std::string bits;
  for (const std::size_t n : {0u, 1u, 7u, 1000u, 100003u, 600011u}) {  // the last takes several slices
    for (int call = 0; call < 2; ++call) {                             // the second must not find leavings of the first
      const std::vector<float> seen = mean(n, call);
      expect_right(seen, call);
      bits.append(reinterpret_cast<const char*>(seen.data()), seen.size() * sizeof(float));
      numbers += static_cast<double>(n);
      if (!formula) continue;
      for (const std::size_t k : {0u, 1u}) sent[k] += formula(n, rank, size)[k];
      EXPECT_EQ(sent_by(*comm_), sent) << n;
    }
  }
  const std::vector<std::size_t> all = comm_->all_gather(std::hash<std::string>()(bits));
  EXPECT_EQ(all, std::vector<std::size_t>(size, all[0])) << "not the same bits on every rank";
  expect_total(numbers * sizeof(float));
  EXPECT_EQ(mean(1000, 0), mean(1000, 0));
}

/// Each algorithm on the most nodes that it is tried on.
std::vector<Place> one_place_each() {
  std::vector<Place> last;
  for (const Place& place : places()) {
    if (!last.empty() && last.back().name == place.name) last.pop_back();
    last.push_back(place);
  }
  return last;
}
class MeanOfTheVgg : public Mean {};
INSTANTIATE_TEST_SUITE_P(All, MeanOfTheVgg, testing::ValuesIn(one_place_each()));

TEST_P(MeanOfTheVgg, IsRightAndTheSameOnAllRanks) {
  if (on_gpus() || comm_->size() > 4) return;  // emulated GPUs, and more ranks than cores, take minutes
  constexpr std::size_t n = 14'987'200;
  const std::vector<float> seen = mean(n, 0);
  expect_right(seen, 0);
  const std::size_t hash =
      std::hash<std::string_view>()({reinterpret_cast<const char*>(seen.data()), n * sizeof(float)});
  for (const std::size_t of_rank : comm_->all_gather(hash)) EXPECT_EQ(of_rank, hash);
  expect_total(n * sizeof(float));
}

TEST(Naive, RefusesAPieceOutsideTheBuffer) {
  const auto comm = create_communicator("naive");
  DevicePool pool(device_under_test());
  Buffer buffer = pool.use(comm->intra_rank()).allocate(4);
  const Range piece{2, 5};
  EXPECT_THROW(comm->all_reduce_mean(pool.current(), buffer, {&piece, 1}), Error);
}

TEST(Dummy, KeepsTheGradientsAndSendsNothing) {
  const auto comm = create_communicator("dummy");
  DevicePool pool(device_under_test());
  Device& device = pool.use(comm->intra_rank());
  const std::vector<float> own(1000, static_cast<float>(comm->rank()));
  std::vector<float> seen(1000);
  Buffer buffer = device.allocate(1000);
  device.write(buffer, 0, own);
  comm->all_reduce_mean(device, buffer, pieces_of(1000));
  device.read(buffer, 0, seen);
  EXPECT_EQ(seen, own);
  EXPECT_EQ(sent_by(*comm)[0], 0u);
}

std::string refusal(const std::string& name, const std::string& digits) {
  try {
    create_on(nodes_of(digits, job_size()), name);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

// On every rank alike, and the ranks are still in step.
TEST(Nodes, ThatAnAlgorithmCantUseAreNamed) {
  const int size = job_size();
  if (size == 1) return;
  EXPECT_EQ(refusal("single_node", "01010101"),
            "The communicator single_node works within one node, but the ranks stand on 2. Use one of the others: "
            "hierarchical, for example.");
  if (size > 2) {
    EXPECT_EQ(refusal("two_dimensional", "01111111"),
              fmt::format("The communicator two_dimensional needs the same number of ranks on each node, but the nodes "
                          "have 1, {}. Start as many on each, or use hierarchical.",
                          size - 1));
  }
  EXPECT_EQ(create_communicator("two_dimensional")->size(), size);
}

}  // namespace
}  // namespace odori
