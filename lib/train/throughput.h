// SPDX-License-Identifier: Apache-2.0
// The last line of every training program: images per second.
#pragma once

#include <cstddef>
#include <string>

#include "train/trainer.h"

namespace odori {

/// Prints `Throughput: X [images/sec.] (N / T)`: N images in the T seconds of Trainer::run(), evaluation included. Also
/// writes it to OUT/result.json, with the log, the updates skipped by overflows, the machine and the peak memory.
void report_throughput(Trainer& trainer, std::size_t n_images);

/// Removes result.json from a folder, so that a run that has not ended leaves no result of an earlier one.
void remove_result(const std::string& out);

}  // namespace odori
