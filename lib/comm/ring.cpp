// SPDX-License-Identifier: Apache-2.0
// ring: each rank communicates only with its two neighbours, and all links are busy all the time.
//
//   divide the vector into n chunks, one per rank: chunk c is [c length / n, (c + 1) length / n)
//   reduce-scatter, n - 1 steps:  send a chunk to the right, receive one from the left, and add it to this rank's.
//                                 In step s, rank r sends chunk r - s; at the end it has the sum of chunk r + 1
//   multiply that chunk by 1/n
//   all-gather, n - 1 steps:      send a chunk to the right, and store the one received from the left.
//                                 In step s, rank r sends chunk r + 1 - s
//
// (all modulo n). A rank sends 2 (n - 1) messages and 2 E (n - 1) / n bytes, E the bytes of all gradients: the lower
// bound. Each rank computes 1/n of the sum.
// Sources: P. Patarasuk, X. Yuan, 2009, "Bandwidth optimal all-reduce algorithms for clusters of workstations";
// A. Gibiansky, 2017, "Bringing HPC techniques to deep learning" (Baidu's ring, from which Horovod grew).
#include "comm/algorithm.h"

namespace odori {
namespace {

void ring(std::span<float> values, Communicator& comm, Dtype dtype, std::vector<float>& memory) {
  const int rank = comm.rank(), n = comm.size(), right = (rank + 1) % n, left = (rank + n - 1) % n;
  const auto chunk = [&](int c) {
    const Range range =
        even_part(values.size(), static_cast<std::size_t>((c + 2 * n) % n), static_cast<std::size_t>(n));
    return values.subspan(range.begin, range.size());
  };

  memory.resize(values.size() / static_cast<std::size_t>(n) + 1);
  for (int s = 0; s < n - 1; ++s) {
    const std::span<float> sum = chunk(rank - s - 1), part = std::span(memory).first(sum.size());
    comm.exchange(chunk(rank - s), right, part, left);
    add(dtype, sum, part);
  }
  divide(dtype, chunk(rank + 1), n);
  for (int s = 0; s < n - 1; ++s) comm.exchange(chunk(rank + 1 - s), right, chunk(rank - s), left);
}

const Algorithm ring_algorithm{
    "ring", ring, [](const cost::Cluster& cluster, const cost::Gradients& gradients) -> std::optional<double> {
      return cost::ring(cluster, gradients.bytes);
    }};

}  // namespace
}  // namespace odori
