// SPDX-License-Identifier: Apache-2.0
// naive: the parameters one after another.
//
//   for each parameter:  all-reduce its gradient in place (sum; MPI picks how), then times 1/P
//
// One all-reduce per parameter (43 for the VGG). Latency is paid for each, and most are small. A rank sends at least 2
// E (P-1)/P bytes in all, E the bytes of all gradients. Source: ChainerMN's NaiveCommunicator. The bound: P. Patarasuk,
// X. Yuan, 2009, "Bandwidth optimal all-reduce algorithms for clusters of workstations".
#include "comm/algorithm.h"
#include "errors/error.h"

namespace odori {
namespace {

class NaiveCommunicator : public MpiCommunicator {
 public:
  std::string name() const override { return "naive"; }

  void all_reduce_mean(Device& device, Buffer& gradients, std::span<const Range> pieces) override {
    for (const Range& piece : pieces) {
      require(piece.begin <= piece.end && piece.end <= gradients.size(),
              "mean: the piece [{}, {}) is not one of {} gradients.", piece.begin, piece.end, gradients.size());
      average(device, gradients, piece);
    }
  }
};

const Algorithm naive_algorithm{
    "naive", make<NaiveCommunicator>,
    [](const cost::Cluster& cluster, const cost::Gradients& gradients) -> std::optional<double> {
      return gradients.arrays * cost::in_slices(gradients.bytes / gradients.arrays,
                                                [&](double bytes) { return cost::faster(cluster, bytes); });
    },
    Algorithm::Takes::half_precision_too};

}  // namespace
}  // namespace odori
