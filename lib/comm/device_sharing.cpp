// SPDX-License-Identifier: Apache-2.0
#include "comm/device_sharing.h"

#include "errors/error.h"

namespace odori {

DeviceSharing find_sharing(Communicator& comm, const Device& device) {
  const std::vector<Hardware> all = comm.all_gather(device.hardware());
  const auto size = all.size(), rank = static_cast<std::size_t>(comm.rank());
  DeviceSharing sharing;
  for (std::size_t a = 0; a < size; ++a) {
    sharing.cpus_too |= all[a].id == 0;
    for (std::size_t b = a + 1; b < size; ++b) {
      if (all[a].id == 0 || all[a].id != all[b].id) continue;
      require(
          all[a].may_be_shared && all[b].may_be_shared,
          "Ranks {} and {} stand on one GPU. Give every rank a GPU of its own: no more ranks on a machine than it "
          "has GPUs, each with the device of its intra_rank. To try things out, --share-devices lets ranks share; a "
          "speedup can't be measured then.",
          a, b);
      sharing.any = true;
      if (b == rank) ++sharing.position;
    }
  }
  return sharing;
}

}  // namespace odori
