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
  /// Throws Error if an index lies outside the base.
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

/// The random order of a whole data set that split_dataset_n_random and scatter_dataset use; the same for the same
/// seed, and unrelated to the orders of iterators with that seed.
std::vector<std::int64_t> whole_set_order(std::size_t n, std::uint64_t seed);

/// n parts of size() / n examples each, in order; the remainder of size() % n is in none of them.
/// Throws Error if there is no data set, or n is less than 1.
std::vector<DatasetPtr> split_dataset_n(const DatasetPtr& dataset, int n);
/// The same of a random order: disjoint, equal, and the same for the same seed.
std::vector<DatasetPtr> split_dataset_n_random(const DatasetPtr& dataset, int n, std::uint64_t seed);

}  // namespace odori
