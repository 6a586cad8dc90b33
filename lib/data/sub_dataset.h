// SPDX-License-Identifier: Apache-2.0
// Parts of a data set. After Chainer's SubDataset and split_dataset_n_random.
#pragma once

#include <cstdint>
#include <vector>

#include "data/dataset.h"

namespace odori {

/// Examples order[0], order[1], ... of a base data set.
class SubDataset : public Dataset {
 public:
  /// Throws Error if an index is out of range.
  SubDataset(DatasetPtr base, std::vector<std::int64_t> order);
  std::size_t size() const override { return order_.size(); }
  Example operator[](std::size_t i) const override { return (*base_)[static_cast<std::size_t>(order_[i])]; }
  int n_classes() const override { return base_->n_classes(); }
  const Transform& transform() const override { return base_->transform(); }
  ImageStoragePtr storage() const override { return base_->storage(); }

 private:
  DatasetPtr base_;
  std::vector<std::int64_t> order_;
};

/// The random order that split_dataset_n_random() and scatter_dataset() use. Depends on n and the seed only, and is
/// independent of the orders of iterators with that seed.
std::vector<std::int64_t> whole_set_order(std::size_t n, std::uint64_t seed);

/// Splits into n parts of size() / n consecutive examples each; the last size() % n examples are in none. Throws Error
/// if the data set is null, or n < 1.
std::vector<DatasetPtr> split_dataset_n(const DatasetPtr& dataset, int n);
/// The same after a random permutation that depends on the seed.
std::vector<DatasetPtr> split_dataset_n_random(const DatasetPtr& dataset, int n, std::uint64_t seed);

}  // namespace odori
