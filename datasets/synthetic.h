// SPDX-License-Identifier: Apache-2.0
// An image set that needs no download: ten classes of shapes and patterns, in CIFAR-10's binary format.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>

#include "data/dataset.h"

namespace odori::synthetic {

/// Label i is class_names[i]; the line i of batches.meta.txt.
inline constexpr std::array<const char*, 10> class_names{"disc", "ring",     "square", "triangle", "cross",
                                                         "star", "crescent", "heart",  "stripes",  "checks"};

/// One record of CIFAR-10's files: the label, then the red, green and blue plane of 32 x 32 bytes, row-major.
using Record = std::array<std::uint8_t, 1 + Example::bytes>;

enum class Split : std::uint32_t { train, test };

/// How many images one split can have.
inline constexpr std::uint32_t max_images = 1u << 30;

/// Image `number` (< max_images) of a split. It depends on the three arguments alone, and is computed in integers
/// alone, so it is the same on every machine. Images 10 i .. 10 i + 9 show each class once, in random order: every
/// part of the set is balanced.
Record draw(std::uint64_t seed, Split split, std::uint32_t number);

/// What to write; five training files share the images, so 5 is the least.
struct Options {
  std::uint32_t train = 10000, test = 2000;
  std::uint64_t seed = 0;
  bool operator==(const Options&) const = default;
};

/// Writes data_batch_1.bin .. data_batch_5.bin, test_batch.bin, batches.meta.txt and `made_by.txt` (the options) to
/// `folder`, which must exist. Throws Error if a file can't be written (disk full), or on Ctrl-C.
void write_files(const std::filesystem::path& folder, const Options& options);

/// What is in a folder.
struct Contents {
  enum class What { nothing, complete_set, something_else } what = What::nothing;
  Options options;  // of a complete set
};
/// A complete set is one that write_files wrote: `made_by.txt` is there, and each file has the size that follows.
Contents look_at(const std::filesystem::path& folder);

/// write_files to a temporary folder next to `target`, then one rename: the set is complete or not there. `target`
/// must be nothing, or a set (it is replaced). Throws Error, and then `target` is as it was before.
void write_set(const std::filesystem::path& target, const Options& options);

}  // namespace odori::synthetic
