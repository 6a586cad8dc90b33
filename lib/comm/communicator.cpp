#include "comm/communicator.h"

#include "backend/gpu_plugin.h"
#include "comm/mpi_communicator.h"
#include "core/error.h"

namespace odori {
namespace {

std::unique_ptr<Communicator> load_pure_nccl_communicator() {
  if (const GpuPlugin* plugin = gpu_plugin()) return plugin->make_pure_nccl_communicator();
  throw UsageError(fmt::format(
      "The communicator pure_nccl needs GPUs and NCCL, but {} Or use one of the others: naive, flat.", why_no_gpu()));
}

}  // namespace

std::unique_ptr<Communicator> create_communicator(const std::string& name) {
  if (name == "naive") return make_naive_communicator();
  if (name == "flat") return make_flat_communicator();
  if (name == "pure_nccl") return load_pure_nccl_communicator();
  throw UsageError(fmt::format("There is no communicator \"{}\". There are: naive, flat, pure_nccl.", name));
}

}  // namespace odori
