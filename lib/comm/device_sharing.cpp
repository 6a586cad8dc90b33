#include "comm/device_sharing.h"

#include "core/error.h"

namespace odori {

DeviceSharing find_sharing(Communicator& comm, const Device& device) {
  const auto size = static_cast<std::size_t>(comm.size()), rank = static_cast<std::size_t>(comm.rank());
  std::vector<double> all(2 * size);  // every rank fills its own places: sums are what it wrote
  const std::span<double> ids(all.data(), size), may_share(&all[size], size);
  ids[rank] = static_cast<double>(device.hardware().id);
  may_share[rank] = device.hardware().may_be_shared ? 1 : 0;
  comm.sum(all);

  DeviceSharing sharing;
  for (std::size_t a = 0; a < size; ++a) {
    for (std::size_t b = a + 1; b < size; ++b) {
      if (ids[a] == 0 || ids[a] != ids[b]) continue;
      require(
          may_share[a] != 0 && may_share[b] != 0,
          "Ranks {} and {} stand on one GPU. Give every rank a GPU of its own: no more ranks on a machine than it "
          "has GPUs, each with the device of its intra_rank. To try things out, --share_devices lets ranks share; a "
          "speedup can't be measured then.",
          a, b);
      sharing.any = true;
      if (b == rank) ++sharing.position;
    }
  }
  return sharing;
}

}  // namespace odori
