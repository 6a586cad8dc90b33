// SPDX-License-Identifier: Apache-2.0
#include "data/sub_dataset.h"

#include <numeric>
#include <utility>

#include "errors/error.h"
#include "numbers/random.h"

namespace odori {
namespace {

std::vector<DatasetPtr> split(const DatasetPtr& dataset, int n, const std::vector<std::int64_t>& order) {
  const auto part = static_cast<std::ptrdiff_t>(order.size()) / n;
  std::vector<DatasetPtr> parts;
  for (auto begin = order.begin(); static_cast<int>(parts.size()) < n; begin += part)
    parts.push_back(std::make_shared<SubDataset>(dataset, std::vector<std::int64_t>(begin, begin + part)));
  return parts;
}

void check_split(const DatasetPtr& dataset, int n) {
  require(dataset != nullptr, "There is no data set to split: load it first.");
  require(n >= 1, "A data set can't be split into {} parts: at least 1.", n);
}

}  // namespace

SubDataset::SubDataset(DatasetPtr base, std::vector<std::int64_t> order)
    : base_(std::move(base)), order_(std::move(order)) {
  require(base_ != nullptr, "A part of a data set needs a data set: none was given.");
  for (const std::int64_t i : order_)
    require(i >= 0 && static_cast<std::size_t>(i) < base_->size(),
            "Example {} is not in the base data set, which has {} (numbered from 0).", i, base_->size());
}

std::vector<std::int64_t> whole_set_order(std::size_t n, std::uint64_t seed) {
  // The last stream: no iterator's, since those count devices and ranks from 0.
  RandomSequence random(seed, RandomUse::shuffle, 0xFFFFFFFFu);
  return random_permutation(n, random);
}

std::vector<DatasetPtr> split_dataset_n(const DatasetPtr& dataset, int n) {
  check_split(dataset, n);
  std::vector<std::int64_t> order(dataset->size());
  std::iota(order.begin(), order.end(), 0);
  return split(dataset, n, order);
}

std::vector<DatasetPtr> split_dataset_n_random(const DatasetPtr& dataset, int n, std::uint64_t seed) {
  check_split(dataset, n);
  return split(dataset, n, whole_set_order(dataset->size(), seed));
}

}  // namespace odori
