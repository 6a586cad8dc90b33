// SPDX-License-Identifier: Apache-2.0
// The function of a communicator that somebody else wrote.
#pragma once

#include "comm/communicator.h"

namespace odori {

/// Returns the function of a communicator that create_communicator(all_reduce, name) made, valid as long as that.
/// Throws Error for another communicator.
const AllReduce& all_reduce_of(const Communicator& comm);

}  // namespace odori
