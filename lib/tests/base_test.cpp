// SPDX-License-Identifier: Apache-2.0
// Random numbers, ranges, blanks, checked files and the sentence that a program dies with.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <thread>

#include "distributed/snapshot_file.h"
#include "errors/blank.h"
#include "errors/error.h"
#include "errors/nearest.h"
#include "files/file.h"
#include "numbers/random.h"
#include "numbers/range.h"
#include "program/program.h"
#include "program/rank_table.h"
#include "sentence_of.h"
#include "threads/watchdog.h"

namespace odori {
namespace {

TEST(Philox, GivesTheKnownAnswersOfItsAuthors) {
  // From the known-answer file of the authors' library, Random123: philox4x32, 10 rounds.
  EXPECT_EQ(Philox::block({0, 0, 0, 0}, 0), (Philox::Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  const std::uint32_t f = 0xffffffff;
  EXPECT_EQ(Philox::block({f, f, f, f}, ~0ull), (Philox::Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(Philox::block({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, 0x299f31d0a4093822ull),
            (Philox::Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(RandomSequence, GoesOnWhereItWas) {
  RandomSequence a(5, RandomUse::shuffle, 2), b(5, RandomUse::shuffle, 2);
  for (int i = 0; i < 7; ++i) a.next();
  b.seek(a.position());
  for (int i = 0; i < 9; ++i) EXPECT_EQ(a.next(), b.next());
}

TEST(RandomSequence, DiffersBySeedUseAndStream) {
  std::set<std::uint32_t> first;
  for (const std::uint64_t seed : {1, 2})
    for (const auto use : {RandomUse::shuffle, RandomUse::dropout})
      for (const std::uint32_t stream : {0u, 1u}) first.insert(RandomSequence(seed, use, stream).next());
  EXPECT_EQ(first.size(), 8u);
}

TEST(RandomSequence, NormalNumbersHaveTheirMeanAndDeviation) {
  std::vector<float> values(100001);
  RandomSequence(3, RandomUse::initial_weights).fill_normal(values, 0.5f);
  double sum = 0, squares = 0;
  for (const float v : values) sum += v, squares += static_cast<double>(v) * v;
  const double n = static_cast<double>(values.size());
  EXPECT_NEAR(sum / n, 0, 0.01);
  EXPECT_NEAR(std::sqrt(squares / n), 0.5, 0.01);
}

TEST(RandomPermutation, HoldsEachNumberOnceAndIsFair) {
  RandomSequence random(1, RandomUse::shuffle);
  std::map<std::vector<std::int64_t>, int> seen;
  for (int i = 0; i < 6000; ++i) ++seen[random_permutation(3, random)];
  ASSERT_EQ(seen.size(), 6u);  // all orders of three
  for (const auto& [order, count] : seen) EXPECT_NEAR(count, 1000, 150);
}

TEST(Slice, CoversEverythingOnceOnCacheLines) {
  for (const std::size_t size : {0u, 1u, 15u, 16u, 1000u, 100003u})
    for (const std::size_t n : {1u, 2u, 3u, 7u}) {
      std::size_t end = 0;
      for (std::size_t i = 0; i < n; ++i) {
        const Range part = slice(size, i, n);
        EXPECT_EQ(part.begin, end);
        EXPECT_TRUE(part.begin % 16 == 0 || part.begin == size);
        end = part.end;
      }
      EXPECT_EQ(end, size);
    }
}

/// What stop_at_blank says of this file and line.
std::string sentence_at(const std::string& file, int line) {
  try {
    stop_at_blank(file.c_str(), line);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), exit_code::unfilled);
    return error.what();
  }
}

TEST(Blank, NamesItsNumberQuestionPlaceAndHint) {
  const std::string path = ::testing::TempDir() + "train_cifar_multi_gpu.cpp";
  std::ofstream(path) << "int main() {\n"
                         "  // BLANK 1: Another one?\n"
                         "  int a = 0;\n"
                         "  // END BLANK\n"
                         "  // BLANK 2: Which device\n"
                         "  //          is the main one?\n"
                         "  int b = PUT_YOUR_CODE;\n";
  const std::string sentence = sentence_at(path, 7);
  EXPECT_NE(sentence.find("blank 2"), std::string::npos) << sentence;
  EXPECT_NE(sentence.find("Which device is the main one?"), std::string::npos) << sentence;
  EXPECT_NE(sentence.find(path + ":7"), std::string::npos) << sentence;
  EXPECT_NE(sentence.find("./odori hint multi_gpu 2"), std::string::npos) << sentence;
}

TEST(Blank, IsClearWithoutItsSource) {
  const std::string sentence = sentence_at("/nowhere/train_cifar_multi_node.cpp", 12);
  EXPECT_NE(sentence.find("/nowhere/train_cifar_multi_node.cpp:12"), std::string::npos) << sentence;
  EXPECT_NE(sentence.find("./odori hint multi_node\n"), std::string::npos) << sentence;
}

TEST(Blank, IsOfTheExerciseWhoseFolderHoldsIt) {
  const std::string sentence = sentence_at("/nowhere/03_ring_of_ranks/all_reduce.cpp", 12);
  EXPECT_NE(sentence.find("./odori hint ring_of_ranks\n"), std::string::npos) << sentence;
}

TEST(Blank, StopsWhereItIsAStatementOrReturned) {
  const auto returns = []() -> float { return PUT_YOUR_CODE; };
  const auto has_no_end = [](bool wanted) -> int {
    if (wanted) return 1;
    PUT_YOUR_CODE;
  };
  EXPECT_THROW(returns(), Error);
  EXPECT_THROW(has_no_end(false), Error);
  EXPECT_EQ(has_no_end(true), 1);
}

TEST(Blank, ConvertsToWhateverIsAskedFor) {
  EXPECT_THROW([[maybe_unused]] const int number = PUT_YOUR_CODE, Error);
  EXPECT_THROW([[maybe_unused]] const bool truth = PUT_YOUR_CODE, Error);
  EXPECT_THROW([[maybe_unused]] const std::string text = PUT_YOUR_CODE, Error);
  EXPECT_THROW([[maybe_unused]] const std::unique_ptr<int> pointer = PUT_YOUR_CODE, Error);
  using Map = std::map<std::string, int>;
  EXPECT_THROW([[maybe_unused]] const Map map = PUT_YOUR_CODE, Error);
}

int code_of(void (*work)()) {
  try {
    work();
  } catch (...) {
    return report_failure();
  }
  return -1;
}

TEST(ReportFailure, GivesEachKindItsExitCodeAndSaysTheCause) {
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(code_of([] { fail("the disk is full"); }), exit_code::failure);
  EXPECT_EQ(code_of([] { throw UsageError("no such flag"); }), exit_code::usage);
  EXPECT_EQ(code_of([] { throw Error("blank", exit_code::unfilled); }), exit_code::unfilled);
  EXPECT_EQ(code_of([] { throw std::bad_alloc(); }), exit_code::failure);
  EXPECT_EQ(code_of([] { throw 7; }), exit_code::failure);
  EXPECT_EQ(code_of([] { std::filesystem::create_directory("/nowhere/data"); }), exit_code::failure);
  const std::string said = ::testing::internal::GetCapturedStderr();
  for (const char* cause :
       {"the disk is full", "no such flag", "blank", "Out of memory", "/nowhere/data can't be used: No such file"})
    EXPECT_NE(said.find(cause), std::string::npos) << said;
}

class WatchTest : public testing::Test {
 protected:
  static std::unique_ptr<Watchdog> watch(const std::function<std::string()>& failure = [] { return std::string(); }) {
    return std::make_unique<Watchdog>(
        Watchdog::Words{{"The exchange", "通信"}, {"Look at the cables.", "配線を見てください。"}},
        std::chrono::seconds(1), failure);
  }
  static void sleep(int milliseconds) { std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds)); }
};

TEST_F(WatchTest, EndsTheProgramWhereNothingMoves) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        const auto watched = watch();
        watched->begin();
        sleep(20'000);
      },
      testing::ExitedWithCode(exit_code::hang),
      "The exchange has made no progress for 1 seconds. Look at the cables. ODORI_TIMEOUT=10 waits longer, "
      "ODORI_TIMEOUT=0 for ever.");
}

TEST_F(WatchTest, EndsTheProgramOverAFailure) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        const auto watched = watch([] { return std::string("A cable is broken."); });
        sleep(20'000);
      },
      testing::ExitedWithCode(exit_code::failure), "A cable is broken.");
}

TEST_F(WatchTest, IsContentWhileSomethingEndsNowAndThen) {
  const auto watched = watch();
  watched->begin();
  for (int i = 0; i < 3; ++i) {
    sleep(500);
    watched->begin();
    watched->end();
  }
  watched->end();
  sleep(1300);  // nothing is under way
  const Watchdog::During short_work(*watched);
  sleep(200);  // which doesn't count from when something ended last
}

TEST_F(WatchTest, TimeInWhichTheProgramWasStoppedIsNoWaiting) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        const auto watched = std::make_unique<Watchdog>(Watchdog::Words{{"It", ""}, {}}, std::chrono::seconds(4));
        watched->begin();
        if (const pid_t stopped = getpid(); fork() == 0) {
          kill(stopped, SIGSTOP);
          sleep(6000);
          kill(stopped, SIGCONT);
          _exit(0);
        }
        for (int i = 0; i < 15; ++i) sleep(100);  // it goes on being watched after the stop
        std::_Exit(0);
      },
      testing::ExitedWithCode(0), "");
}

TEST_F(WatchTest, WithoutALimitItWaitsForEver) {
  Watchdog watched({{"It", ""}, {}}, std::chrono::seconds(0));
  watched.begin();
  sleep(500);
}

TEST_F(WatchTest, LimitIsTheUsers) {
  unsetenv("ODORI_TIMEOUT");
  EXPECT_EQ(watchdog_limit().count(), 60);
  setenv("ODORI_TIMEOUT", "7", 1);
  EXPECT_EQ(watchdog_limit().count(), 7);
  setenv("ODORI_TIMEOUT", "0", 1);
  EXPECT_EQ(watchdog_limit().count(), 0);
  for (const char* bad : {"-1", "1.5", "7s", "soon"}) {
    setenv("ODORI_TIMEOUT", bad, 1);
    EXPECT_THROW(watchdog_limit(), Error) << bad;
  }
  unsetenv("ODORI_TIMEOUT");
}

TEST(Nearest, FindsWhatWasMeant) {
  std::ifstream cases(ODORI_NEAREST_CASES);
  std::vector<std::string> known;
  int n = 0;
  for (std::string line; std::getline(cases, line);) {
    const std::string word = line.substr(0, line.find('|'));
    if (line.starts_with('#')) continue;
    std::istringstream words(line.substr(line.find('|') + 1));
    std::vector<std::string> expected;
    for (std::string near; words >> near;) expected.push_back(near);
    if (word == "known") {
      known = expected;
      continue;
    }
    EXPECT_EQ(nearest(word, known), expected) << word;
    ++n;
  }
  EXPECT_GT(n, 15);
  EXPECT_TRUE(nearest("", known).empty());
  EXPECT_TRUE(nearest(std::string(100000, 'c'), known).empty());
}

TEST(Files, ThatAreNoneAreToldAtOnce) {
  const TemporaryFolder folder(testing::TempDir() + "odori_files_");
  ASSERT_EQ(::mkfifo((folder.path() / "pipe").c_str(), 0600), 0);
  EXPECT_SENTENCE(read_bytes(folder.path() / "pipe"), "is not a file");
  EXPECT_SENTENCE(read_bytes(folder.path()), "is not a file");
}

TEST(Files, AreCheckedByCrc32) {
  const TemporaryFolder folder(testing::TempDir() + "odori_files_");
  const FileCheck check = write_checked(folder.path() / "file", "123456789");
  EXPECT_EQ(check.bytes, 9u);
  EXPECT_EQ(check.crc32, 0xCBF43926u);  // the check value of CRC-32 (ISO-HDLC) as published
  EXPECT_EQ(read_checked(folder.path() / "file", check).size(), 9u);
  EXPECT_SENTENCE(read_checked(folder.path() / "file", FileCheck{9, 1}), "its checksum isn't that of what was written");
  EXPECT_SENTENCE(read_checked(folder.path() / "file", FileCheck{8, check.crc32}),
                  "it has 9 bytes, but 8 were written");
}

}  // namespace
}  // namespace odori
