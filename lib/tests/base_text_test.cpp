// SPDX-License-Identifier: Apache-2.0
// Texts, and the files and folders that hold them. Part of base_test.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "errors/nearest.h"
#include "errors/text.h"
#include "files/file.h"
#include "sentence_of.h"

namespace odori {
namespace {

namespace fs = std::filesystem;

using Texts = std::vector<std::string>;

TEST(Text, IsSplitAtEachCharacterOfAKind) {
  EXPECT_EQ(split("a,b,", ','), (Texts{"a", "b", ""}));
  EXPECT_EQ(split(",a,,b", ','), (Texts{"", "a", "", "b"}));
  EXPECT_EQ(split("", ','), Texts{""});
}

TEST(Text, HasLinesWithAnyLineEnd) {
  EXPECT_EQ(split_lines(""), Texts{});
  EXPECT_EQ(split_lines("\n"), Texts{""});
  EXPECT_EQ(split_lines("a\n\nb"), (Texts{"a", "", "b"}));
  EXPECT_EQ(split_lines("a\r\n\r\nb\n"), (Texts{"a", "", "b"}));
  EXPECT_EQ(join_lines({"a", "", "b"}), "a\n\nb\n");
}

TEST(Text, IsTrimmedInSmallLettersAndWithOtherWords) {
  EXPECT_EQ(trim(" \ta b\t "), "a b");
  EXPECT_EQ(trim("\t \t"), "");
  EXPECT_EQ(trim("--a-", "-"), "a");
  EXPECT_EQ(lower("ABC xyz \u00c4"), "abc xyz \u00c4");
  EXPECT_EQ(replaced("aXbXXc", "X", "XX"), "aXXbXXXXc");
  EXPECT_EQ(replaced("aaa", "aa", ""), "a");
}

TEST(Text, IsANumberAsAWholeOrNone) {
  EXPECT_EQ(number_of<int>("-7"), -7);
  EXPECT_EQ(number_of<double>("2.5e1"), 25);
  for (const char* other : {"", " 7", "7 ", "+7", "7x", "0x7", "99999999999"})
    EXPECT_FALSE(number_of<int>(other)) << other;
}

TEST(Slips, AreLettersTooManyTooFewWrongOrExchanged) {
  EXPECT_EQ(slips("mpiprocs", "mpiprocs"), 0u);
  EXPECT_EQ(slips("mpiproc", "mpiprocs"), 1u);
  EXPECT_EQ(slips("mpiprcos", "mpiprocs"), 1u);
  EXPECT_EQ(slips("nprocs", "mpiprocs"), 3u);
  EXPECT_EQ(slips("", "abc"), 3u);
}

TEST(File, IsReadWholeOrIsEmpty) {
  const TemporaryFolder folder(testing::TempDir() + "core_text_test_");
  const std::string text("a\0b\r\n\n", 6);
  write_file(folder.path() / "file", text);
  EXPECT_EQ(read_file(folder.path() / "file"), text);
  EXPECT_EQ(read_file(folder.path() / "none"), "");
}

TEST(File, SaysWhyItCannotBeWritten) {
  EXPECT_SENTENCE(write_file("/dev/full", "text"), "/dev/full can't be written: No space left on device.");
  const TemporaryFolder temporary(testing::TempDir() + "core_text_test_");
  const fs::path folder = temporary.path();
  replace_file(folder / "log", "first");
  EXPECT_SENTENCE(replace_file(folder / "log/none", "text"), "log can't be made: Not a directory.");
  fs::create_directory(folder / fmt::format("log.{}.part", ::getpid()));  // makes the next one fail
  EXPECT_SENTENCE(replace_file(folder / "log", "second"), "can't be written: Is a directory.");
  EXPECT_EQ(read_file(folder / "log"), "first");
}

TEST(File, OnlyWhatKillsHaveLeftOfItIsRemoved) {
  const TemporaryFolder temporary(testing::TempDir() + "core_text_test_");
  const fs::path folder = temporary.path();
  for (const char* name : {"log", "log.12.part", "log.3456.part", "log..part", "log.a1.part", "log.12.part.gz",
                           "1.part", "catalog.12.part", "latest.12.part"})
    write_file(folder / name, "text");
  remove_unfinished(folder / "log");
  std::set<std::string> left;
  for (const auto& entry : fs::directory_iterator(folder)) left.insert(entry.path().filename().string());
  EXPECT_EQ(left, (std::set<std::string>{"log", "log..part", "log.a1.part", "log.12.part.gz", "1.part",
                                         "catalog.12.part", "latest.12.part"}));
  remove_unfinished(folder / "none/log");
}

TEST(File, NamesTheErrorOfTheRenaming) {
  const TemporaryFolder temporary(testing::TempDir() + "core_text_test_");
  const fs::path folder = temporary.path();
  fs::create_directory(folder / "log");
  std::ofstream(folder / "log/in_the_way") << "x";
  errno = ENOENT;
  EXPECT_SENTENCE(replace_file(folder / "log", "text"), "log: Is a directory.");
}

TEST(TemporaryFolders, AreTheirOwnersAloneAndGoWithAllThatIsInThem) {
  const fs::path prefix = fs::path(testing::TempDir()) / "base_text_test" / "made" / "too_";
  fs::path path;
  {
    const TemporaryFolder folder(prefix), other(prefix);
    path = folder.path();
    EXPECT_TRUE(path.string().starts_with(prefix.string())) << path;
    EXPECT_NE(path, other.path());
    struct stat status {};
    ASSERT_EQ(::stat(path.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0700u);
    fs::create_directory(path / "folder");
    write_file(path / "folder/file", "text");
  }
  EXPECT_FALSE(fs::exists(path));
  write_file(fs::path(testing::TempDir()) / "base_text_test" / "file", "in the way");
  EXPECT_THROW(TemporaryFolder(fs::path(testing::TempDir()) / "base_text_test" / "file" / "too_"), WriteError);
  fs::remove_all(fs::path(testing::TempDir()) / "base_text_test");
}

}  // namespace
}  // namespace odori
