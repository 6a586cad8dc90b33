// SPDX-License-Identifier: Apache-2.0
// What a data set is: numbered examples of one kind.
#pragma once

#include <cstddef>
#include <memory>

#include "data/batch.h"

namespace odori {

class Dataset {
 public:
  virtual ~Dataset() = default;
  virtual std::size_t size() const = 0;
  /// i < size().
  virtual Example operator[](std::size_t i) const = 0;
  virtual int n_classes() const = 0;
  virtual const Transform& transform() const = 0;
  /// Null if there is none.
  virtual ImageStoragePtr storage() const { return nullptr; }
};

/// Shared, since iterators, splits and shards all keep the set that they refer to.
using DatasetPtr = std::shared_ptr<const Dataset>;

}  // namespace odori
