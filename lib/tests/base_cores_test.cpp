// SPDX-License-Identifier: Apache-2.0
// What a container's limits leave of a machine, by threads/cores.h and by cores.sh, which says it before anything is
// built. Part of base_test.
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "files/file.h"
#include "program/process.h"
#include "threads/cores.h"

namespace odori {
namespace {

namespace fs = std::filesystem;

class Cores : public testing::Test {
 protected:
  ~Cores() override { fs::remove_all(folder_); }

  /// A file of the control groups, or `own`, the list of those of a process.
  void write(const std::string& file, const std::string& text) { replace_file(folder_ / file, text + "\n"); }

  /// Of a machine with 8 cores, with both ways of asking.
  int of_8() {
    const int cores = cores_within(8, folder_, folder_ / "own");
    EXPECT_EQ(in_bash("nproc() { echo 8; }; usable_cores"), std::to_string(cores) + "\n");
    return cores;
  }
  std::string in_bash(const std::string& asked) {
    const std::string command = fmt::format(". '{}'; all_groups='{}' own_groups='{}/own'; {}", ODORI_CORES_SH,
                                            folder_.string(), folder_.string(), asked);
    // Not with the address sanitizer's library, by which this test itself may run: bash leaks.
    return run_process({.arguments = {"bash", "-c", command}, .environment = {{"LD_PRELOAD", ""}}}).output;
  }

  const fs::path folder_ = fs::temp_directory_path() / ("odori_cores_test_" + std::to_string(getpid()));
};

TEST_F(Cores, AreThoseOfTheMachineWithoutALimit) {
  EXPECT_EQ(of_8(), 8) << "no control groups at all";
  write("own", "0::/some/group");
  EXPECT_EQ(of_8(), 8) << "none that can be seen";
  write("some/group/cpu.max", "max 100000");
  write("cpu/some/cpu.cfs_quota_us", "-1");
  write("cpu/some/cpu.cfs_period_us", "100000");
  EXPECT_EQ(of_8(), 8);
  write("own", "3:cpuset:/\n2:cpu,cpuacct:/some/group\n0::/some/group");
  EXPECT_EQ(of_8(), 8);
  write("some/group/cpu.max", "1600000 100000");
  EXPECT_EQ(of_8(), 8) << "more than there are";
  write("some/group/cpu.max", "damaged");
  EXPECT_EQ(of_8(), 8);
}

TEST_F(Cores, AreAsManyAsAContainersTimeKeepsBusy) {
  write("own", "0::/");
  write("cpu.max", "200000 100000");
  EXPECT_EQ(of_8(), 2);
  write("cpu.max", "150000 100000");
  EXPECT_EQ(of_8(), 2) << "rounded up";
  write("cpu.max", "5000 100000");
  EXPECT_EQ(of_8(), 1);
}

TEST_F(Cores, AreThoseOfTheNarrowestGroup) {
  write("own", "0::/slice/container/process");
  write("slice/cpu.max", "300000 100000");
  EXPECT_EQ(of_8(), 3);
  write("slice/container/process/cpu.max", "600000 100000");
  EXPECT_EQ(of_8(), 3);
  write("slice/container/cpu.max", "100000 50000");
  EXPECT_EQ(of_8(), 2);
  write("cpu.max", "10000 10000");
  EXPECT_EQ(of_8(), 1) << "a container sees its own group as the root";
}

TEST_F(Cores, AreLimitedByTheFirstVersionOfControlGroupsToo) {
  write("own", "5:memory:/job\n2:cpu,cpuacct:/job/step\n0::/");
  write("cpu/job/cpu.cfs_quota_us", "400000");
  write("cpu/job/cpu.cfs_period_us", "100000");
  write("cpu/cpu.cfs_quota_us", "-1");
  write("cpu/cpu.cfs_period_us", "100000");
  EXPECT_EQ(of_8(), 4);
}

TEST_F(Cores, OfThisProcessAreNoMoreThanItMayRunOn) {
  cpu_set_t before, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  EXPECT_GE(usable_cores(), 1);
  EXPECT_LE(usable_cores(), CPU_COUNT(&before));
  CPU_ZERO(&one);
  CPU_SET(static_cast<std::size_t>(sched_getcpu()), &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(usable_cores(), 1);
  EXPECT_EQ(in_bash("usable_cores"), "1\n");
  ASSERT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
}

/// A compiler that is killed for want of memory says nothing that helps.
TEST_F(Cores, EachCompilerHasAGibibyte) {
  write("own", "0::/container");
  EXPECT_EQ(in_bash("usable_cores() { echo 1; }; usable_compilers"), "1\n");
  write("container/memory.max", "4294967296");
  EXPECT_EQ(in_bash("usable_cores() { echo 64; }; awk() { [[ $* != *MemTotal* ]] || { echo 34359738368; return; }; "
                    "command awk \"$@\"; }; "
                    "usable_compilers"),
            "4\n");
  write("container/memory.max", "max");
  EXPECT_EQ(in_bash("usable_cores() { echo 64; }; awk() { [[ $* != *MemTotal* ]] || { echo 8200000000; return; }; "
                    "command awk \"$@\"; }; "
                    "usable_compilers"),
            "7\n");
  write("container/memory.max", "1000");
  EXPECT_EQ(in_bash("usable_compilers"), "1\n");
}

}  // namespace
}  // namespace odori
