// SPDX-License-Identifier: Apache-2.0
// Collects facts about this machine: from nvidia-smi, mpirun and ompi_info, from a message between two ranks, from
// copies between GPUs, and from two short training runs.
#pragma once

#include "doctor/diagnosis.h"

namespace odori::doctor {

struct ProbeOptions {
  bool trainings = true;  // do the training runs: half a minute, and only with usable GPUs
  std::string out;        // a folder for results
};

/// The argument with which ./odori doctor starts itself as two ranks that exchange data.
inline constexpr const char* exchange_command = "exchange";
/// Rank 0 prints this on success: the exit code of some launchers is always 0.
inline constexpr const char* exchanged = "The two ranks have exchanged 1 MB.";

/// The argument with which it starts itself for copy_between_gpus().
inline constexpr const char* copies_command = "copy_between_gpus";

/// Facts that cannot be determined are empty.
Facts probe(const ProbeOptions& options);

/// Copies 1 MB from each GPU to the next, and prints speed and correctness of each copy for parse_gpu_copies(). Hangs
/// on a machine where copies never arrive.
void copy_between_gpus();

}  // namespace odori::doctor
