// SPDX-License-Identifier: Apache-2.0
// MPI counts are ints; vectors may be longer.
#pragma once

#include <algorithm>
#include <cstddef>

namespace odori {

/// How much one MPI call is given at most: 2^28 floats or bytes, since some MPIs count bytes in ints too.
inline constexpr std::size_t max_mpi_count = std::size_t{1} << 28;

/// Calls `transfer(offset, count)` for consecutive chunks of [0, n), none of them empty.
template <typename Transfer>
void for_each_chunk(std::size_t n, Transfer transfer, std::size_t max_count = max_mpi_count) {
  for (std::size_t offset = 0; offset < n; offset += max_count)
    transfer(offset, static_cast<int>(std::min(max_count, n - offset)));
}

}  // namespace odori
