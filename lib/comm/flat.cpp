// flat: one all-reduce of all gradients.
//
//   all-reduce the flat vector in place (MPI picks how; a ring or Rabenseifner's for a long one), then times 1/P
//
// Messages: one all-reduce, which for a long vector takes 2 (P-1) steps as a ring. Bytes a rank sends: 2 E (P-1)/P, E
// the bytes of all gradients. Nothing is packed, as gradients lie in one vector from the start.
// Source: ChainerMN's FlatCommunicator. The ring: P. Patarasuk, X. Yuan, 2009, "Bandwidth optimal all-reduce
// algorithms for clusters of workstations".
#include "comm/mpi_communicator.h"

namespace odori {
namespace {

class FlatCommunicator : public MpiCommunicator {
 public:
  std::string name() const override { return "flat"; }

  void mean(Buffer& gradients, std::span<const Range>) override {
    const float share = 1.0f / static_cast<float>(size());
    const std::span<float> values(gradients.data(), gradients.size());
    all_reduce(values);
    for (float& value : values) value *= share;
  }
};

}  // namespace

std::unique_ptr<Communicator> make_flat_communicator() { return std::make_unique<FlatCommunicator>(); }

}  // namespace odori
