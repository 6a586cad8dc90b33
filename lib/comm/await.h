// SPDX-License-Identifier: Apache-2.0
// Waiting for MPI asleep: MPI's own calls wait at work, and take a core from those who compute.
#pragma once

#include <mpi.h>

#include <span>

namespace odori {

/// Until all of them are complete.
void await(std::span<MPI_Request> requests);

}  // namespace odori
