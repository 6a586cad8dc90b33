// SPDX-License-Identifier: Apache-2.0
// A data set whose order changes, and a file of parameters that may be incomplete.
#include "more_debugging_support.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "train_support.h"

namespace odori {
namespace {

using namespace test;

std::vector<std::int64_t> ids(const Dataset& set) {
  std::vector<std::int64_t> all;
  for (std::size_t i = 0; i < set.size(); ++i) all.push_back(set[i].id);
  return all;
}

TEST(Reordered, HasTheOrderThatWasSetLast) {
  using Order = std::vector<std::int64_t>;
  const auto set = std::make_shared<Reordered>(images(5), 3);
  EXPECT_EQ(ids(*set), (Order{0, 1, 2}));
  set->set_order({2, 0, 1});
  EXPECT_EQ(ids(*set), (Order{2, 0, 1}));
  SerialIterator iterator(set, 3, {.shuffle = false});
  EXPECT_EQ(iterator.next()->examples.front().id, 2);
  set->set_order({1, 0, 2});
  EXPECT_EQ(iterator.next()->examples.front().id, 1);
}

TEST(Reordered, RefusesOrdersThatItCannotHave) {
  EXPECT_SENTENCE(Reordered(images(5), 6), "of a data set of 5");
  EXPECT_SENTENCE(Reordered(images(5), 0), "Ask for 1 to 5");
  Reordered set(images(5), 3);
  EXPECT_SENTENCE(set.set_order({0, 1}), "It needs 3.");
  EXPECT_SENTENCE(set.set_order({0, 1, 3}), "outside of 0 to 2");
}

TEST(ParametersFile, IsReadAsItWasWrittenOrRefused) {
  const Folder folder;
  const std::string file = folder / "parameters.bin";
  Training first({.seed = 1}, images(16)), second({.seed = 2}, images(16));
  EXPECT_SENTENCE(read_parameters(file, second.model), "There is no file");
  write_parameters(file, first.model);
  read_parameters(file, second.model);
  EXPECT_TRUE(second.model.state().parameters == first.model.state().parameters);
  const std::size_t n = first.model.parameter_count();
  std::filesystem::resize_file(file, 4 * (n - 1));
  EXPECT_SENTENCE(read_parameters(file, second.model), fmt::format("after {} of {} parameters", n - 1, n));
  EXPECT_SENTENCE(write_parameters(folder / "none/parameters.bin", first.model), "can't be written");
}

}  // namespace
}  // namespace odori
