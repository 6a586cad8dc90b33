// SPDX-License-Identifier: Apache-2.0
// Who is who on simulated nodes. Runs under mpirun with 1, 2, 3 and 4 ranks.
#include <gtest/gtest.h>

#include <string>

#include "comm/communicator.h"
#include "comm/ranks.h"
#include "errors/error.h"
#include "on_nodes.h"

namespace odori {
namespace {

using Nodes = std::vector<std::string>;

// ---- Any number of ranks, without MPI: {rank, size, intra_rank, intra_size, inter_rank, inter_size}

TEST(Ranks, Block) {
  const Nodes nodes = {"a", "a", "b", "b"};
  EXPECT_EQ(find_ranks(nodes, 0), (Ranks{0, 4, 0, 2, 0, 2}));
  EXPECT_EQ(find_ranks(nodes, 1), (Ranks{1, 4, 1, 2, 0, 2}));
  EXPECT_EQ(find_ranks(nodes, 2), (Ranks{2, 4, 0, 2, 1, 2}));
  EXPECT_EQ(find_ranks(nodes, 3), (Ranks{3, 4, 1, 2, 1, 2}));
}

TEST(Ranks, CyclicNodesAreOrderedByLowestRankAndNotByName) {
  const Nodes nodes = {"z", "a", "z", "a"};
  EXPECT_EQ(find_ranks(nodes, 0), (Ranks{0, 4, 0, 2, 0, 2}));
  EXPECT_EQ(find_ranks(nodes, 1), (Ranks{1, 4, 0, 2, 1, 2}));
  EXPECT_EQ(find_ranks(nodes, 2), (Ranks{2, 4, 1, 2, 0, 2}));
  EXPECT_EQ(find_ranks(nodes, 3), (Ranks{3, 4, 1, 2, 1, 2}));
}

TEST(Ranks, UnevenThreeAndOne) {
  const Nodes nodes = {"a", "a", "a", "b"};
  EXPECT_EQ(find_ranks(nodes, 2), (Ranks{2, 4, 2, 3, 0, 2}));
  EXPECT_EQ(find_ranks(nodes, 3), (Ranks{3, 4, 0, 1, 1, 2}));
}

TEST(Ranks, VariableIsParsed) {
  EXPECT_EQ(parse_nodes("0,0,1,1", 4), (Nodes{"0", "0", "1", "1"}));
  EXPECT_EQ(parse_nodes("07,7", 2), (Nodes{"7", "7"}));
  for (const char* bad : {"0", "0,0,1", "0,,1", "0,a", "0, 1", "0,-1", ",", "0,1,", "0,99999999999999999999999"})
    EXPECT_THROW(parse_nodes(bad, 2), Error) << bad;
}

// ---- The job's own ranks

class Simulated : public testing::Test {
 protected:
  const int size_ = create_communicator("flat")->size();
};

TEST_F(Simulated, OneMachineIsOneNode) {
  const auto comm = create_communicator("flat");
  EXPECT_EQ(comm->intra_rank(), comm->rank());
  EXPECT_EQ(comm->intra_size(), comm->size());
  EXPECT_EQ(comm->inter_rank(), 0);
  EXPECT_EQ(comm->inter_size(), 1);
}

TEST_F(Simulated, PlacementsBlockCyclicAndUneven) {
  for (const char* digits : {"0011", "0101", "0001", "5355"}) {
    const std::string nodes = nodes_of(digits, size_);
    const auto comm = create_on(nodes, "flat");
    const Ranks truth = find_ranks(parse_nodes(nodes, size_), comm->rank());
    EXPECT_EQ((Ranks{comm->rank(), comm->size(), comm->intra_rank(), comm->intra_size(), comm->inter_rank(),
                     comm->inter_size()}),
              truth);
  }
}

TEST_F(Simulated, RankZerosVariableHoldsForAll) {
  const auto comm = create_communicator("flat");
  const auto spread = create_on(comm->rank() == 0 ? nodes_of("0123", size_) : "", "naive");
  EXPECT_EQ(spread->inter_rank(), comm->rank());
  EXPECT_EQ(spread->inter_size(), size_);
  EXPECT_EQ(spread->intra_size(), 1);
}

TEST_F(Simulated, DifferentCommunicatorsAreNamedOnEveryRank) {
  if (size_ == 1) return;
  std::string others = "1";
  for (int r = 2; r < size_; ++r) others += fmt::format(", {}", r);
  const bool first = create_communicator("flat")->rank() == 0;
  try {
    create_communicator(first ? "hierarchical" : "flat");
    ADD_FAILURE() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.what(), fmt::format("The ranks ask for different communicators: flat (rank {}), hierarchical (rank "
                                        "0). Give every rank the same --communicator.",
                                        others));
  }
  EXPECT_EQ(create_communicator("flat")->size(), size_);  // and the ranks are still in step
}

TEST_F(Simulated, WrongValuesAreErrorsOnEveryRank) {
  EXPECT_THROW(create_on("0,0,0,0,1", "flat"), Error);
  EXPECT_THROW(create_on("zero", "flat"), Error);
  EXPECT_EQ(create_communicator("flat")->size(), size_);  // and the ranks are still in step
}

}  // namespace
}  // namespace odori
