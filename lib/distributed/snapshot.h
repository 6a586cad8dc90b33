// SPDX-License-Identifier: Apache-2.0
// Everything that is needed to go on with a training, in one folder per epoch: complete, or not there.
//
//   OUT/snapshot_epoch_3/model.bin      parameters and statistics   \  rank 0
//                        optimizer.bin  velocities or moments       /
//                        rank_0.json    iterators, random state, counters, log: one file per rank
//                        snapshot.json  what it is a snapshot of: network, devices, ranks, checksums
//   OUT/latest                             the name of the folder that was written last, whatever the clock did
//
// It is written under another name next to it, checked, and renamed at the end: a full disk or a kill leaves the last
// good snapshot as it was. The newest few are kept; older ones are removed then.
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
  /// How many are kept; 0: all.
  static constexpr int usual_keep = 3;

  /// For one process.
  explicit Snapshot(int keep = usual_keep) : keep_(keep) {}
  /// For several ranks, one folder for all; collective at every epoch's end. `comm` must outlive it.
  explicit Snapshot(Communicator& comm, int keep = usual_keep) : comm_(&comm), keep_(keep) {}
  int priority() const override { return snapshot; }
  bool writes() const override { return !comm_ || comm_->rank() == 0; }
  void initialize(Trainer& trainer) override;
  void run(Trainer& trainer) override;
  std::string name() const override { return "Snapshot"; }

 private:
  Communicator* comm_ = nullptr;
  int keep_;
  std::vector<DataFingerprint> data_;  // of the iterators' data sets, taken once
};

/// Makes the trainer continue after a snapshot, to the very same weights as a run that was not interrupted. Call it
/// when everything is set up, before run(). Of a folder of snapshots the newest that all ranks see complete and
/// undamaged is taken, and those that were passed over are printed. Throws Error for none, a damaged one, another
/// network or other data, another number of devices a rank.
///
/// On another number of ranks, weights, optimizer state, statistics, learning rate, epochs and log are the same. What
/// can't be: each rank's share of the data, its order and its random numbers, and how many batches make an update.
/// Every rank begins with the epoch after the snapshot, in the order that a training run on that many ranks has then.
void resume(const ResumeFrom& from, Trainer& trainer, Communicator* comm = nullptr);

}  // namespace odori
