// flat: all gradients as one vector.
//
//   for each slice of the flat vector:  all-reduce it in place (sum; MPI picks how), then times 1/P
//
// Slices are alike and large, whatever the model's parameters are; the last is the rest. Nothing is packed, as
// gradients lie in one vector from the start. Bytes a rank sends: at least 2 E (P-1)/P, E the bytes of all gradients.
// Source: ChainerMN's FlatCommunicator, which packs, and makes one call of it all. The bound: see naive.cpp.
#include "comm/mpi_communicator.h"

namespace odori {
namespace {

class FlatCommunicator : public MpiCommunicator {
 public:
  std::string name() const override { return "flat"; }
};

}  // namespace

std::unique_ptr<Communicator> make_flat_communicator() { return std::make_unique<FlatCommunicator>(); }

}  // namespace odori
