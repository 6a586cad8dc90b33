// naive: one all-reduce a parameter.
//
//   for each parameter:  all-reduce its gradient in place (MPI picks how), then times 1/P while it is in the cache
//
// Messages: as many all-reduces as the model has parameters (43 for the VGG), most of them small, so that the time a
// message takes to start counts. Bytes a rank sends, at the least: 2 E (P-1)/P in all, E the bytes of all gradients.
// Source: ChainerMN's NaiveCommunicator. The bound: R. Rabenseifner, 2004, "Optimization of Collective Reduction
// Operations".
#include "comm/mpi_communicator.h"
#include "core/error.h"

namespace odori {
namespace {

class NaiveCommunicator : public MpiCommunicator {
 public:
  std::string name() const override { return "naive"; }

  void mean(Buffer& gradients, std::span<const Range> pieces) override {
    const float share = 1.0f / static_cast<float>(size());
    for (const Range& piece : pieces) {
      require(piece.begin <= piece.end && piece.end <= gradients.size(),
              "mean: the piece [{}, {}) is not one of {} gradients.", piece.begin, piece.end, gradients.size());
      const std::span<float> values(gradients.data() + piece.begin, piece.size());
      all_reduce(values);
      for (float& value : values) value *= share;
    }
  }
};

}  // namespace

std::unique_ptr<Communicator> make_naive_communicator() { return std::make_unique<NaiveCommunicator>(); }

}  // namespace odori
