#include "backend/gpus.h"
#include "core/error.h"

namespace odori {

bool built_for_gpus() { return false; }

int gpu_count() { return 0; }

std::string why_no_gpu() {
  return "this build has the CPU backend alone; build it where the CUDA toolkit, cuDNN and NCCL are found.";
}

std::unique_ptr<Device> make_gpu(int id, const DevicePoolOptions&) { fail("There is no GPU {}: {}", id, why_no_gpu()); }

}  // namespace odori
