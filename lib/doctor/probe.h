// Finding the facts out: by asking nvidia-smi, mpirun and ompi_info, and by two short training runs.
#pragma once

#include "doctor/diagnosis.h"

namespace odori::doctor {

struct ProbeOptions {
  bool trainings = true;  // the short ones, which take half a minute; only where there are usable GPUs
  std::string out;        // a folder for results
};

/// What can't be found out is empty.
Facts probe(const ProbeOptions& options);

}  // namespace odori::doctor
