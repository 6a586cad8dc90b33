// SPDX-License-Identifier: Apache-2.0
// The files of a snapshot's folder: what is in them, and what a training has to be to go on from them.
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

/// What a file has to be: its size, and zlib's CRC-32 of its bytes.
struct FileCheck {
  std::uint64_t bytes = 0;
  std::uint32_t crc32 = 0;
  bool operator==(const FileCheck&) const = default;
};

/// write_file(), and what later reads must find in the file.
FileCheck write_checked(const std::string& path, std::span<const std::span<const std::byte>> pieces);
FileCheck write_checked(const std::string& path, const std::string& text);

/// The whole file. Throws Error if it isn't there.
std::vector<std::byte> read_bytes(const std::string& path);
/// The same; throws Error as well if it is cut or not what was written.
std::vector<std::byte> read_checked(const std::string& path, const FileCheck& check);

/// Tells data sets apart by the count, labels and pixels of their examples.
struct DataFingerprint {
  std::uint32_t in_order = 0;
  std::uint64_t of_set = 0;  // whatever the order, of those that are counted: disjoint shares add up to the whole's
};
DataFingerprint fingerprint(const Dataset& data);

/// What a snapshot is a snapshot of.
struct SnapshotSubject {
  NetworkSpec network;
  int batch_size = 0;     // of one device
  std::string gradients;  // Updater::description(): devices a rank and the rule
  std::string optimizer;  // Optimizer::name()
  int n_ranks = 1;
  std::string precision = "fp32";
};
/// Throws Error that names what differs, and the flag that makes it equal. The number of ranks and the precision may
/// differ.
void require_same(const SnapshotSubject& saved, const SnapshotSubject& here);

/// snapshot.json
struct SnapshotManifest {
  SnapshotSubject subject;
  std::uint64_t data = 0;                  // DataFingerprint::of_set of all ranks' shares
  double written = 0;                      // seconds since the Unix epoch
  std::map<std::string, FileCheck> files;  // all others, by name
};
std::string to_text(const SnapshotManifest& manifest);
/// `path` is the folder. Throws Error if the file isn't there or is damaged.
SnapshotManifest read_manifest(const std::string& folder);

/// Throws Error if a file of the folder is missing, or isn't what the manifest says.
void require_undamaged(const std::string& folder);

/// rank_R.json: what one rank has to remember.
struct RankState {
  std::int64_t iteration = 0;
  double elapsed_time = 0;  // seconds
  float learning_rate = 0;
  std::int64_t n_updates = 0;  // Optimizer::n_updates(): less than iteration where updates were skipped
  std::int64_t overflows = 0;  // ExchangeReport::overflows
  AlgorithmTable algorithms;
  std::vector<IteratorState> iterators;       // one a device
  std::vector<std::uint32_t> data;            // DataFingerprint::in_order of their data sets
  std::vector<RandomKey> random;              // one a device
  std::map<std::string, std::string> states;  // of the extensions, by name
};
std::string to_text(const RankState& state);
/// Throws Error if the file isn't there, or isn't what the manifest says.
RankState read_rank_state(const std::string& folder, const std::string& name, const SnapshotManifest& manifest);

/// *.bin: vectors of floats one after another, in the machine's byte order (little-endian wherever the kit runs).
using Vectors = std::vector<std::vector<float>>;
FileCheck write_vectors(const std::string& path, const std::vector<const Vectors*>& lists);
/// Throws Error as well if the file holds another count of elements than `sizes` do.
Vectors read_vectors(const std::string& folder, const std::string& name, const SnapshotManifest& manifest,
                     const std::vector<std::size_t>& sizes);

}  // namespace odori
