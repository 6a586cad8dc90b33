// SPDX-License-Identifier: Apache-2.0
// tree: recursive halving and doubling: few messages, with the bytes of the ring. For any number of ranks.
//
//   P = 2^k + e, e < 2^k. Of the first 2 e ranks, each even one sends its vector to the next rank, which adds it: 2^k
//   ranks remain, and are renumbered
//   reduce-scatter, k steps:  with the partner at distance 1, 2, 4, ...: each keeps one half of its range, and
//                             sends the other half, which the partner adds
//   multiply the remaining range, 1/2^k of the vector, by 1/P
//   all-gather, k steps:      the same partners in reverse order: each sends its range
//   the e ranks that sent their vector receive the result
//
// A rank sends 2 k messages and 2 E (1 - 1/2^k) bytes, E the bytes of all gradients. The e ranks that received a vector
// send one more message of E bytes; the e others send only one message, of E bytes. The ring takes 2 (P-1) messages.
// Source: R. Rabenseifner, 2004, "Optimization of collective reduction operations"; R. Thakur, R. Rabenseifner,
// W. Gropp, 2005, "Optimization of collective communication operations in MPICH".
#include <bit>

#include "comm/algorithm.h"

namespace odori {
namespace {

/// The 2^k ranks have places [0, power). `place`: this rank's; rank_at(place): the rank at a place.
template <typename RankAt>
void all_reduce_power(std::span<float> all, Communicator& comm, Dtype dtype, std::span<float> received, int power,
                      int place, RankAt rank_at) {
  struct Step {
    int partner;
    std::span<float> kept, given;
  };
  std::vector<Step> steps;
  std::span<float> mine = all;
  for (int distance = 1; distance < power; distance *= 2) {
    const std::span<float> lower = mine.first(mine.size() / 2), upper = mine.subspan(lower.size());
    const bool keeps_lower = (place & distance) == 0;
    const Step step{rank_at(place ^ distance), keeps_lower ? lower : upper, keeps_lower ? upper : lower};
    mine = step.kept;
    comm.exchange(step.given, step.partner, received.first(mine.size()), step.partner);
    add(dtype, mine, received.first(mine.size()));
    steps.push_back(step);
  }
  divide(dtype, mine, comm.size());
  for (auto step = steps.rbegin(); step != steps.rend(); ++step)
    comm.exchange(step->kept, step->partner, step->given, step->partner);
}

void tree(std::span<float> values, Communicator& comm, Dtype dtype, std::vector<float>& memory) {
  const int rank = comm.rank(), power = static_cast<int>(std::bit_floor(static_cast<unsigned>(comm.size()))),
            pairs = comm.size() - power;
  const bool in_pair = rank < 2 * pairs;
  if (in_pair && rank % 2 == 0) {
    comm.send(values, rank + 1);
    return comm.receive(values, rank + 1);
  }
  memory.resize(values.size());
  if (in_pair) {
    comm.receive(memory, rank - 1);
    add(dtype, values, memory);
  }
  all_reduce_power(values, comm, dtype, memory, power, in_pair ? rank / 2 : rank - pairs,
                   [pairs](int place) { return place < pairs ? 2 * place + 1 : place + pairs; });
  if (in_pair) comm.send(values, rank - 1);
}

const Algorithm tree_algorithm{
    "tree", tree, [](const cost::Cluster& cluster, const cost::Gradients& gradients) -> std::optional<double> {
      return cost::tree(cluster, gradients.bytes);
    }};

}  // namespace
}  // namespace odori
