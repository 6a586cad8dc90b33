// SPDX-License-Identifier: Apache-2.0
#include "epochs.h"

#include "train/log_report.h"
#include "train/print_report.h"

namespace odori {

void print_epochs(Trainer& trainer, const Communicator& comm) {
  if (comm.rank() != 0) return;
  trainer.extend(LogReport());
  trainer.extend(PrintReport(
      {"epoch", "main/loss", "validation/main/loss", "main/accuracy", "validation/main/accuracy", "elapsed_time"}));
}

}  // namespace odori
