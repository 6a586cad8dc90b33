// SPDX-License-Identifier: Apache-2.0
// What the tests of training share: images in memory, folders that go away, and a training put together in one line.
#pragma once

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "data/sub_dataset.h"
#include "device_under_test.h"
#include "errors/error.h"
#include "files/file.h"
#include "numbers/random.h"
#include "optim/momentum_sgd.h"
#include "optim/optimizers.h"
#include "optim/weight_decay.h"
#include "sentence_of.h"
#include "train/parallel_updater.h"
#include "train/standard_updater.h"
#include "train/trainer.h"

namespace odori::test {

/// n random images of 10 classes, the same each time; `augment` crops and flips them at random.
class Images : public Dataset {
 public:
  explicit Images(std::size_t n, std::uint64_t seed = 0, bool augment = false) : pixels_(n * Example::bytes) {
    RandomSequence random(seed, RandomUse::synthetic_data);
    for (auto& pixel : pixels_) pixel = static_cast<std::uint8_t>(random.next());
    transform_.mean = {0.5f, 0.5f, 0.5f};
    transform_.deviation = {0.25f, 0.25f, 0.25f};
    transform_.crop_padding = augment ? 4 : 0;
    transform_.flip = augment;
  }
  std::size_t size() const override { return pixels_.size() / Example::bytes; }
  Example operator[](std::size_t i) const override {
    return {&pixels_[i * Example::bytes], static_cast<int>(i * 7 % 10), static_cast<std::int64_t>(i), true};
  }
  int n_classes() const override { return 10; }
  const Transform& transform() const override { return transform_; }

 private:
  std::vector<std::uint8_t> pixels_;
  Transform transform_;
};

/// Images(n, seed), which are made once.
inline DatasetPtr images(std::size_t n, std::uint64_t seed = 0) {
  static std::map<std::pair<std::size_t, std::uint64_t>, DatasetPtr> made;
  DatasetPtr& dataset = made[{n, seed}];
  if (!dataset) dataset = std::make_shared<Images>(n, seed);
  return dataset;
}

/// Every n-th example, from i on.
inline DatasetPtr every(const DatasetPtr& dataset, int i, int n) {
  std::vector<std::int64_t> order;
  for (std::size_t k = static_cast<std::size_t>(i); k < dataset->size(); k += static_cast<std::size_t>(n))
    order.push_back(static_cast<std::int64_t>(k));
  return std::make_shared<SubDataset>(dataset, order);
}

/// One iterator a device, so that batch k of all of them is batch k of the whole set in its order.
inline std::vector<SerialIterator> shares(const DatasetPtr& dataset, int n_devices, int batch_size) {
  std::vector<SerialIterator> iterators;
  for (int i = 0; i < n_devices; ++i)
    iterators.emplace_back(every(dataset, i, n_devices), batch_size, IteratorOptions{.shuffle = false});
  return iterators;
}

/// Where files lie in memory, if that is possible: a disk takes milliseconds for each file of a snapshot.
inline std::string fast_folder() {
  std::error_code error;
  const std::filesystem::path memory = "/dev/shm";
  const bool usable = std::filesystem::space(memory, error).available > std::uintmax_t{256} << 20 && !error &&
                      ::access(memory.c_str(), W_OK | X_OK) == 0;
  return usable ? memory.string() + "/" : testing::TempDir();
}

/// A folder of the test's own, removed with it.
class Folder {
 public:
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

 private:
  TemporaryFolder folder_{fast_folder() + "odori_train_"};
  std::string path_ = folder_.path().string();
};

/// The largest difference of two models' parameters, each array relative to its largest number.
inline double difference(const ModelState& a, const ModelState& b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.parameters.size(); ++i) {
    double scale = 0, off = 0;
    for (std::size_t j = 0; j < a.parameters[i].size(); ++j) {
      scale = std::max(scale, std::abs(static_cast<double>(a.parameters[i][j])));
      off = std::max(off, std::abs(static_cast<double>(a.parameters[i][j]) - b.parameters[i][j]));
    }
    if (off > 0) largest = std::max(largest, off / scale);
  }
  return largest;
}

/// How far training runs may differ that add up the same gradients in different ways.
inline double rounding() { return on_gpus() ? 1e-4 : 1e-5; }

/// The elements of a flat vector, and back.
inline std::vector<float> read(Device& device, const Buffer& from) {
  std::vector<float> values(from.size());
  device.read(from, 0, values);
  return values;
}

/// A training on one or several devices, put together as the programs do.
struct Training {
  struct Options {
    std::string network = "tiny";
    int n_devices = 1, batch_size = 8;
    std::uint64_t seed = 0;
    float rate = 0.05f, decay = 5e-4f;
    GradientRule rule = GradientRule::mean;
    bool measure = false;
    std::string optimizer = "momentum";
  };

  Training(const Options& options, std::vector<SerialIterator> iterators)
      : model(create_network(options.network, 10), options.batch_size, options.seed),
        owned_optimizer(create_optimizer(options.optimizer, options.rate)),
        optimizer(*owned_optimizer) {
    model.to_device(pool.use(0), {.measure = options.measure});
    optimizer.setup(model);
    optimizer.add_hook(std::make_unique<WeightDecay>(options.decay));
    if (options.n_devices == 1) {
      updater = std::make_unique<StandardUpdater>(iterators.front(), optimizer);
    } else {
      std::map<std::string, int> devices{{"main", 0}};
      for (int i = 1; i < options.n_devices; ++i) devices["other" + std::to_string(i)] = i;
      updater = std::make_unique<ParallelUpdater>(iterators, optimizer, devices, pool, options.rule);
    }
  }
  /// On random shares, shuffled, as in the programs.
  Training(const Options& options, const DatasetPtr& train) : Training(options, shuffled(options, train)) {}

  static std::vector<SerialIterator> shuffled(const Options& options, const DatasetPtr& train) {
    std::vector<SerialIterator> iterators;
    for (const DatasetPtr& share : split_dataset_n_random(train, options.n_devices, options.seed))
      iterators.emplace_back(share, options.batch_size, IteratorOptions{.seed = options.seed});
    return iterators;
  }

  DevicePool pool{device_under_test()};
  Classifier model;
  std::unique_ptr<Optimizer> owned_optimizer;
  Optimizer& optimizer;
  std::unique_ptr<Updater> updater;
};

/// A training of which a test makes what it likes, in a folder of its own.
class Loop : public testing::Test {
 protected:
  Folder folder;
  Training training{{.batch_size = 4}, images(10)};
};

/// From its epoch on, no file may grow beyond some bytes: to a program that is what a full disk is.
class FullDisk : public Extension {
 public:
  FullDisk(int epoch, rlim_t bytes) : epoch_(epoch), bytes_(bytes) {}
  int priority() const override { return snapshot + 1; }
  void run(Trainer& trainer) override {
    if (trainer.updater().epoch() < epoch_) return;
    std::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes_, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  void finalize(Trainer&) noexcept override { ::setrlimit(RLIMIT_FSIZE, &before_); }
  std::string name() const override { return "FullDisk"; }

 private:
  int epoch_;
  rlim_t bytes_;
  rlimit before_{RLIM_INFINITY, RLIM_INFINITY};
};

}  // namespace odori::test
