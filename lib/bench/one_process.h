// SPDX-License-Identifier: Apache-2.0
// Measures several devices of one process, with and without communication.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "bench/measure.h"
#include "model/classifier.h"
#include "optim/momentum_sgd.h"
#include "train/device_team.h"
#include "train/parallel_updater.h"

namespace odori::bench {

/// A model and its optimizer on one device, which train on one batch repeatedly.
struct Trainee {
  Trainee(Device& device, const std::string& network, int batchsize, const Batch& images,
          const AlgorithmOptions& algorithms)
      : model(create_network(network, 10), batchsize, 0), optimizer(0.05f), batch(images) {
    model.to_device(device, algorithms);
    optimizer.setup(model);
  }
  void iterate(int times) {
    for (int i = 0; i < times; ++i) {
      model.forward_backward(batch);
      optimizer.update();
    }
    model.device().synchronize();
  }

  Classifier model;
  MomentumSGD optimizer;
  const Batch& batch;
};

/// Rates are in images/s, of all devices together.
class InOneProcess {
 public:
  InOneProcess(const std::string& network, int batchsize, int n_devices, const DevicePoolOptions& devices,
               const AlgorithmOptions& algorithms = {})
      : batchsize_(batchsize),
        data_(std::make_shared<RandomImages>(static_cast<std::size_t>(batchsize))),
        batch_(data_->batch(batchsize)),
        pool_(devices),
        model_(create_network(network, 10), batchsize, 0) {
    std::map<std::string, int> ids{{"main", 0}};
    for (int i = 0; i < n_devices; ++i) {
      trainees_.push_back(std::make_unique<Trainee>(pool_.use(i), network, batchsize, batch_, algorithms));
      if (i > 0) ids["other" + std::to_string(i)] = i;
    }
    model_.to_device(pool_.use(0), algorithms);
    optimizer_.setup(model_);
    const std::vector<SerialIterator> iterators(static_cast<std::size_t>(n_devices), SerialIterator(data_, batchsize));
    updater_ = std::make_unique<ParallelUpdater>(iterators, optimizer_, ids, pool_);
    ceiling(2), parallel(2);  // compiles kernels
  }

  double one(int iterations) {
    return rate(1, iterations, [&] { trainees_[0]->iterate(iterations); });
  }
  /// The speedup ceiling: all devices train separate models, without communication.
  double ceiling(int iterations) {
    std::vector<Device*> devices;
    for (const auto& trainee : trainees_) devices.push_back(&trainee->model.device());
    DeviceTeam team(devices);
    return rate(trainees_.size(), iterations,
                [&] { team.run([&](std::size_t i) { trainees_[i]->iterate(iterations); }); });
  }
  double parallel(int iterations) {
    return rate(trainees_.size(), iterations, [&] {
      for (int i = 0; i < iterations; ++i) updater_->update();
    });
  }

 private:
  template <typename Work>
  double rate(std::size_t devices, int iterations, const Work& work) {
    pool_.use(0);
    return static_cast<double>(devices) * batchsize_ * iterations / seconds_of(work);
  }

  int batchsize_;
  std::shared_ptr<const RandomImages> data_;
  Batch batch_;
  DevicePool pool_;
  std::vector<std::unique_ptr<Trainee>> trainees_;
  Classifier model_;
  MomentumSGD optimizer_{0.05f};
  std::unique_ptr<ParallelUpdater> updater_;
};

}  // namespace odori::bench
