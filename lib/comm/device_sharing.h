// SPDX-License-Identifier: Apache-2.0
// Which ranks share one GPU.
#pragma once

#include "comm/communicator.h"

namespace odori {

struct DeviceSharing {
  bool any = false;       // do two ranks of the job share one GPU?
  bool cpus_too = false;  // is a rank's device a CPU device?
  int position = 0;       // of this rank among the ranks on its GPU: 0, 1, ...
};

/// Collective: every rank gives its device. Throws Error, the same on every rank, if two ranks share a GPU that
/// isn't to be shared.
DeviceSharing find_sharing(Communicator& comm, const Device& device);

}  // namespace odori
