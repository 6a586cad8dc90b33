// pure_nccl's place in a build without NCCL.
#include "comm/mpi_communicator.h"
#include "core/error.h"

namespace odori {

std::unique_ptr<Communicator> make_pure_nccl_communicator() {
  throw UsageError(
      "The communicator pure_nccl needs GPUs and NCCL, which this build is without. There are: naive, flat.");
}

}  // namespace odori
