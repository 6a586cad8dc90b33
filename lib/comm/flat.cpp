// SPDX-License-Identifier: Apache-2.0
// flat: all gradients as one vector.
//
//   for each slice of the flat vector:  all-reduce it in place (sum; MPI picks how), then times 1/P
//
// Slices are large and equal, except that the last is the rest, independent of the sizes of parameters. Gradients are
// stored in one vector, so nothing is packed. A rank sends at least 2 E (P-1)/P bytes, E the bytes of all gradients.
// Source: ChainerMN's FlatCommunicator, which packs gradients, and makes one call for all. The bound: see naive.cpp.
#include "comm/algorithm.h"

namespace odori {
namespace {

class FlatCommunicator : public MpiCommunicator {
 public:
  std::string name() const override { return "flat"; }
};

const Algorithm flat_algorithm{
    "flat", make<FlatCommunicator>,
    [](const cost::Cluster& cluster, const cost::Gradients& gradients) -> std::optional<double> {
      return cost::in_slices(gradients.bytes, [&](double bytes) { return cost::faster(cluster, bytes); });
    },
    Algorithm::Takes::half_precision_too};

}  // namespace
}  // namespace odori
