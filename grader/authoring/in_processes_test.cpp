// SPDX-License-Identifier: Apache-2.0
// Work in child processes: each item once, no result lost, no failure unseen.
#include "authoring/in_processes.h"

#include <gtest/gtest.h>

#include <map>

#include "errors/error.h"

namespace odori::grader {
namespace {

TEST(InProcesses, GiveEachResultOnce) {
  std::map<std::size_t, std::string> results;
  const std::string large(100'000, 'x');
  const auto n = in_processes(
      50, 4, [&](std::size_t i) { return std::to_string(i) + '\n' + large; },
      [&](std::size_t i, const std::string& result) { EXPECT_TRUE(results.emplace(i, result).second); });
  EXPECT_EQ(n, 50u);
  ASSERT_EQ(results.size(), 50u);
  for (const auto& [i, result] : results) EXPECT_EQ(result, std::to_string(i) + '\n' + large);
}

TEST(InProcesses, StartNothingAfterTheEnd) {
  const auto n = in_processes(
      50, 2, [](std::size_t) { return ""; }, [](std::size_t, const std::string&) {}, std::chrono::steady_clock::now());
  EXPECT_EQ(n, 0u);
}

TEST(InProcesses, AreMissedWhenTheyDie) {
  const auto work = [](std::size_t i) -> std::string {
    if (i == 1) abort();
    return "";
  };
  EXPECT_THROW(in_processes(3, 1, work, [](std::size_t, const std::string&) {}), Error);
}

}  // namespace
}  // namespace odori::grader
