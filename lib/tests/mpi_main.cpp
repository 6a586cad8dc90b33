// SPDX-License-Identifier: Apache-2.0
// The main of test programs that run under mpirun. Every rank runs every test; rank 0 prints as usual, the others only
// what failed. All ranks return non-zero if a test failed on any of them. A rank that waits for one whose test ended
// early is ended by the time limit of ctest.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "comm/communicator.h"
#include "comm/session.h"
#include "program/program.h"

namespace {

class FailurePrinter : public testing::EmptyTestEventListener {
 public:
  explicit FailurePrinter(int rank) : rank_(rank) {}

 private:
  void OnTestStart(const testing::TestInfo& test) override {
    test_ = fmt::format("{}.{}", test.test_suite_name(), test.name());
  }
  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (!result.failed()) return;
    fmt::print("[rank {}] {}, {}:{}: {}\n", rank_, test_, result.file_name() ? result.file_name() : "-",
               result.line_number(), result.message());
    std::fflush(stdout);
  }
  std::string test_ = "outside of a test";
  int rank_;
};

}  // namespace

int main(int argc, char** argv) try {
  const odori::MpiSession mpi(argc, argv);
  testing::InitGoogleTest(&argc, argv);
  const auto comm = odori::create_communicator("naive");
  if (comm->rank() > 0) {
    testing::TestEventListeners& listeners = testing::UnitTest::GetInstance()->listeners();
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(new FailurePrinter(comm->rank()));
  }
  double failed_ranks = RUN_ALL_TESTS() == 0 ? 0 : 1;
  comm->sum({&failed_ranks, 1});
  return failed_ranks == 0 ? 0 : 1;
} catch (...) {
  return odori::report_failure();
}
