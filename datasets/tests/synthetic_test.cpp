// SPDX-License-Identifier: Apache-2.0
// The synthetic set: its format, that it is the same everywhere, balanced, and too hard for a linear model.
#include "synthetic.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "data/cifar.h"
#include "files/file.h"
#include "numbers/random.h"

namespace odori::synthetic {
namespace {

namespace fs = std::filesystem;

std::vector<Record> draw_many(Split split, std::uint32_t n, std::uint64_t seed = 0) {
  std::vector<Record> records(n);
  for (std::uint32_t i = 0; i < n; ++i) records[i] = draw(seed, split, i);
  return records;
}

/// FNV-1a, 64 bits, over the records' bytes. Source: G. Fowler, L. C. Noll, K.-P. Vo, 1991.
std::uint64_t hash_of(const std::vector<Record>& records) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const Record& record : records)
    for (const std::uint8_t byte : record) hash = (hash ^ byte) * 0x100000001b3;
  return hash;
}

TEST(SyntheticImages, AreTheSameOnEveryMachine) {
  EXPECT_EQ(hash_of(draw_many(Split::train, 200)), 1037446597618218137u);
  EXPECT_EQ(hash_of(draw_many(Split::test, 200)), 1339120206427253u);
  EXPECT_EQ(hash_of(draw_many(Split::train, 200, 0x123456789abcdef)), 14398377376468759774u);
}

TEST(SyntheticImages, AreAllDifferent) {
  auto records = draw_many(Split::train, 1000);
  for (const Split split : {Split::train, Split::test})
    for (const Record& record : draw_many(split, 1000, split == Split::test ? 0 : 1)) records.push_back(record);
  for (Record& record : records) record[0] = 0;  // the images, whatever their labels
  std::ranges::sort(records);
  EXPECT_EQ(std::ranges::adjacent_find(records), records.end());
}

TEST(SyntheticImages, ShowEachClassOnceInTenInAnyOrder) {
  const auto records = draw_many(Split::train, 200);
  std::set<std::vector<int>> orders;
  for (std::size_t ten = 0; ten < records.size(); ten += 10) {
    std::vector<int> labels(10);
    std::transform(records.begin() + ten, records.begin() + ten + 10, labels.begin(),
                   [](const Record& record) { return record[0]; });
    orders.insert(labels);
    std::ranges::sort(labels);
    EXPECT_EQ(labels, (std::vector{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
  }
  EXPECT_GT(orders.size(), 15u);
}

/// Softmax regression on pixels, by SGD with momentum. Rows of `weights`: one a class, the bias last.
class LinearModel {
 public:
  static constexpr int features = Example::bytes, classes = 10;

  void fit(const std::vector<Record>& records, int epochs, float learnrate) {
    RandomSequence random(0, RandomUse::shuffle);
    for (int epoch = 0; epoch < epochs; ++epoch) {
      const float rate = learnrate * (1 - static_cast<float>(epoch) / static_cast<float>(epochs));
      const auto order = random_permutation(records.size(), random);
      for (std::size_t begin = 0; begin + batch <= order.size(); begin += batch)
        step(records, order.data() + begin, rate);
    }
  }

  double accuracy(const std::vector<Record>& records) const {
    const auto is_hit = [&](const Record& record) {
      const auto scores = scores_of(record);
      return std::ranges::max_element(scores) - scores.begin() == record[0];
    };
    return static_cast<double>(std::ranges::count_if(records, is_hit)) / static_cast<double>(records.size());
  }

 private:
  static constexpr std::size_t batch = 50;
  using Row = std::array<float, features + 1>;
  using Rows = std::vector<Row>;

  /// Pixels in [-1, 1], and a one for the bias.
  static Row inputs(const Record& record) {
    Row x;
    for (int f = 0; f < features; ++f) x[f] = static_cast<float>(record[1 + f]) / 127.5f - 1;
    x[features] = 1;
    return x;
  }

  static float dot(const Row& a, const Row& b) {
    std::array<float, 16> sums{};  // so that the compiler may add sixteen at a time
    for (int f = 0; f < features; ++f) sums[f % 16] += a[f] * b[f];
    return std::accumulate(sums.begin(), sums.end(), a[features] * b[features]);
  }

  std::array<float, classes> scores_of(const Row& x) const {
    std::array<float, classes> scores;
    for (int k = 0; k < classes; ++k) scores[k] = dot(weights_[k], x);
    return scores;
  }
  std::array<float, classes> scores_of(const Record& record) const { return scores_of(inputs(record)); }

  void step(const std::vector<Record>& records, const std::int64_t* order, float rate) {
    for (int k = 0; k < classes; ++k)
      for (int f = 0; f <= features; ++f) velocity_[k][f] *= 0.9f;
    for (std::size_t i = 0; i < batch; ++i) {
      const Record& record = records[static_cast<std::size_t>(order[i])];
      const Row x = inputs(record);
      auto p = scores_of(x);
      const float largest = std::ranges::max(p);
      for (float& value : p) value = std::exp(value - largest);
      const float sum = std::accumulate(p.begin(), p.end(), 0.0f);
      for (int k = 0; k < classes; ++k) {
        const float scale = rate / static_cast<float>(batch) * (p[k] / sum - (k == record[0] ? 1.0f : 0.0f));
        for (int f = 0; f <= features; ++f) velocity_[k][f] -= scale * x[f];
      }
    }
    for (int k = 0; k < classes; ++k)
      for (int f = 0; f <= features; ++f) weights_[k][f] += velocity_[k][f];
  }

  Rows weights_ = Rows(classes, Row{}), velocity_ = Rows(classes, Row{});
};

TEST(SyntheticImages, AreTooHardForALinearModel) {
  const auto train = draw_many(Split::train, 10000), test = draw_many(Split::test, 2000);
  LinearModel model;
  model.fit(train, 12, 2e-3f);
  const double fitted = model.accuracy(train), accuracy = model.accuracy(test);
  std::printf("linear model: training accuracy %.3f, test accuracy %.3f\n", fitted, accuracy);
  EXPECT_GT(fitted, 0.35) << "the model has learned nothing, so its test accuracy says nothing";
  EXPECT_LT(accuracy, 0.6);
  EXPECT_GT(accuracy, 0.15) << "chance: the images have nothing to do with their labels";
}

/// The same model on images whose label shows in single pixels: it would see what a linear model can see.
TEST(LinearModel, SolvesALinearTask) {
  auto train = draw_many(Split::train, 2000), test = draw_many(Split::test, 500);
  for (auto* records : {&train, &test})
    for (Record& record : *records) std::fill_n(record.begin() + 1 + 40 * record[0], 20, 255);
  LinearModel model;
  model.fit(train, 5, 2e-3f);
  EXPECT_GT(model.accuracy(test), 0.9);
}

class SyntheticFiles : public testing::Test {
 protected:
  fs::path set() const { return folder_ / "set"; }
  /// Nothing but `names` lies beside each other in the test's folder: no temporary files.
  void expect_only(const std::vector<std::string>& names) const {
    std::vector<std::string> found;
    for (const auto& entry : fs::directory_iterator(folder_)) found.push_back(entry.path().filename().string());
    EXPECT_EQ(found, names);
  }
  const TemporaryFolder own_{fs::temp_directory_path() / "odori_synthetic."};
  const fs::path& folder_ = own_.path();
};

TEST_F(SyntheticFiles, AreCifarsFormat) {
  write_set(set(), {.train = 103, .test = 27, .seed = 5});
  std::string train;
  for (const auto& [name, images] : {std::pair{"1", 20}, {"2", 21}, {"3", 20}, {"4", 21}, {"5", 21}}) {
    const std::string bytes = read_file(set() / ("data_batch_" + std::string(name) + ".bin"));
    EXPECT_EQ(bytes.size(), images * 3073u) << name;
    train += bytes;
  }
  for (std::uint32_t i = 0; i < 103; ++i) {
    const Record record = draw(5, Split::train, i);
    ASSERT_EQ(std::memcmp(record.data(), train.data() + i * record.size(), record.size()), 0) << i;
  }
  EXPECT_EQ(read_file(set() / "batches.meta.txt"),
            "disc\nring\nsquare\ntriangle\ncross\nstar\ncrescent\nheart\nstripes\nchecks\n\n");

  const auto loaded = load_cifar(set().string());
  ASSERT_EQ(loaded.train->size(), 103u);
  ASSERT_EQ(loaded.test->size(), 27u);
  const Record last = draw(5, Split::test, 26);
  const Example example = (*loaded.test)[26];
  EXPECT_EQ(example.label, last[0]);
  EXPECT_TRUE(std::equal(last.begin() + 1, last.end(), example.pixels));
  expect_only({"set"});
}

TEST_F(SyntheticFiles, AreRecognised) {
  using What = Contents::What;
  EXPECT_EQ(look_at(set()).what, What::nothing);
  const Options options{.train = 20, .test = 10, .seed = ~0ull};
  write_set(set(), options);
  EXPECT_EQ(look_at(set()).what, What::complete_set);
  EXPECT_EQ(look_at(set()).options, options);
  EXPECT_EQ(look_at(folder_).what, What::something_else);
  fs::resize_file(set() / "data_batch_3.bin", 3072);
  EXPECT_EQ(look_at(set()).what, What::something_else);
  write_set(set(), {.train = 30, .test = 10});
  EXPECT_EQ(look_at(set()).options.train, 30u);
  fs::remove(set() / "test_batch.bin");
  EXPECT_EQ(look_at(set()).what, What::something_else);
}

}  // namespace
}  // namespace odori::synthetic
