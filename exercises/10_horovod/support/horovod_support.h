// SPDX-License-Identifier: Apache-2.0
// Support code of exercise 10: test shards, and checkpoints of one rank.
#pragma once

#include <string>

#include "data/dataset.h"
#include "epochs.h"
#include "flags/arguments.h"
#include "horovod/horovod.h"
#include "train/trainer.h"
#include "train/updater.h"

namespace odori {

/// Returns images rank, rank + size, rank + 2 size, ... of a set: together the shards hold each image once. Their sizes
/// differ by at most one.
DatasetPtr shard_of(const DatasetPtr& set, int rank, int size);

/// Writes OUT/checkpoint_epoch_N: parameters and statistics (model.bin), optimizer state (optimizer.bin), and the
/// number of epochs. Local. Keeps as many as --keep says; writes nothing with --no-snapshot. Throws Error if it can't.
void save_weights(const Arguments& args, Trainer& trainer);

/// Reads a checkpoint, or the newest of a folder (--resume), into the model and the optimizer, and returns how many
/// epochs had been trained then; without --resume, changes nothing and returns 0. Local. Call it after
/// optimizer.setup(). Throws Error if there is no checkpoint, or one of another network, batch size or optimizer.
int load_weights(const Arguments& args, Classifier& model, Optimizer& optimizer);

/// Makes the updater begin with the epoch after these, in the order of images that it has then. Collective. Throws
/// Error if the ranks don't have the same number.
void skip_epochs(Updater& updater, int epochs, const horovod::Horovod& hvd);

}  // namespace odori
