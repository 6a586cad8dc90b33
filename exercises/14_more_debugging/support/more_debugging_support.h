// SPDX-License-Identifier: Apache-2.0
// Support code of exercise 14: a data set whose order can be changed, and a file with a model's parameters. The lists
// that a diagnosis is chosen from are in diagnosis.h of exercises/common.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "comm/communicator.h"
#include "data/dataset.h"
#include "diagnosis.h"
#include "epochs.h"
#include "model/classifier.h"

namespace odori {

/// The first examples of a base data set, in an order that can be changed between two batches.
class Reordered : public Dataset {
 public:
  /// `size`: how many examples. The first order is 0, 1, 2, ... Throws Error for none, or if the base has fewer.
  Reordered(DatasetPtr base, std::size_t size);
  /// Throws Error unless these are size() positions from 0 to size() - 1.
  void set_order(std::vector<std::int64_t> order);
  std::size_t size() const override { return order_.size(); }
  Example operator[](std::size_t i) const override { return (*base_)[static_cast<std::size_t>(order_[i])]; }
  int n_classes() const override { return base_->n_classes(); }
  const Transform& transform() const override { return base_->transform(); }
  ImageStoragePtr storage() const override { return base_->storage(); }

 private:
  DatasetPtr base_;
  std::vector<std::int64_t> order_;
};

/// Writes the parameters to a file, from the first to the last, as torch.save() does: before it returns, a reader finds
/// a part of them. Local. Throws Error if the file can't be written.
void write_parameters(const std::string& file, const Classifier& model);
/// Reads them into the model. Local. Throws Error if there is no such file, or if it holds fewer parameters than the
/// model has.
void read_parameters(const std::string& file, Classifier& model);

/// Evaluates the model on this rank's test images, and prints the accuracy over those of all ranks. Collective.
void print_result(Classifier& model, const DatasetPtr& test, int batchsize, Communicator& comm);

}  // namespace odori
