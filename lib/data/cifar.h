// CIFAR-10 and CIFAR-100 in the official binary format. Source: A. Krizhevsky, 2009, "Learning Multiple Layers of
// Features from Tiny Images".
#pragma once

#include <string>

#include "data/dataset.h"

namespace odori {

struct CifarOptions {
  int image_size = 32;    // 256 with fraction 0.05 is the workshop's cifar10_256px_5p
  double fraction = 1.0;  // the first part of each of the two sets, (0, 1]
  bool augment = false;   // training pictures: random crop (4 pixels of padding) and flip
};

struct TrainTest {
  DatasetPtr train, test;
};

/// `name` is "cifar10", "cifar100", "synthetic" (folders under `root`) or a path to a folder that holds the files
/// data_batch_*.bin and test_batch.bin (CIFAR-10) or train.bin and test.bin (CIFAR-100). The files are mapped into
/// memory, not read. Pixels are normalised per channel with constants of the data set (in cifar.cpp).
/// Throws Error for a missing folder or file, a size that isn't a whole number of records, a label out of range.
TrainTest load_cifar(const std::string& name, const CifarOptions& options = {}, const std::string& root = {});

}  // namespace odori
