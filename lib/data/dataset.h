// SPDX-License-Identifier: Apache-2.0
// The interface of data sets.
#pragma once

#include <cstddef>
#include <memory>

#include "data/batch.h"

namespace odori {

class Dataset {
 public:
  virtual ~Dataset() = default;
  virtual std::size_t size() const = 0;
  /// Requires i < size().
  virtual Example operator[](std::size_t i) const = 0;
  virtual int n_classes() const = 0;
  virtual const Transform& transform() const = 0;
  /// Null if there is none.
  virtual ImageStoragePtr storage() const { return nullptr; }
};

/// Shared by iterators, splits and shards of the set.
using DatasetPtr = std::shared_ptr<const Dataset>;

}  // namespace odori
