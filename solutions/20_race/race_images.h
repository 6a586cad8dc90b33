// SPDX-License-Identifier: Apache-2.0
// Which images the steps of a training have, and how they are moved and turned.
#pragma once

#include <cstdint>
#include <vector>

#include "data/dataset.h"
#include "race_recipe.h"

namespace odori::race {

/// Throws UsageError if the data set does not fill one batch.
void check_batch_size(const Dataset& images, int batch);

/// Batches of a training, epoch after epoch, each in a new order. In an epoch's first one every image is flipped or not
/// at random; from then on it is flipped in every second epoch, so that any two epochs show all images and all
/// flipped ones. It is moved by up to `translation` pixels, the border reflected. Images that fill no batch are left
/// out.
class Batches {
 public:
  Batches(DatasetPtr images, int batch, int translation, std::uint64_t seed);
  /// The next one, valid until the next call.
  const Batch& next();
  /// Of an epoch.
  int count() const { return static_cast<int>(images_->size()) / batch_size_; }

 private:
  void begin_epoch();

  DatasetPtr images_;
  int batch_size_, translation_;
  std::uint64_t seed_;
  std::vector<bool> flipped_first_;
  std::vector<Example> epoch_;  // in its order
  int epochs_ = 0;
  std::size_t position_ = 0;
  Batch batch_;
};

/// What the network says of each image of a batch, N x classes.
struct Scores {
  std::vector<float> plain;  // of the images as they are
  std::vector<float> views;  // weighted means of six views: as it is, moved by one pixel along both axes, to the upper
                             // left and the lower right, and these three flipped. The unmoved ones count 1/4 each, the
                             // others 1/8
};
/// Throws Error after Ctrl-C (catch_interrupts()).
void stop_if_interrupted();
/// At most as many images as the model's batches have. Stops between two views after Ctrl-C.
Scores scores_of(Classifier& model, Batch batch);

/// The parts of a data set that a model has right.
struct Accuracy {
  double plain = 0, views = 0;
};
Accuracy evaluate(Classifier& model, const Dataset& images);

}  // namespace odori::race
