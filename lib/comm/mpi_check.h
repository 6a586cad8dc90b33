// SPDX-License-Identifier: Apache-2.0
// Every MPI call is checked, and a failing one becomes an Error.
#pragma once

#include <mpi.h>

#include <span>

namespace odori {

/// Throws Error with MPI's own words for a code other than MPI_SUCCESS.
void check_mpi(int code, const char* call, const char* file, int line);

/// Waits asleep until all of them are complete: MPI's own calls wait at work, and take a core from those who compute.
void await(std::span<MPI_Request> requests);

}  // namespace odori

#define ODORI_MPI(call) ::odori::check_mpi((call), #call, __FILE__, __LINE__)
