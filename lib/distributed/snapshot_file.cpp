// SPDX-License-Identifier: Apache-2.0
#include "distributed/snapshot_file.h"

#include <zlib.h>

#include <cstring>
#include <nlohmann/json.hpp>
#include <numeric>

#include "data/mapped_file.h"
#include "errors/error.h"
#include "files/file.h"
#include "files/json.h"

namespace odori {

using nlohmann::json;

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(NetworkSpec, name, n_classes, image_size)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(SnapshotSubject, network, batch_size, gradients, optimizer, n_ranks, precision)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(FileCheck, bytes, crc32)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(SnapshotManifest, subject, data, written, files)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(AlgorithmTable, measure, chosen)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(IteratorState, position, epoch, random_position, is_new_epoch, previous_epoch_detail,
                                   order)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RandomKey, seed, stream, step)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RankState, iteration, elapsed_time, learning_rate, n_updates, overflows, algorithms,
                                   iterators, data, random, states)

namespace {

constexpr int format = 5;  // of all files of the folder

template <typename T>
T parse(const std::string& path, const std::vector<std::byte>& bytes) {
  try {
    const auto* text = reinterpret_cast<const char*>(bytes.data());
    return parse_json({text, bytes.size()}).get<T>();
  } catch (const json::exception&) {
    fail("{} is damaged: it isn't a snapshot's file of format {}.", path, format);
  }
}

/// A file of the folder, if it is what the manifest says.
std::vector<std::byte> read_listed(const std::string& folder, const std::string& name,
                                   const SnapshotManifest& manifest) {
  const auto check = manifest.files.find(name);
  require(check != manifest.files.end(), "{}/snapshot.json is damaged: it doesn't list {}.", folder, name);
  return read_checked(folder + "/" + name, check->second);
}

}  // namespace

void require_same(const SnapshotSubject& saved, const SnapshotSubject& here) {
  require(saved.network.name == here.network.name,
          "The snapshot is of the network \"{}\", this training is of \"{}\". Give --model {}.", saved.network.name,
          here.network.name, saved.network.name);
  require(saved.network.n_classes == here.network.n_classes,
          "The snapshot is of a network for {} classes, this training has {}. Give the --dataset that it was trained "
          "on.",
          saved.network.n_classes, here.network.n_classes);
  require(saved.network.image_size == here.network.image_size,
          "The snapshot was made with images of {0} x {0}, this training uses {1} x {1}. Give --image-size {0}.",
          saved.network.image_size, here.network.image_size);
  require(saved.batch_size == here.batch_size,
          "The snapshot is of batches of {}, this training of batches of {}. Give --batchsize {}.", saved.batch_size,
          here.batch_size, saved.batch_size);
  require(saved.gradients == here.gradients,
          "The snapshot is of a training with {} a rank, this one has {}. Give the flags on devices, batches an update "
          "and the exchange of gradients that it was trained with.",
          saved.gradients, here.gradients);
  require(saved.optimizer == here.optimizer,
          "The snapshot is of a training by the optimizer {0}, this one is by {1}. Give --optimizer {0}.",
          saved.optimizer, here.optimizer);
}

std::string to_text(const SnapshotManifest& manifest) {
  json root = manifest;
  root["format"] = format;
  return json_text(root, 2) + "\n";
}

SnapshotManifest read_manifest(const std::string& folder) {
  const std::string path = folder + "/snapshot.json";
  const std::vector<std::byte> bytes = read_bytes(path);
  const json root = parse<json>(path, bytes);
  require(root.is_object() && root.contains("format") && root["format"] == format,
          "{} isn't a snapshot of format {}: it is damaged, or was written by another version of this program.", path,
          format);
  return parse<SnapshotManifest>(path, bytes);
}

void require_undamaged(const std::string& folder) {
  const SnapshotManifest manifest = read_manifest(folder);
  for (const auto& [name, check] : manifest.files) read_listed(folder, name, manifest);
}

std::string to_text(const RankState& state) { return json_text(json(state)) + "\n"; }

RankState read_rank_state(const std::string& folder, const std::string& name, const SnapshotManifest& manifest) {
  return parse<RankState>(folder + "/" + name, read_listed(folder, name, manifest));
}

FileCheck write_vectors(const std::string& path, const std::vector<const Vectors*>& lists) {
  std::vector<std::span<const std::byte>> pieces;
  for (const Vectors* list : lists)
    for (const auto& vector : *list) pieces.push_back(std::as_bytes(std::span(vector)));
  return write_checked(path, pieces);
}

Vectors read_vectors(const std::string& folder, const std::string& name, const SnapshotManifest& manifest,
                     const std::vector<std::size_t>& sizes) {
  const std::vector<std::byte> bytes = read_listed(folder, name, manifest);
  const std::size_t n = std::accumulate(sizes.begin(), sizes.end(), std::size_t{0});
  require(bytes.size() == n * sizeof(float),
          "{}/{} holds {} numbers, the network of this training has {}: it is of another network.", folder, name,
          bytes.size() / sizeof(float), n);
  Vectors vectors;
  const std::byte* from = bytes.data();
  for (const std::size_t size : sizes) {
    std::memcpy(vectors.emplace_back(size).data(), from, size * sizeof(float));
    from += size * sizeof(float);
  }
  return vectors;
}

DataFingerprint fingerprint(const Dataset& data) {
  DataFingerprint all;
  for (std::size_t i = 0; i < data.size(); ++i) {
    const Example example = data[i];
    const std::int64_t numbers[] = {example.id, example.label};
    uLong crc = ::crc32_z(0, reinterpret_cast<const Bytef*>(numbers), sizeof numbers);
    crc = ::crc32_z(crc, example.pixels, Example::bytes);
    all.in_order =
        static_cast<std::uint32_t>(::crc32_z(all.in_order, reinterpret_cast<const Bytef*>(&crc), sizeof crc));
    if (example.counted) all.of_set += crc;
  }
  return all;
}

namespace {

std::uint32_t crc(std::uint32_t before, std::span<const std::byte> bytes) {
  return static_cast<std::uint32_t>(::crc32_z(before, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

}  // namespace

FileCheck write_checked(const std::string& path, std::span<const std::span<const std::byte>> pieces) {
  write_file(path, pieces);
  FileCheck check;
  for (const auto& piece : pieces) {
    check.bytes += piece.size();
    check.crc32 = crc(check.crc32, piece);
  }
  return check;
}

FileCheck write_checked(const std::string& path, const std::string& text) {
  const std::span<const std::byte> piece = std::as_bytes(std::span(text));
  return write_checked(path, {&piece, 1});
}

std::vector<std::byte> read_bytes(const std::string& path) {
  const MappedFile file(path);
  const auto* bytes = reinterpret_cast<const std::byte*>(file.data());
  return {bytes, bytes + file.size()};
}

std::vector<std::byte> read_checked(const std::string& path, const FileCheck& check) {
  std::vector<std::byte> bytes = read_bytes(path);
  require(bytes.size() == check.bytes, "{} is damaged: it has {} bytes, but {} were written.", path, bytes.size(),
          check.bytes);
  require(crc(0, bytes) == check.crc32, "{} is damaged: its checksum isn't that of what was written.", path);
  return bytes;
}

}  // namespace odori
