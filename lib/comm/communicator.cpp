#include "comm/communicator.h"

#include "comm/mpi_communicator.h"
#include "core/error.h"

namespace odori {

std::unique_ptr<Communicator> create_communicator(const std::string& name) {
  if (name == "naive") return make_naive_communicator();
  if (name == "flat") return make_flat_communicator();
  if (name == "pure_nccl")
    throw UsageError(
        "The communicator pure_nccl needs GPUs and NCCL, which this build is without. There are: naive, flat.");
  throw UsageError(fmt::format("There is no communicator \"{}\". There are: naive, flat.", name));
}

}  // namespace odori
