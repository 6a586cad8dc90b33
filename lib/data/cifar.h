// SPDX-License-Identifier: Apache-2.0
// CIFAR-10 and CIFAR-100 in the official binary format. Source: A. Krizhevsky, 2009, "Learning Multiple Layers of
// Features from Tiny Images".
#pragma once

#include <string>

#include "data/dataset.h"

namespace odori {

struct CifarOptions {
  int image_size = 32;    // 256 with fraction 0.05 is the workshop's cifar10_256px_5p
  double fraction = 1.0;  // the first fraction of each of the two sets, (0, 1]
  bool augment = false;   // training images: random crop (4 pixels of padding) and flip
};

struct TrainTest {
  DatasetPtr train, test;
};

/// Resolves "auto" to "cifar10" if that set is installed, else "synthetic". Returns other names unchanged.
std::string resolve_dataset(const std::string& name, const std::string& root = {});

/// `name` is "cifar10", "cifar100", "synthetic" (folders under `root`), "auto", or a path to a folder that holds
/// data_batch_1.bin ... data_batch_5.bin and test_batch.bin (CIFAR-10's format), or train.bin and test.bin
/// (CIFAR-100's). Without `root`: $ODORI_DATA, else datasets/cache of this repository. The files are mapped into
/// memory, not read. Pixels are normalised per channel with constants of the data set (in cifar.cpp). Throws Error for
/// a missing folder or file, a size that is not a whole number of records (for "cifar10" and "cifar100": not the
/// published number), or a label out of range.
TrainTest load_cifar(const std::string& name, const CifarOptions& options = {}, const std::string& root = {});

}  // namespace odori
