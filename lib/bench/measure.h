// What the benchmarks share: pictures, time, and how a spread is printed.
#pragma once

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "core/random.h"
#include "data/dataset.h"

namespace odori::bench {

/// Random pictures with random labels of ten classes.
class RandomPictures : public Dataset {
 public:
  explicit RandomPictures(std::size_t n) : n_(n), bytes_(n * Example::bytes) {
    RandomSequence random(0, RandomUse::synthetic_data);
    for (std::uint8_t& byte : bytes_) byte = static_cast<std::uint8_t>(random.next() >> 24);
  }
  std::size_t size() const override { return n_; }
  Example operator[](std::size_t i) const override {
    return {&bytes_[i * Example::bytes], bytes_[i * Example::bytes] % 10, static_cast<std::int64_t>(i)};
  }
  int n_classes() const override { return 10; }
  const Transform& transform() const override { return transform_; }
  PictureStoragePtr storage() const override { return storage_; }
  /// The first n of them.
  Batch batch(int n) const {
    Batch batch{{}, transform_, storage_};
    for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) batch.examples.push_back((*this)[i]);
    return batch;
  }

 private:
  std::size_t n_;
  std::vector<std::uint8_t> bytes_;
  PictureStoragePtr storage_ = std::make_shared<PictureStorage>(PictureStorage{{bytes_}});
  Transform transform_{.mean = {0.5f, 0.5f, 0.5f}, .deviation = {0.25f, 0.25f, 0.25f}};
};

template <typename Work>
double seconds_of(const Work& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

struct Spread {
  double min, median, max;
};
inline Spread spread_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  return {values.front(), (values[(n - 1) / 2] + values[n / 2]) / 2, values.back()};
}

/// The most memory that this process has held so far, in 10^6 bytes.
inline double peak_memory_mb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) * 1024 / 1e6;
}

}  // namespace odori::bench
