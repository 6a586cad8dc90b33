// SPDX-License-Identifier: Apache-2.0
// Checks every MPI call, and turns failures into Errors.
#pragma once

#include <mpi.h>

#include <span>

namespace odori {

/// Throws Error with MPI's message unless `code` is MPI_SUCCESS.
void check_mpi(int code, const char* call, const char* file, int line);

/// Waits until all requests are complete (MPI_Waitall). Sleeps between tests, whereas MPI polls, which takes a core
/// from ranks that compute.
void await(std::span<MPI_Request> requests);

}  // namespace odori

#define ODORI_MPI(call) ::odori::check_mpi((call), #call, __FILE__, __LINE__)
