// SPDX-License-Identifier: Apache-2.0
// Splits and iterators, with the originals' numbers.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "data/serial_iterator.h"
#include "data/sub_dataset.h"
#include "data_numbers.h"
#include "errors/error.h"

namespace odori {
namespace {

using Ids = std::vector<std::int64_t>;

Ids sorted(Ids ids) {
  std::sort(ids.begin(), ids.end());
  return ids;
}
Ids up_to(std::int64_t n) {
  Ids ids(static_cast<std::size_t>(n));
  std::iota(ids.begin(), ids.end(), 0);
  return ids;
}

// ---- Splits

TEST(Split, DropsTheRemainder) {
  const auto parts = split_dataset_n(numbers(10), 3);
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_EQ(ids(*parts[0]), (Ids{0, 1, 2}));
  EXPECT_EQ(ids(*parts[1]), (Ids{3, 4, 5}));
  EXPECT_EQ(ids(*parts[2]), (Ids{6, 7, 8}));
}

TEST(Split, MorePartsThanExamplesAreAllEmpty) {
  for (const auto& part : split_dataset_n(numbers(2), 3)) EXPECT_EQ(part->size(), 0u);
}

TEST(Split, RandomPartsAreEqualAndDisjoint) {
  const auto base = numbers(101);
  const auto parts = split_dataset_n_random(base, 4, 5);
  std::set<std::int64_t> seen;
  for (const auto& part : parts) {
    EXPECT_EQ(part->size(), 25u);
    for (const std::int64_t id : ids(*part)) EXPECT_TRUE(seen.insert(id).second) << id << " is in two parts";
  }
  EXPECT_EQ(seen.size(), 100u);
  EXPECT_NE(ids(*parts[0]), sorted(ids(*parts[0])));
}

TEST(Split, TheSeedDecides) {
  const auto order = [](std::uint64_t seed) { return ids(*split_dataset_n_random(numbers(50), 2, seed)[1]); };
  EXPECT_EQ(order(1), order(1));
  EXPECT_NE(order(1), order(2));
}

TEST(Split, KeepsExamplesAndTransform) {
  const auto part = split_dataset_n_random(numbers(20), 2, 0)[0];
  EXPECT_EQ(part->n_classes(), 10);
  EXPECT_EQ(part->transform().image_size, 64);
  for (std::size_t i = 0; i < part->size(); ++i) {
    const Example example = (*part)[i];
    EXPECT_EQ(example.label, example.id % 10);
    EXPECT_EQ(example.pixels[5], Numbers::pixel(static_cast<std::size_t>(example.id), 5));
  }
}

TEST(Split, OfASplitKeepsTheFirstIds) {
  const auto part = split_dataset_n(split_dataset_n(numbers(8), 2)[1], 2)[1];
  EXPECT_EQ(ids(*part), (Ids{6, 7}));
}

TEST(Split, RefusesWhatCanNotBe) {
  EXPECT_THROW(split_dataset_n(numbers(4), 0), Error);
  EXPECT_THROW(split_dataset_n_random(numbers(4), -1, 0), Error);
  EXPECT_THROW(split_dataset_n(nullptr, 2), Error);
  EXPECT_THROW(SubDataset(numbers(4), {0, 4}), Error);
  EXPECT_THROW(SubDataset(numbers(4), {-1}), Error);
  EXPECT_THROW(SubDataset(nullptr, {}), Error);
}

// ---- SerialIterator

SerialIterator in_order(std::size_t n, int batch_size, bool repeat = true) {
  return SerialIterator(numbers(n), batch_size, {.repeat = repeat, .shuffle = false});
}

/// One call of next(), and what the iterator says afterwards.
void expect_next(SerialIterator& iterator, const Ids& expected, std::int64_t epoch, bool is_new_epoch, double detail,
                 double previous_detail) {
  const Batch* batch = iterator.next();
  ASSERT_NE(batch, nullptr);
  EXPECT_EQ(ids(*batch), expected);
  EXPECT_EQ(iterator.epoch(), epoch);
  EXPECT_EQ(iterator.is_new_epoch(), is_new_epoch);
  EXPECT_DOUBLE_EQ(iterator.epoch_detail(), detail);
  EXPECT_DOUBLE_EQ(iterator.previous_epoch_detail(), previous_detail);
}

TEST(SerialIterator, BatchThatEndsWithTheEpoch) {
  auto iterator = in_order(6, 2);
  EXPECT_EQ(iterator.epoch(), 0);
  EXPECT_EQ(iterator.epoch_detail(), 0);
  EXPECT_LT(iterator.previous_epoch_detail(), 0);
  for (int epoch = 0; epoch < 3; ++epoch) {
    expect_next(iterator, {0, 1}, epoch, false, epoch + 2. / 6, epoch);
    expect_next(iterator, {2, 3}, epoch, false, epoch + 4. / 6, epoch + 2. / 6);
    expect_next(iterator, {4, 5}, epoch + 1, true, epoch + 1, epoch + 4. / 6);
  }
}

TEST(SerialIterator, BatchAcrossTheEpochsEnd) {
  auto iterator = in_order(5, 2);
  expect_next(iterator, {0, 1}, 0, false, 0.4, 0);
  expect_next(iterator, {2, 3}, 0, false, 0.8, 0.4);
  expect_next(iterator, {4, 0}, 1, true, 1.2, 0.8);
  expect_next(iterator, {1, 2}, 1, false, 1.6, 1.2);
  expect_next(iterator, {3, 4}, 2, true, 2.0, 1.6);
  expect_next(iterator, {0, 1}, 2, false, 2.4, 2.0);
}

TEST(SerialIterator, BatchOfTheWholeSet) {
  auto iterator = in_order(3, 3);
  expect_next(iterator, {0, 1, 2}, 1, true, 1, 0);
  expect_next(iterator, {0, 1, 2}, 2, true, 2, 1);
}

TEST(SerialIterator, WithoutRepeatTheLastBatchIsSmaller) {
  auto iterator = in_order(5, 2, false);
  expect_next(iterator, {0, 1}, 0, false, 0.4, 0);
  expect_next(iterator, {2, 3}, 0, false, 0.8, 0.4);
  expect_next(iterator, {4}, 1, true, 1, 0.8);
  EXPECT_EQ(iterator.next(), nullptr);
  EXPECT_EQ(iterator.next(), nullptr);
  EXPECT_EQ(iterator.epoch(), 1);
}

TEST(SerialIterator, WithoutRepeatThereIsNoEmptyLastBatch) {
  auto iterator = in_order(4, 2, false);
  expect_next(iterator, {0, 1}, 0, false, 0.5, 0);
  expect_next(iterator, {2, 3}, 1, true, 1, 0.5);
  EXPECT_EQ(iterator.next(), nullptr);
}

TEST(SerialIterator, WithoutRepeatABatchLargerThanTheSetIsTheSet) {
  auto iterator = in_order(3, 7, false);
  expect_next(iterator, {0, 1, 2}, 1, true, 1, 0);
  EXPECT_EQ(iterator.next(), nullptr);
}

TEST(SerialIterator, ShufflesEachEpochAnew) {
  SerialIterator iterator(numbers(100), 30, {.seed = 3});
  Ids all;
  while (iterator.epoch() < 3)
    for (const std::int64_t id : ids(*iterator.next())) all.push_back(id);
  const Ids first(all.begin(), all.begin() + 100), second(all.begin() + 100, all.begin() + 200);
  EXPECT_NE(first, up_to(100));
  EXPECT_NE(first, second);
  EXPECT_EQ(sorted(first), up_to(100));
  EXPECT_EQ(sorted(second), up_to(100));
}

TEST(SerialIterator, SeedAndStreamDecide) {
  const auto first = [](std::uint64_t seed, std::uint32_t stream) {
    return ids(*SerialIterator(numbers(60), 20, {.seed = seed, .stream = stream}).next());
  };
  EXPECT_EQ(first(1, 0), first(1, 0));
  EXPECT_NE(first(1, 0), first(2, 0));
  EXPECT_NE(first(1, 0), first(1, 1));
}

TEST(SerialIterator, ResetIsANewStart) {
  SerialIterator iterator(numbers(10), 4, {.seed = 3});
  std::vector<Ids> before, after;
  for (int i = 0; i < 6; ++i) before.push_back(ids(*iterator.next()));
  iterator.reset();
  EXPECT_EQ(iterator.epoch_detail(), 0);
  for (int i = 0; i < 6; ++i) after.push_back(ids(*iterator.next()));
  EXPECT_EQ(before, after);
}

TEST(SerialIterator, GoesOnExactlyFromItsState) {
  for (const int done : {0, 1, 2, 3, 4, 7, 11}) {  // in the middle, at the end, and behind the end of an epoch
    SerialIterator original(numbers(10), 3, {.seed = 8, .stream = 2});
    for (int i = 0; i < done; ++i) original.next();
    SerialIterator other(numbers(10), 3, {.seed = 8, .stream = 2});
    other.next();
    other.restore(original.state());
    EXPECT_EQ(other.previous_epoch_detail(), original.previous_epoch_detail());
    EXPECT_EQ(other.is_new_epoch(), original.is_new_epoch());
    for (int i = 0; i < 10; ++i) {
      EXPECT_EQ(ids(*original.next()), ids(*other.next())) << "batch " << i << " after " << done;
      EXPECT_EQ(other.epoch(), original.epoch());
      EXPECT_EQ(other.epoch_detail(), original.epoch_detail());
    }
  }
}

TEST(SerialIterator, BatchesCarryTheTransform) { EXPECT_EQ(in_order(3, 2).next()->transform.image_size, 64); }

TEST(SerialIterator, RefusesWhatCanNotBe) {
  EXPECT_THROW(in_order(0, 1), Error);
  EXPECT_THROW(in_order(0, 1, false), Error);
  EXPECT_THROW(in_order(3, 0), Error);
  EXPECT_THROW(in_order(3, -2), Error);
  EXPECT_THROW(SerialIterator(nullptr, 1), Error);
  auto iterator = in_order(3, 1);
  EXPECT_THROW(iterator.restore(in_order(4, 1).state()), Error);
}

TEST(SerialIterator, RefusesABatchLargerThanItsDataBeforeAnythingTakesMemoryForIt) {
  try {
    in_order(8, 9);
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("A batch of 9 images is larger than the data of its device, 8 images."),
              std::string::npos)
        << error.what();
  }
}

TEST(SerialIterator, RefusesAStateThatNoIteratorComesTo) {
  auto iterator = in_order(3, 1);
  const auto refuses = [&](const auto& change) {
    IteratorState state = iterator.state();
    change(state);
    EXPECT_THROW(iterator.restore(state), Error);
  };
  refuses([](IteratorState& state) { state.epoch = std::int64_t{1} << 60; });
  refuses([](IteratorState& state) { state.epoch = -1; });
  refuses([](IteratorState& state) { state.position = 3; });
  refuses([](IteratorState& state) { state.position = -1; });
  refuses([](IteratorState& state) { state.random_position = -1; });
  refuses([](IteratorState& state) { state.order = {0, 1, 3}; });
  refuses([](IteratorState& state) { state.order = {0, 1, 1}; });
  iterator.restore(iterator.state());
}

}  // namespace
}  // namespace odori
