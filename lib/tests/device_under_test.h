// SPDX-License-Identifier: Apache-2.0
// On which devices a test that runs on all kinds of them runs in this process.
#pragma once

#include <cstdlib>
#include <string>
#include <vector>

#include "backend/device_pool.h"
#include "comm/communicator.h"

namespace odori {

/// ODORI_TEST_DEVICE=cuda: on GPUs, emulated or not; cpu_bf16: on CPU devices in bf16. Otherwise on CPU devices.
inline bool tested_on(const std::string& name) {
  const char* device = std::getenv("ODORI_TEST_DEVICE");
  return device && device == name;
}
inline bool on_gpus() { return tested_on("cuda"); }
inline bool on_cpu_bf16() { return tested_on("cpu_bf16"); }

/// CPU devices of one thread, or GPUs in fp32, which the test's devices and ranks may share.
inline DevicePoolOptions device_under_test() {
  return on_gpus()
             ? DevicePoolOptions{.request = DeviceRequest::cuda, .share_devices = true, .precision = Precision::fp32}
             : DevicePoolOptions{.request = DeviceRequest::cpu};
}

/// Of these names, those of communicators that work on these devices.
inline std::vector<std::string> communicators_under_test(std::vector<std::string> names = communicator_names()) {
  if (!on_gpus()) std::erase(names, "pure_nccl");
  return names;
}

}  // namespace odori
