#include "comm/communicator.h"

#include "comm/mpi_communicator.h"
#include "core/error.h"

namespace odori {

std::unique_ptr<Communicator> create_communicator(const std::string& name) {
  if (name == "naive") return make_naive_communicator();
  if (name == "flat") return make_flat_communicator();
  if (name == "pure_nccl") return make_pure_nccl_communicator();
  throw UsageError(fmt::format("There is no communicator \"{}\". There are: naive, flat, pure_nccl.", name));
}

}  // namespace odori
