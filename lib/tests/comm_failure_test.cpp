// SPDX-License-Identifier: Apache-2.0
// However a rank ends, all ranks end soon, the job's exit code says so, and the cause is named once.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>
#include <thread>

#include "observe/evidence.h"

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

/// Of mpirun with these arguments. `environment`: "NAME=value NAME=value".
Ending start(const std::string& arguments, const std::string& environment = "") {
  const std::string command = environment + " " + ODORI_MPIRUN +
                              " --allow-run-as-root --oversubscribe --bind-to none --mca mpi_yield_when_idle 1 " +
                              arguments + " 2>&1";
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

const std::string program = std::string("'") + ODORI_FAILURE_PROGRAM + "' ";

Ending run(const std::string& way, int ranks = 3, const std::string& environment = "") {
  return start("-np " + std::to_string(ranks) + " " + program + "'" + way + "'", environment);
}

const char* const cause = "The cause of this failure.";
constexpr double soon = 30;  // well before the limit on waiting, on a busy machine too

/// Nothing of Open MPI's stands beside the program's own sentence. Open MPI 5 shows its box all the same.
void expect_no_box(const Ending& ending) {
  static const bool can_be_silent = start("--version").count("(Open MPI) 4.") > 0;
  if (!can_be_silent) return;
  for (const char* const words : {"MPI_ABORT", "mpirun", "-----"}) EXPECT_EQ(ending.count(words), 0) << ending.output;
}

TEST(Failure, NoneEndsWithZero) {
  const Ending ending = run("none");
  EXPECT_EQ(ending.code, 0) << ending.output;
}

TEST(Failure, RanksThatMayNotReadEachOthersMemoryExchange) {
  const Ending ending = run("no reads");
  EXPECT_EQ(ending.code, 0) << ending.output;
  EXPECT_EQ(ending.count("does not let ranks read each other's memory"), 1) << ending.output;
  EXPECT_EQ(ending.count("errno"), 0) << ending.output;
}

TEST(Failure, AnExceptionOnOneRankEndsAll) {
  const Ending ending = run("throw");
  EXPECT_EQ(ending.code, 1);
  EXPECT_LT(ending.seconds, soon);
  EXPECT_EQ(ending.count(cause), 1) << ending.output;
  expect_no_box(ending);
}

TEST(Failure, TheSameExceptionOnEveryRankIsToldOnce) {
  const Ending ending = run("throw everywhere");
  EXPECT_EQ(ending.code, 1);
  EXPECT_LT(ending.seconds, soon);
  EXPECT_EQ(ending.count(cause), 1) << ending.output;
  expect_no_box(ending);
}

TEST(Failure, TheErrorsOwnExitCodeIsTheJobs) {
  const Ending blank = run("blank");
  EXPECT_EQ(blank.code, 10);
  EXPECT_EQ(blank.count(cause), 1) << blank.output;
  const Ending usage = run("communicator");
  EXPECT_EQ(usage.code, 2);
  EXPECT_EQ(usage.count("There is no communicator \"no such thing\""), 1) << usage.output;
  expect_no_box(blank);
  expect_no_box(usage);
}

TEST(Failure, ARankThatExitsEarlyEndsAll) {
  const Ending ending = run("exit");
  EXPECT_NE(ending.code, 0) << ending.output;
  EXPECT_LT(ending.seconds, soon);
}

TEST(Failure, ARankThatIsKilledEndsAll) {
  const Ending ending = run("killed");
  EXPECT_NE(ending.code, 0) << ending.output;
  EXPECT_LT(ending.seconds, soon);
}

TEST(Failure, ARankThatReturnsLongBeforeTheOthersIsShown) {
  const Ending ending = run("early");
  EXPECT_EQ(ending.code, 0) << ending.output;
  EXPECT_EQ(ending.count("The ranks have made no progress for 5 s."), 1) << ending.output;
  EXPECT_EQ(ending.count("1     has come to its end, and waits for the others there since 5 s"), 1) << ending.output;
  EXPECT_EQ(ending.count("has made no call since comm->barrier() (comm_failure_program.cpp:"), 2) << ending.output;
}

/// Each of the mistakes ends at once, with one sentence, and not by luck: three times.
void expect_difference(const std::string& way, const std::vector<std::string>& words, int code = 14) {
  for (int time = 0; time < 3; ++time) {
    const Ending ending = run(way);
    EXPECT_EQ(ending.code, code) << way << '\n' << ending.output;
    EXPECT_LT(ending.seconds, soon);
    for (const std::string& expected : words) EXPECT_EQ(ending.count(expected), 1) << way << '\n' << ending.output;
    EXPECT_EQ(ending.count("no progress"), 0) << ending.output;
    EXPECT_EQ(ending.count("MPI failed"), 0) << ending.output;
    expect_no_box(ending);
  }
}

const std::string place = " (comm_failure_program.cpp:";
const std::string all_make_the_same = ": all ranks must make the same calls in the same order.";

TEST(Difference, ACallOfOneRankAloneIsNamed) {
  expect_difference("on one rank",
                    {"Rank 0 is in comm->barrier()" + place, "ranks 1 and 2 in comm->all_gather()" + place,
                     "all as collective ", all_make_the_same});
  expect_difference("no broadcast", {"Ranks 0 and 2 are in comm->broadcast()" + place, "rank 1 in comm->all_gather()"});
  expect_difference("scattered by one",
                    {"Rank 0 is in scatter_dataset()" + place, "ranks 1 and 2 in comm->all_gather()"});
  expect_difference("second communicator", {"Rank 0 is in create_communicator(), ranks 1 and 2 in comm->all_gather()"});
}

TEST(Difference, OfTheOrderIsNamed) {
  expect_difference("other order", {"Rank 0 is in comm->sum()" + place, "ranks 1 and 2 in comm->barrier()" + place});
  expect_difference("another call", {"Ranks 0 and 2 are in comm->barrier()", "rank 1 in comm->scatter()"});
}

TEST(Difference, ARankThatReturnedFromMainIsNamed) {
  expect_difference("return", {"Ranks 0 and 2 are in comm->barrier()" + place,
                               "rank 1 in MPI_Finalize(), at the end of the program, all as collective "});
}

TEST(Difference, OfLengthsAndRootsIsNamed) {
  expect_difference("other length", {": rank 0 gave 2 elements, and rank 1 gave 3.", "on every rank" + place}, 1);
  expect_difference("other root", {": rank 0 names the root 0, and rank 1 names 1.", "on every rank" + place}, 1);
  expect_difference("other root of a group", {": rank 0 names the root 0, and rank 1 names 1."}, 1);
}

TEST(Difference, InAGroupIsNamed) {
  expect_difference("group", {"Rank 0 is in broadcast()" + place, "rank 1 in all_reduce()", "both as collective 1:"});
  expect_difference("group and job", {"Ranks 0 and 2 are in comm->barrier()", "rank 1 in all_reduce()"});
}

TEST(Difference, IsNamedInJapanese) {
  const Ending ending = run("on one rank", 2, "LC_ALL=ja_JP.UTF-8");
  EXPECT_EQ(ending.code, 14) << ending.output;
  EXPECT_EQ(ending.count("ランク 0 は comm->barrier()" + place), 1) << ending.output;
}

TEST(Difference, IsNotLookedForWithoutTheCheck) {
  const Ending ending = run("on one rank", 2, "ODORI_CHECK_CALLS=0 ODORI_TIMEOUT=6");
  EXPECT_NE(ending.code, 0) << ending.output;
  EXPECT_EQ(ending.count(all_make_the_same), 0) << ending.output;
}

TEST(Failure, AMessageOfAnotherLengthIsNamed) {
  for (const auto& [way, length] : {std::pair{"shorter", "2"}, {"longer", "100000"}}) {
    const Ending ending = run(way);
    EXPECT_EQ(ending.code, 1) << ending.output;
    EXPECT_EQ(
        ending.count(std::string("receive: rank 0 sent ") + length + " elements, and rank 1 expected 3 elements."), 1)
        << ending.output;
  }
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

// The limit leaves a busy machine time to start; ctest's is what says that nothing waits for ever.
void expect_hang(const Ending& ending, const std::string& missing, const std::string& others) {
  // Seldom, Open MPI 4's mpirun breaks off itself (PMIx_server_finalize) when it has ended the ranks, or hangs then.
  const bool mpirun_broke_off =
      ending.code == 128 + SIGSEGV && ending.output.find("PMIx_server_finalize") != std::string::npos;
  const bool mpirun_hung = ending.code == 128 + SIGKILL && ending.count("mpirun hangs, though all of its ranks") == 1;
  EXPECT_TRUE(ending.code == 14 || mpirun_broke_off || mpirun_hung) << ending.code << '\n' << ending.output;
  EXPECT_EQ(ending.count("MPI's exchange between the ranks has made no progress for "), 1) << ending.output;
  EXPECT_EQ(ending.count(missing), 1) << ending.output;
  EXPECT_EQ(ending.count(others), 1) << ending.output;
}

bool is_gone(int process) {
  for (int n = 0; n < 200; ++n) {
    if (::kill(process, 0) != 0 && errno == ESRCH) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  return false;
}

TEST(Hang, AStoppedRankIsNamedAndKilled) {
  const Ending ending = run("stopped", 3, "ODORI_TIMEOUT=6");
  const int process = std::stoi(ending.output.substr(ending.output.find("PID ") + 4));
  expect_hang(ending, "PID " + std::to_string(process) + ") is stopped, by a signal or a debugger.",
              "Ranks 0 and 2 wait in comm->barrier()" + place);
  EXPECT_TRUE(is_gone(process));
}

// Ranks differ by a shell: Debian 13's mpirun (PRRTE 3.0) breaks off where it is given several programs.
TEST(Hang, RankZerosLimitHoldsAlsoWhereItIsStoppedItself) {
  const std::string shell =
      R"(sh -c '[ $OMPI_COMM_WORLD_RANK = 0 ] && limit=6 || limit=100000; ODORI_TIMEOUT=$limit exec "$@"' _ )";
  const Ending ending = start("-np 3 " + shell + program + "'the first is stopped'");
  expect_hang(ending, ") is stopped, by a signal or a debugger.", "Ranks 1 and 2 wait in comm->barrier()" + place);
}

TEST(Hang, ARankThatEndedBeforeMpiInitIsNamed) {
  const Ending ending = run("exit before MPI", 3, "ODORI_TIMEOUT=6");
  // Where the others came to MPI_Init before it ended, mpirun ends them at once, and says why.
  if (ending.count("did not call \"init\" before exiting") == 1)
    EXPECT_NE(ending.code, 0);
  else
    expect_hang(ending, "Rank 1 (", "Ranks 0 and 2 wait in MPI_Init().");
}

TEST(Hang, ARankThatNeverStartedIsNamed) {
  const Ending ending = start(
      R"(-np 2 sh -c '[ $OMPI_COMM_WORLD_RANK = 0 ] || exec sleep 100000; exec "$0"' )" + program, "ODORI_TIMEOUT=6");
  expect_hang(ending, ") did not come to MPI_Init()", "Rank 0 waits in MPI_Init().");
}

/// Ends long before ODORI_TIMEOUT.
void expect_no_way_on(const Ending& ending, const std::string& waits) {
  expect_hang(ending, waits, "A send waits until its message is received");
  EXPECT_EQ(ending.count("no progress for 5 seconds, and cannot go on."), 1) << ending.output;
  EXPECT_EQ(ending.count("The job goes on"), 0) << ending.output;
  EXPECT_LT(ending.seconds, soon);
}

TEST(Hang, RanksThatAllSendAreNamed) {
  const Ending ending = run("all send");
  const auto at = ending.output.find(place) + place.size();
  const std::string line = ending.output.substr(at, ending.output.find(')', at) - at);
  const std::string here = place + line + ")";
  expect_no_way_on(ending, "Rank 0 waits in send to 1" + here + ", rank 1 in send to 2" + here +
                               ", rank 2 in send to 0" + here + ".");
}

TEST(Hang, RanksThatAllReceiveOrHaveWrongNeighboursAreNamed) {
  expect_no_way_on(run("all receive"), "Rank 0 waits in receive from 1" + place);
  expect_no_way_on(run("wrong neighbour"), "Rank 0 waits in exchange with 1" + place);
}

TEST(Hang, AMessageToARankThatHasReturnedIsNamed) {
  expect_no_way_on(run("no partner"), "rank 1 in MPI_Finalize(), at the end of its program");
}

TEST(Hang, NoneIsASlowRankWhoseStateIsShownOnce) {
  const Ending ending = run("slow");
  EXPECT_EQ(ending.code, 0) << ending.output;
  EXPECT_EQ(ending.count("The job goes on, and ends after 60 s (ODORI_TIMEOUT)"), 1) << ending.output;
  EXPECT_EQ(ending.count("1     has made no call since comm->all_gather()" + place), 1) << ending.output;
  EXPECT_EQ(ending.count("     waits in comm->barrier()" + place), 2) << ending.output;
}

TEST(Hang, ARankThatWaitsForAMessageIsNamedAndTheCallsOfTheOthersAre) {
  const Ending ending = run("no message");
  expect_hang(ending, "Rank 0 waits in receive from 1" + place, "each needs its receive on the other rank.");
  EXPECT_EQ(ending.count(", rank 1 in comm->barrier()" + place), 1) << ending.output;
  EXPECT_EQ(ending.count(", rank 2 in comm->barrier()" + place), 1) << ending.output;
  EXPECT_EQ(ending.count("All ranks have to make the same calls."), 0) << ending.output;
}

TEST(Hang, ARankThatShowsNoWorkIsNamed) {
  expect_hang(run("busy", 3, "ODORI_TIMEOUT=6"),
              ") is busy elsewhere: it made no call after comm->all_gather()" + place,
              "Ranks 0 and 2 wait in comm->barrier()" + place);
}

TEST(Hang, NoneIsARankAtWork) {
  const Ending ending = run("at work", 3, "ODORI_TIMEOUT=10");
  EXPECT_EQ(ending.code, 0) << ending.output;
}

TEST(Hang, NoneWithoutALimit) {
  const Ending ending = run("continued", 3, "ODORI_TIMEOUT=0");
  EXPECT_EQ(ending.code, 0) << ending.output;
}

TEST(Hang, AnotherNodesRankIsWaitedForTenTimesAsLong) {
  // Each rank has a table of its own, as on nodes of their own.
  const Ending ending = start(
      "-np 2 bash -c 'd=$OMPI_MCA_btl_vader_backing_directory/$OMPI_COMM_WORLD_RANK; mkdir $d; "
      "OMPI_MCA_btl_vader_backing_directory=$d OMPI_COMM_WORLD_LOCAL_SIZE=1 exec \"$0\" stopped' " +
          program,
      "ODORI_TIMEOUT=1");
  expect_hang(ending, "no progress for 10 seconds. Each rank of ", " has come to comm->barrier()" + place);
  EXPECT_EQ(ending.count("), but another has not"), 1) << ending.output;
}

TEST(Hang, ALimitThatIsNoNumberIsToldOnce) {
  const Ending ending = run("none", 3, "ODORI_TIMEOUT=soon");
  EXPECT_EQ(ending.code, 1) << ending.output;
  EXPECT_EQ(ending.count("ODORI_TIMEOUT is the number of seconds"), 1) << ending.output;
}

TEST(Failure, OfMpirunEndsWhatGoesOnAfterMpi) {
  const std::string name = testing::TempDir() + "odori_pid_" + std::to_string(::getpid());
  const Ending ending = run("goes on", 2, "ODORI_PID_FILE='" + name + "'");
  int process = 0;
  std::ifstream(name) >> process;
  std::remove(name.c_str());
  ASSERT_GT(process, 0) << ending.output;
  const auto begin = std::chrono::steady_clock::now();
  while (::kill(process, 0) == 0 && std::chrono::steady_clock::now() - begin < std::chrono::seconds(60))
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_NE(::kill(process, 0), 0) << "The rank outlives its mpirun.";
}

// ---- What the grader is told of messages

/// The facts of a rank, without their numbers.
std::string facts_of(int rank, const std::string& name) {
  std::ifstream file(name + "." + std::to_string(rank), std::ios::binary);
  std::uint64_t bytes = 0;
  file.read(reinterpret_cast<char*>(&bytes), sizeof bytes);
  file.seekg(odori::observe::evidence_head_bytes);
  std::string facts;
  for (std::string line; file.tellg() < static_cast<std::streamoff>(odori::observe::evidence_head_bytes + bytes) &&
                         std::getline(file, line);) {
    facts += line + '\n';
    if (const auto at = line.find("\"numbers\":"); at != std::string::npos)
      file.ignore(static_cast<std::streamsize>(sizeof(float)) * std::stoi(line.substr(at + 10)));
  }
  return facts;
}

TEST(Evidence, TellsTheMessagesOfLearnersAndNotTheLibrarys) {
  const std::string name = testing::TempDir() + "odori_messages_" + std::to_string(::getpid());
  for (const int rank : {0, 1})
    std::ofstream(name + "." + std::to_string(rank)) << std::string(2 * odori::observe::evidence_head_bytes, '\0');
  const Ending ending = run("message after message", 2, "ODORI_EVIDENCE='" + name + "'");
  EXPECT_EQ(ending.count("receive: rank 1 was to receive from rank 7"), 1) << ending.output;
  const std::string facts = facts_of(1, name);
  const std::string calls = facts.substr(facts.find("{\"fact\":\"enter\",\"collective\":\"comm->all_reduce_mean"));
  const char* const expected = R"facts({"fact":"enter","collective":"comm->all_reduce_mean()"}
{"fact":"message","call":"exchange","to":0,"sent":4,"from":0,"received":4}
{"fact":"message_done"}
{"fact":"enter","collective":"comm->barrier()"}
{"fact":"leave","collective":"comm->barrier()"}
{"fact":"leave","collective":"comm->all_reduce_mean()"}
{"fact":"enter","collective":"comm->all_reduce_mean()"}
{"fact":"leave","collective":"comm->all_reduce_mean()"}
{"fact":"message","call":"receive","to":-1,"sent":0,"from":0,"received":3}
{"fact":"message_done"}
{"fact":"message","call":"receive","to":-1,"sent":0,"from":7,"received":3}
)facts";
  EXPECT_EQ(calls.substr(0, calls.find("{\"fact\":\"failure")), expected) << facts;
  for (const int rank : {0, 1}) std::remove((name + "." + std::to_string(rank)).c_str());
}

}  // namespace
