// SPDX-License-Identifier: Apache-2.0
// The files of a snapshot's folder, and the checks before a run resumes from them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "data/serial_iterator.h"
#include "model/classifier.h"

namespace odori {

/// Size and CRC-32 (zlib's) of a file.
struct FileCheck {
  std::uint64_t bytes = 0;
  std::uint32_t crc32 = 0;
  bool operator==(const FileCheck&) const = default;
};

/// Calls write_file(), and returns the file's check.
FileCheck write_checked(const std::string& path, std::span<const std::span<const std::byte>> pieces);
FileCheck write_checked(const std::string& path, const std::string& text);

/// Reads a whole file. Throws Error if it does not exist.
std::vector<std::byte> read_bytes(const std::string& path);
/// The same; also throws Error if the file does not match `check`.
std::vector<std::byte> read_checked(const std::string& path, const FileCheck& check);

/// Checksums of a data set's examples: count, labels, pixels.
struct DataFingerprint {
  std::uint32_t in_order = 0;
  std::uint64_t of_set =
      0;  // of the counted examples, independent of their order: the sum over disjoint shards is that of the whole set
};
DataFingerprint fingerprint(const Dataset& data);

/// The configuration of the run that a snapshot belongs to.
struct SnapshotSubject {
  NetworkSpec network;
  int batch_size = 0;     // per device
  std::string gradients;  // Updater::description(): devices per rank, and the rule
  std::string optimizer;  // Optimizer::name()
  int n_ranks = 1;
  std::string precision = "fp32";
};
/// Throws Error, which names what differs and the flag to change, unless both are equal. The number of ranks and the
/// precision may differ.
void require_same(const SnapshotSubject& saved, const SnapshotSubject& here);

/// snapshot.json
struct SnapshotManifest {
  SnapshotSubject subject;
  std::uint64_t data = 0;                  // DataFingerprint::of_set of the whole set
  double written = 0;                      // seconds since the Unix epoch
  std::map<std::string, FileCheck> files;  // the other files, by name
};
std::string to_text(const SnapshotManifest& manifest);
/// Reads `folder`/snapshot.json. Throws Error if it is missing or damaged.
SnapshotManifest read_manifest(const std::string& folder);

/// Throws Error if a file of the folder is missing, or does not match the manifest.
void require_undamaged(const std::string& folder);

/// rank_R.json: the state of one rank.
struct RankState {
  std::int64_t iteration = 0;
  double elapsed_time = 0;  // seconds
  float learning_rate = 0;
  std::int64_t n_updates = 0;  // Optimizer::n_updates(): less than `iteration` if updates were skipped
  std::int64_t overflows = 0;  // ExchangeReport::overflows
  AlgorithmTable algorithms;
  std::vector<IteratorState> iterators;       // one per device
  std::vector<std::uint32_t> data;            // DataFingerprint::in_order of their data sets
  std::vector<RandomKey> random;              // one per device
  std::map<std::string, std::string> states;  // of extensions, by name
};
std::string to_text(const RankState& state);
/// Throws Error if the file is missing, or does not match the manifest.
RankState read_rank_state(const std::string& folder, const std::string& name, const SnapshotManifest& manifest);

/// *.bin: vectors of floats one after another, in the machine's byte order (little-endian wherever the kit runs).
using Vectors = std::vector<std::vector<float>>;
FileCheck write_vectors(const std::string& path, const std::vector<const Vectors*>& lists);
/// Also throws Error if the number of elements is not the sum of `sizes`.
Vectors read_vectors(const std::string& folder, const std::string& name, const SnapshotManifest& manifest,
                     const std::vector<std::size_t>& sizes);

}  // namespace odori
