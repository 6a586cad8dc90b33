// SPDX-License-Identifier: Apache-2.0
// Lets ranks of one node communicate where they may not read each other's memory, as in some containers.
#pragma once

namespace odori {

/// Call before MPI_Init. Open MPI copies long messages between ranks of a node with process_vm_readv ("cross-memory
/// attach", CMA). Docker, Podman and Kubernetes may refuse this system call, and then each message fails with
/// "Read -1, expected N, errno = 1". This calls it once, on this process's own memory; where it is refused, Open MPI is
/// set to copy through shared memory, by its parameters btl_vader_single_copy_mechanism (version 4) and smsc (5),
/// unless the environment has set them. Returns whether it is refused.
bool avoid_refused_reads();

}  // namespace odori
