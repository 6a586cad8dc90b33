// SPDX-License-Identifier: Apache-2.0
// However NCCL fails, all ranks end soon, and the cause is named once. On emulated GPUs.
#include <gtest/gtest.h>

#include <string>

#include "run_command.h"

namespace {

using odori::Ended;

/// `environment`: "NAME=value NAME=value".
Ended run(const std::string& way, const std::string& environment, int gpus = 2,
          const std::string& communicator = "pure_nccl") {
  return odori::grader::run_command(
      "ODORI_GPU_PLUGIN='" ODORI_EMULATED_GPU "' ODORI_EMULATED_GPUS=" + std::to_string(gpus) + " " + environment +
      " " ODORI_MPIRUN
      " --allow-run-as-root --oversubscribe --bind-to none --mca mpi_yield_when_idle 1 "
      "-np 2 '" ODORI_FAILURE_PROGRAM "' '" +
      way + "' " + communicator);
}

void expect_failure(const Ended& ending, const std::string& words, int code = 1) {
  EXPECT_EQ(ending.code, code) << ending.output;
  EXPECT_LT(ending.seconds, 30);
  EXPECT_EQ(ending.count(words), 1) << ending.output;
  EXPECT_EQ(ending.count("is through"), 0) << ending.output;
}

TEST(NcclFailure, NoneEndsWithZero) {
  for (const int gpus : {1, 2}) {
    const Ended ending = run("none", "", gpus);
    EXPECT_EQ(ending.code, 0) << ending.output;
    EXPECT_EQ(ending.count("is through"), 2) << ending.output;
    EXPECT_EQ(ending.count("Ranks share a GPU"), gpus == 1 ? 1 : 0) << ending.output;
  }
}

TEST(NcclFailure, BehindACallEndsAll) {
  for (const char* way : {"none", "in 16 bits"})
    expect_failure(run(way, "ODORI_EMULATED_NCCL_FAULT=async:1:3"), "NCCL failed: ");
}

// Each brings its numbers to the others by NCCL within a node, unless the node's ranks share a GPU.
TEST(NcclFailure, WithinANodeEndsAll) {
  for (const char* name : {"hierarchical", "two_dimensional", "single_node"}) {
    expect_failure(run("none", "ODORI_EMULATED_NCCL_FAULT=async:1:3", 2, name), "NCCL failed: ");
    const Ended sharing = run("none", "ODORI_EMULATED_NCCL_FAULT=async:1:3", 1, name);
    EXPECT_EQ(sharing.code, 0) << sharing.output;
    EXPECT_EQ(sharing.count("is through"), 2) << sharing.output;
  }
}

TEST(NcclFailure, ACollectiveThatNeverEndsIsAnErrorAfterTheLimit) {
  for (const char* way : {"none", "in 16 bits"})
    expect_failure(run(way, "ODORI_TIMEOUT=8 ODORI_EMULATED_NCCL_FAULT=hang:1:3"),
                   "has made no progress for 8 seconds.", 14);
}

TEST(NcclFailure, OtherCountsOnOtherRanksAreAnError) {
  expect_failure(run("none", "ODORI_EMULATED_NCCL_FAULT=differ:1:3"), "NCCL failed: ");
}

TEST(NcclFailure, ARankThatThrowsEndsAll) { expect_failure(run("throw", ""), "The cause of this failure."); }

TEST(NcclFailure, ARankThatLeavesEarlyEndsTheOthers) {
  const Ended ending = run("leave", "");
  EXPECT_NE(ending.code, 0) << ending.output;  // mpirun itself may crash when ranks end in so much disorder
  EXPECT_EQ(ending.count("Rank 0 is in comm->all_reduce_mean(), rank 1 in MPI_Finalize(), at the end of the program"),
            1)
      << ending.output;
}

TEST(NcclFailure, CpuDevicesAreRefused) {
  expect_failure(run("cpu", ""), "pure_nccl works on GPUs, but the model of rank ");
}

TEST(NcclFailure, MoreRanksThanGpusNeedPermission) {
  expect_failure(run("alone", "", 1), "There is no GPU 1: this machine has 1");
  expect_failure(run("one node", "ODORI_NODES=0,1", 1), "Ranks 0 and 1 stand on one GPU.");
}

}  // namespace
