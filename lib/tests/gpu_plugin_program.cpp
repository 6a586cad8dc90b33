// SPDX-License-Identifier: Apache-2.0
// What the library says of GPUs, and what was loaded for it: run by gpu_plugin_test.
#include <cstdio>
#include <fstream>
#include <string>

#include "backend/device_pool.h"
#include "backend/gpu_plugin.h"
#include "comm/communicator.h"
#include "errors/error.h"
#include "program/program.h"

using namespace odori;

namespace {

/// A GPU that isn't there, or NCCL without GPUs.
void ask_for_too_much() try {
  if (const GpuPlugin* plugin = gpu_plugin())
    plugin->make_gpu(1000, {});
  else
    create_communicator("pure_nccl");
} catch (const Error& error) {
  fmt::print("refused with exit code {}: {}\n", error.code(), error.what());
}

}  // namespace

int main() try {
  fmt::print("library: {}\nGPUs: {}\nwhy none: {}\n", library_file().string(), gpu_count(), why_no_gpu());
  ask_for_too_much();
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);)
    if (const auto name = line.rfind('/'); name != std::string::npos) fmt::print("loaded: {}\n", line.substr(name + 1));
  return 0;
} catch (...) {
  return report_failure();
}
