// SPDX-License-Identifier: Apache-2.0
// Ranks average numbers over NCCL until something fails: run by nccl_failure_test, on emulated GPUs.
#include <cstdlib>
#include <string>
#include <vector>

#include "comm/communicator.h"
#include "comm/session.h"
#include "device_under_test.h"
#include "errors/error.h"
#include "program/program.h"

using namespace odori;

int main(int argc, char** argv) try {
  const MpiSession mpi(argc, argv);
  const std::string way = argc > 1 ? argv[1] : "";
  const auto comm = create_communicator(argc > 2 ? argv[2] : "pure_nccl");
  DevicePool pool({.request = way == "cpu" ? DeviceRequest::cpu : DeviceRequest::cuda,
                   .share_devices = way != "alone" && way != "one node"});
  // "one node": as programs do on simulated nodes, where each node counts its devices from 0.
  Device& device = pool.use(way == "one node" ? 0 : comm->intra_rank());
  Buffer numbers = device.allocate(1000);
  const Range all{0, numbers.size()};
  for (int i = 0; i < 5; ++i) {
    if (comm->rank() == 1 && i == 2 && way == "throw") fail("The cause of this failure.");
    if (comm->rank() == 1 && i == 2 && way == "leave") break;
    if (way == "in 16 bits")
      comm->all_reduce_mean_in(Dtype::fp16, device, numbers, {&all, 1});
    else
      comm->all_reduce_mean(device, numbers, {&all, 1});
  }
  std::vector<float> host(numbers.size());
  device.read(numbers, 0, host);
  fmt::print("Rank {} is through.\n", comm->rank());
  return 0;
} catch (...) {
  return report_failure();
}
