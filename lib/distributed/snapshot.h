// SPDX-License-Identifier: Apache-2.0
// Saves and resumes training runs. A snapshot is one folder per epoch, complete or absent.
//
//   OUT/snapshot_epoch_3/model.bin      parameters and statistics   \  rank 0
//                        optimizer.bin  velocities or moments       /
//                        rank_0.json    iterators, random state, counters, log: one file per rank
//                        snapshot.json  network, devices, ranks; size and checksum of each file
//   OUT/latest                             the name of the last folder written
//
// A snapshot is written under a temporary name, checked, and renamed: a full disk or a kill leaves the last good one
// intact. Afterwards all but the newest few are removed.
#pragma once

#include <string>
#include <vector>

#include "comm/communicator.h"
#include "distributed/snapshot_file.h"
#include "files/resume_from.h"
#include "train/extension.h"

namespace odori {

class Snapshot : public Extension {
 public:
  /// Number of snapshots kept; 0: all.
  static constexpr int usual_keep = 3;

  /// For one process.
  explicit Snapshot(int keep = usual_keep) : keep_(keep) {}
  /// For several ranks, which share one folder. Collective at the end of every epoch. `comm` must outlive it.
  explicit Snapshot(Communicator& comm, int keep = usual_keep) : comm_(&comm), keep_(keep) {}
  int priority() const override { return snapshot; }
  bool writes() const override { return !comm_ || comm_->rank() == 0; }
  void initialize(Trainer& trainer) override;
  void run(Trainer& trainer) override;
  std::string name() const override { return "Snapshot"; }

 private:
  Communicator* comm_ = nullptr;
  int keep_;
  std::vector<DataFingerprint> data_;  // of the iterators' data sets, computed once
};

/// Makes the trainer continue from a snapshot, with the same bits as a run without interruption. Call it after all
/// set-up, before run(). In a folder of snapshots it uses the newest that is complete and undamaged on all ranks, and
/// prints which it skipped. Throws Error if there is none, if it is damaged, or if network, data or devices per rank
/// differ.
///
/// The number of ranks may differ: weights, optimizer state, statistics, learning rate, epochs and log are restored.
/// Data shards, their order, the random sequences and the batches per update are those of a run on the new number of
/// ranks that starts the next epoch.
void resume(const ResumeFrom& from, Trainer& trainer, Communicator* comm = nullptr);

}  // namespace odori
