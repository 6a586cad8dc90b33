// SPDX-License-Identifier: Apache-2.0
// Finding the facts out: by asking nvidia-smi, mpirun and ompi_info, by an exchange of two ranks, by copies between
// GPUs, and by two short training runs.
#pragma once

#include "doctor/diagnosis.h"

namespace odori::doctor {

struct ProbeOptions {
  bool trainings = true;  // the short ones, which take half a minute; only where there are usable GPUs
  std::string out;        // a folder for results
};

/// The argument with which ./odori doctor starts its own program as two ranks that exchange something.
inline constexpr const char* exchange_command = "exchange";
/// What the first of them prints then. Some launchers end with 0 whatever the ranks do.
inline constexpr const char* exchanged = "The two ranks have exchanged 1 MB.";

/// That with which it starts its own program for copy_between_gpus().
inline constexpr const char* copies_command = "copy_between_gpus";

/// What can't be found out is empty.
Facts probe(const ProbeOptions& options);

/// Times and compares 1 MB from each GPU to the next one, and prints a line each, which parse_gpu_copies() reads. Can
/// wait for ever on a machine where copies never arrive.
void copy_between_gpus();

}  // namespace odori::doctor
