// SPDX-License-Identifier: Apache-2.0
// The last line of every program: how many images a second.
#pragma once

#include <cstddef>
#include <string>

#include "train/trainer.h"

namespace odori {

/// Prints `Throughput: X [images/sec.] (N / T)`, N images in T seconds of the trainer's run, evaluation included, and
/// writes the same with the log, the updates that an overflow left out, the machine and the peak memory to
/// OUT/result.json.
void report_throughput(Trainer& trainer, std::size_t n_images);

/// Takes an earlier training's result.json out of a folder: what is there is that of the last one, once it has ended.
void remove_result(const std::string& out);

}  // namespace odori
