// SPDX-License-Identifier: Apache-2.0
// Checks before each collective that all ranks make the same call. If they do not, every rank throws an Error that
// names both calls, where MPI would hang, mix up data, or report an unrelated error.
//
// Costs one all-reduce of 16 bytes per call, on a separate MPI communicator: the minimum and the maximum of a hash of
// each rank's call. Only if these differ do the ranks exchange the calls themselves.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <source_location>
#include <vector>

namespace odori {

/// A collective call that a rank is about to make. `name` must outlive the call.
struct CollectiveCall {
  const char* name;             // "comm->barrier()"
  std::source_location site{};  // where the program makes the call; line 0: unknown
  std::int64_t length = -1;     // elements or bytes of each rank; -1: ranks may differ
  std::int64_t root = -1;       // -1: the call has no root
  const char* unit = "elements";
};

/// Starts checking; call once after MPI_Init. `check_all`: check all collectives; otherwise only those of ProcessGroup.
/// Collective.
void start_agreements(bool check_all);
/// Makes later checks sleep while they wait instead of polling. Call it on all ranks at the same point of the program.
void agree_asleep();
/// True if all collectives are checked.
bool checks_all_calls() noexcept;

/// Throws Error on every rank unless all ranks of the job give an equal plan; its code is exit_code::hang if the calls
/// differ. Collective.
void agree(const CollectiveCall& own);
/// The same for the members of `comm`, which are `ranks` of the job. `number` counts their calls, for the message.
void agree(MPI_Comm comm, const std::vector<int>& ranks, std::uint64_t number, const CollectiveCall& own);

}  // namespace odori
