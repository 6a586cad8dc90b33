// However a rank ends, all ranks end soon, the job's exit code says so, and the cause is named once.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <string>

namespace {

struct Ending {
  int code = -1;
  double seconds = 0;
  std::string output;
  int count(const std::string& words) const {
    int n = 0;
    for (auto at = output.find(words); at != std::string::npos; at = output.find(words, at + 1)) ++n;
    return n;
  }
};

Ending run(const std::string& way, int ranks = 3) {
  const std::string command = std::string(ODORI_MPIRUN) +
                              " --allow-run-as-root --oversubscribe --bind-to none --mca mpi_yield_when_idle 1 -np " +
                              std::to_string(ranks) + " '" + ODORI_FAILURE_PROGRAM + "' '" + way + "' 2>&1";
  const auto begin = std::chrono::steady_clock::now();
  FILE* pipe = popen(command.c_str(), "r");
  Ending ending;
  std::array<char, 4096> buffer;
  for (std::size_t n; (n = fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) ending.output.append(buffer.data(), n);
  const int status = pclose(pipe);
  ending.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  ending.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return ending;
}

const char* const cause = "The cause of this failure.";

TEST(Failure, NoneEndsWithZero) {
  const Ending ending = run("none");
  EXPECT_EQ(ending.code, 0) << ending.output;
}

TEST(Failure, AnExceptionOnOneRankEndsAll) {
  const Ending ending = run("throw");
  EXPECT_EQ(ending.code, 1);
  EXPECT_LT(ending.seconds, 10);
  EXPECT_EQ(ending.count(cause), 1) << ending.output;
}

TEST(Failure, TheSameExceptionOnEveryRankIsToldOnce) {
  const Ending ending = run("throw everywhere");
  EXPECT_EQ(ending.code, 1);
  EXPECT_LT(ending.seconds, 10);
  EXPECT_EQ(ending.count(cause), 1) << ending.output;
}

TEST(Failure, TheErrorsOwnExitCodeIsTheJobs) {
  const Ending blank = run("blank");
  EXPECT_EQ(blank.code, 10);
  EXPECT_EQ(blank.count(cause), 1) << blank.output;
  const Ending usage = run("communicator");
  EXPECT_EQ(usage.code, 2);
  EXPECT_EQ(usage.count("There is no communicator \"no such thing\""), 1) << usage.output;
}

TEST(Failure, ARankThatExitsEarlyEndsAll) {
  const Ending ending = run("exit");
  EXPECT_NE(ending.code, 0) << ending.output;
  EXPECT_LT(ending.seconds, 10);
}

TEST(Failure, ARankThatIsKilledEndsAll) {
  const Ending ending = run("killed");
  EXPECT_NE(ending.code, 0) << ending.output;
  EXPECT_LT(ending.seconds, 10);
}

TEST(Failure, ARankThatReturnsLongBeforeTheOthersSaysSo) {
  const Ending ending = run("early");
  EXPECT_EQ(ending.code, 0) << ending.output;
  EXPECT_EQ(ending.count("Rank 1 has come to its end and waits"), 1) << ending.output;
}

TEST(Failure, HelpIsPrintedOnceAndIsNoFailure) {
  const Ending ending = run("help");
  EXPECT_EQ(ending.code, 0) << ending.output;
  EXPECT_EQ(ending.count("Usage: as one pleases."), 1) << ending.output;
}

TEST(Failure, OneRankAloneFailsAsAnyProgram) {
  const Ending ending = run("throw everywhere", 1);
  EXPECT_EQ(ending.code, 1);
  EXPECT_EQ(ending.count(cause), 1) << ending.output;
}

}  // namespace
