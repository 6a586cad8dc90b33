// SPDX-License-Identifier: Apache-2.0
// Trains for ever into the folder argv[1], with snapshots if argv[2] says so: run by train_interrupt_test.
#include "distributed/snapshot.h"
#include "program/program.h"
#include "train/log_report.h"
#include "train_support.h"

using namespace odori;

int main(int argc, char** argv) try {
  if (argc != 3) fail("Usage: train_interrupt_program FOLDER snapshots|none");
  test::Training training({.batch_size = 8}, test::images(64));
  Trainer trainer(*training.updater, 1000000, argv[1]);
  trainer.extend(LogReport());
  if (std::string(argv[2]) == "snapshots") trainer.extend(Snapshot());
  trainer.run();
  return 0;
} catch (...) {
  return report_failure();
}
