// On which devices a test that runs on all kinds of them runs in this process.
#pragma once

#include <cstdlib>

#include "backend/device_pool.h"

namespace odori {

/// CPU devices of one thread; with ODORI_TEST_DEVICE=cuda, GPUs, which the test's devices and ranks may share.
inline DevicePoolOptions device_under_test() {
  const char* device = std::getenv("ODORI_TEST_DEVICE");
  if (device && std::string(device) == "cuda") return {.request = DeviceRequest::cuda, .share_devices = true};
  return {.request = DeviceRequest::cpu};
}

}  // namespace odori
