// SPDX-License-Identifier: Apache-2.0
// Splits long vectors: MPI counts are ints.
#pragma once

#include <algorithm>
#include <cstddef>

namespace odori {

/// Maximum count of one MPI call, in floats or bytes: 2^28, since some MPIs also count bytes in ints.
inline constexpr std::size_t max_mpi_count = std::size_t{1} << 28;

/// Calls `transfer(offset, count)` for consecutive chunks of [0, n), none of them empty.
template <typename Transfer>
void for_each_chunk(std::size_t n, Transfer transfer, std::size_t max_count = max_mpi_count) {
  for (std::size_t offset = 0; offset < n; offset += max_count)
    transfer(offset, static_cast<int>(std::min(max_count, n - offset)));
}

}  // namespace odori
