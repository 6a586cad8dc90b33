// SPDX-License-Identifier: Apache-2.0
#include "train/updater.h"

#include "distributed/exchange/strategy.h"
#include "errors/error.h"

namespace odori {

const std::map<std::string, int>& Updater::devices() const {
  static const std::map<std::string, int> none;
  return none;
}

std::string Updater::exchange_in_words() const {
  const std::string words = optimizer_.exchange() ? optimizer_.exchange()->report().description : "";
  return words.empty() ? words : ", " + words;
}

bool Updater::shares_devices() { return optimizer_.exchange() && optimizer_.exchange()->report().shares_devices; }

void require_fit(const SerialIterator& iterator, const Classifier& model) {
  const Dataset& data = *iterator.dataset();
  const NetworkSpec& network = model.network();
  require(iterator.repeat(), "An iterator to train with has to start again after each epoch: give it repeat = true.");
  require(iterator.batch_size() == model.batch_size(),
          "The iterator hands out batches of {} images, but the model was made for {}. Give both the same batch size.",
          iterator.batch_size(), model.batch_size());
  require(data.n_classes() == network.n_classes,
          "The data has {} classes, but the network was made for {}. Give create_network() the data's n_classes().",
          data.n_classes(), network.n_classes);
  require(data.transform().image_size == network.image_size,
          "The data's images are {0} x {0}, but the network was made for {1} x {1}. Give both the same --image-size.",
          data.transform().image_size, network.image_size);
}

void require_within_epoch(int n_batches, const SerialIterator& iterator) {
  const auto images = static_cast<std::int64_t>(iterator.dataset()->size());
  require(std::int64_t{n_batches - 1} * iterator.batch_size() < images,
          "An update of {} batches of {} images takes more than an epoch, of {} images here. Give fewer batches "
          "(--accumulate), or a smaller --batchsize.",
          n_batches, iterator.batch_size(), images);
}

}  // namespace odori
