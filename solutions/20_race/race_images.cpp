// SPDX-License-Identifier: Apache-2.0
#include "race_images.h"

#include <algorithm>

#include "errors/error.h"
#include "numbers/random.h"
#include "program/program.h"

namespace odori::race {
namespace {

struct View {
  Augmentation how;
  float weight;
};
constexpr View views[] = {{{0, 0, false}, 0.25f},   {{0, 0, true}, 0.25f},   {{-1, -1, false}, 0.125f},
                          {{-1, -1, true}, 0.125f}, {{1, 1, false}, 0.125f}, {{1, 1, true}, 0.125f}};

/// How many rows of `scores` are largest at their example's label.
int correct(const std::vector<float>& scores, const std::vector<Example>& examples, int classes) {
  int sum = 0;
  for (std::size_t i = 0; i < examples.size(); ++i) {
    const auto row = scores.begin() + static_cast<std::ptrdiff_t>(i) * classes;
    sum += std::max_element(row, row + classes) - row == examples[i].label;
  }
  return sum;
}

}  // namespace

void check_batch_size(const Dataset& images, int batch) {
  if (images.size() >= static_cast<std::size_t>(batch)) return;
  throw UsageError(
      fmt::format("The data set has {} training images, fewer than one batch of {}. Give a smaller --batchsize.",
                  images.size(), batch));
}

void stop_if_interrupted() {
  if (interrupted()) throw Error("Interrupted. Nothing is saved.", exit_code::interrupted);
}

Batches::Batches(DatasetPtr images, int batch, int translation, std::uint64_t seed)
    : images_(std::move(images)), batch_size_(batch), translation_(translation), seed_(seed) {
  check_batch_size(*images_, batch_size_);
  RandomSequence random(seed_, RandomUse::augmentation);
  for (std::size_t i = 0; i < images_->size(); ++i) flipped_first_.push_back(random.below(2) == 1);
  batch_.transform = images_->transform();
  batch_.transform.reflect = true;
  batch_.storage = images_->storage();
}

void Batches::begin_epoch() {
  const auto epoch = static_cast<std::uint32_t>(++epochs_);
  RandomSequence order(seed_, RandomUse::shuffle, epoch), moves(seed_, RandomUse::augmentation, epoch);
  const auto shift = [&] {
    return static_cast<int>(moves.below(static_cast<std::uint64_t>(2 * translation_ + 1))) - translation_;
  };
  epoch_.clear();
  for (const std::int64_t i : random_permutation(images_->size(), order)) {
    const auto place = static_cast<std::size_t>(i);
    Example example = (*images_)[place];
    example.own.dy = shift();
    example.own.dx = shift();
    example.own.flip = flipped_first_[place] == (epoch % 2 == 1);
    epoch_.push_back(example);
  }
  position_ = 0;
}

const Batch& Batches::next() {
  const auto size = static_cast<std::size_t>(batch_size_);
  if (epochs_ == 0 || position_ + size > epoch_.size()) begin_epoch();
  const auto first = epoch_.begin() + static_cast<std::ptrdiff_t>(position_);
  batch_.examples.assign(first, first + batch_size_);
  position_ += size;
  return batch_;
}

Scores scores_of(Classifier& model, Batch batch) {
  batch.transform.reflect = true;
  Scores scores;
  for (const View& view : views) {
    stop_if_interrupted();
    for (Example& example : batch.examples) example.own = view.how;
    model.evaluate(batch);
    const std::vector<float> logits = model.read_logits();
    if (scores.plain.empty()) scores.plain = logits;  // the first view is the image as it is
    scores.views.resize(logits.size());
    for (std::size_t i = 0; i < logits.size(); ++i) scores.views[i] += view.weight * logits[i];
  }
  model.take_metrics();  // of the views, which nobody asks for
  return scores;
}

Accuracy evaluate(Classifier& model, const Dataset& images) {
  const auto size = static_cast<std::size_t>(model.batch_size());
  const int classes = model.network().n_classes;
  Batch batch{{}, images.transform(), images.storage()};
  int plain = 0, all = 0;
  for (std::size_t begin = 0; begin < images.size(); begin += size) {
    batch.examples.clear();
    for (std::size_t i = begin; i < std::min(begin + size, images.size()); ++i) batch.examples.push_back(images[i]);
    const Scores scores = scores_of(model, batch);
    plain += correct(scores.plain, batch.examples, classes);
    all += correct(scores.views, batch.examples, classes);
  }
  const auto n = static_cast<double>(images.size());
  return {plain / n, all / n};
}

}  // namespace odori::race
