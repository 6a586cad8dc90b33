// SPDX-License-Identifier: Apache-2.0
// Compares, before a collective sends anything, what each rank is about to do: ranks that differ end with a sentence
// that names both calls, where MPI would hang, mix up their data, or report an error of its own.
//
// One all-reduce of 16 bytes a call, on a communicator of its own: the smallest and the largest hash of all ranks'
// plans. Only ranks that differ exchange the plans themselves.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <source_location>
#include <vector>

namespace odori {

/// A collective call that a rank is about to make. `name` must outlive the call.
struct Plan {
  const char* name;             // "comm->barrier()"
  std::source_location site{};  // of the program's call; line 0: unknown
  std::int64_t length = -1;     // of each rank's data; -1: ranks may differ
  std::int64_t root = -1;       // -1: the call has none
  const char* unit = "elements";
};

/// Called when MPI has started. Collective. `check_all`: compare every call of all ranks, else only ProcessGroup's.
void start_agreements(bool check_all);
/// Later calls let ranks wait for each other asleep. On every rank between the same two calls.
void agree_asleep();
/// True if every call of all ranks is compared.
bool checks_all_calls() noexcept;

/// Throws Error on every rank unless all ranks of the job plan the same: exit_code::hang if their calls differ.
/// Collective.
void agree(const Plan& own);
/// The same of some ranks of the job, `ranks` of `comm`. `number`: of the call, among theirs.
void agree(MPI_Comm comm, const std::vector<int>& ranks, std::uint64_t number, const Plan& own);

}  // namespace odori
