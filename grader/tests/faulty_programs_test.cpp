// SPDX-License-Identifier: Apache-2.0
// The programs of exercises 13 and 14 as learners get them: those that hang end at once, and name the ranks and the
// lines in which these wait; the others run to their end. The repaired programs run to their end.
#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <future>
#include <sstream>

#include "files/file.h"
#include "run_command.h"
#include "synthetic.h"

namespace odori::grader {
namespace {

const std::string given = std::string(ODORI_FILLED_FOLDER) + "/0/", repaired = ODORI_SOLUTIONS;

/// "(debugging.cpp:LINE)" of the first line that holds these words, from where the program begins.
std::string place(const std::string& name, int program, const std::string& words) {
  std::istringstream text(read_file(given + name + ".cpp"));
  bool inside = false;
  int n = 0;
  for (std::string line; std::getline(text, line);) {
    ++n;
    inside |= line.starts_with("void program_" + std::to_string(program) + "(");
    if (inside && line.find(words) != std::string::npos) return " (" + name + ".cpp:" + std::to_string(n) + ")";
  }
  ADD_FAILURE() << name << ".cpp has no line with " << words;
  return {};
}

Ended run(const std::string& program, int ranks, const std::string& flags, int train = 100) {
  const TemporaryFolder folder(testing::TempDir() + "odori_faulty_");
  const std::string data = (folder.path() / "data").string(), out = (folder.path() / "out").string();
  synthetic::write_set(data, {.train = static_cast<std::uint32_t>(train), .test = 20, .seed = 3});
  return run_command(std::string(ODORI_MPIRUN) +
                     " --allow-run-as-root --oversubscribe --bind-to none --mca mpi_yield_when_idle 1 -np " +
                     std::to_string(ranks) + " '" + program + "' --device cpu --model tiny --dataset '" + data +
                     "' --out '" + out + "' " + flags + " 2>&1");
}

/// A program that hangs, how it is run, and the sentence that names ranks, calls and lines.
struct Hanging {
  std::string name;
  int program, ranks, train;
  std::string flags, sentence;
};

std::vector<Hanging> hanging_programs() {
  const std::string sum = place("debugging", 1, "comm.sum(sums)"), run_1 = place("debugging", 1, "trainer.run()"),
                    run_4 = place("debugging", 4, "trainer.run()"),
                    broadcast = place("more_debugging", 1, "comm.broadcast("),
                    other_sum = place("more_debugging", 1, "// E");
  const std::string epochs = "--epoch 3 --batchsize ";
  const auto update_and_evaluation = [&](const std::string& larger, const std::string& others) {
    return larger + " in optimizer->update()" + run_4 + ", " + others + " in multi_node_evaluator->evaluate()" + run_4;
  };
  return {{"debugging", 1, 2, 100, epochs + "20",
           "Rank 0 is in comm->sum()" + sum + ", rank 1 in optimizer->update()" + run_1},
          {"debugging", 1, 3, 100, epochs + "20",
           "Rank 0 is in comm->sum()" + sum + ", ranks 1 and 2 in optimizer->update()" + run_1},
          {"debugging", 1, 4, 100, epochs + "20",
           "Rank 0 is in comm->sum()" + sum + ", ranks 1, 2 and 3 in optimizer->update()" + run_1},
          {"debugging", 1, 2, 100, "--epoch 1 --batchsize 20",
           "Rank 0 is in comm->sum()" + sum + ", rank 1 in MPI_Finalize(), at the end of the program"},
          {"debugging", 4, 3, 100, epochs + "33", update_and_evaluation("Rank 0 is", "ranks 1 and 2")},
          {"debugging", 4, 2, 101, epochs + "50", update_and_evaluation("Rank 0 is", "rank 1")},
          {"debugging", 4, 4, 101, epochs + "25", update_and_evaluation("Rank 0 is", "ranks 1, 2 and 3")},
          {"debugging", 4, 4, 103, epochs + "25", update_and_evaluation("Ranks 0, 1 and 2 are", "rank 3")},
          {"more_debugging", 1, 2, 100, epochs + "20",
           "Rank 0 is in comm->broadcast()" + broadcast + ", rank 1 in comm->sum()" + other_sum},
          {"more_debugging", 1, 3, 100, epochs + "20",
           "Rank 0 is in comm->broadcast()" + broadcast + ", ranks 1 and 2 in comm->sum()" + other_sum}};
}

TEST(FaultyPrograms, ThatHangEndAndNameRanksAndLines) {
  for (const Hanging& one : hanging_programs()) {
    // Three at once: they mostly wait.
    std::array<std::future<Ended>, 3> runs;
    for (auto& each : runs)
      each = std::async(std::launch::async, [&] {
        return run(given + one.name, one.ranks, "--program " + std::to_string(one.program) + ' ' + one.flags,
                   one.train);
      });
    for (auto& each : runs) {
      const Ended ended = each.get();
      EXPECT_EQ(ended.code, 14) << one.name << ' ' << one.program << '\n' << ended.output;
      EXPECT_EQ(ended.count(one.sentence), 1) << one.sentence << "\nin\n" << ended.output;
      EXPECT_LT(ended.seconds, 60);
    }
  }
}

TEST(FaultyPrograms, OthersRunToTheirEnd) {
  for (const auto& [name, program] : {std::pair("debugging", 2), {"debugging", 3}, {"more_debugging", 2}}) {
    const Ended ended = run(given + name, 3, "--epoch 2 --batchsize 8 --program " + std::to_string(program));
    EXPECT_EQ(ended.code, 0) << name << ' ' << program << '\n' << ended.output;
  }
  const Ended devices = run(given + "more_debugging", 4, "--epoch 1 --batchsize 8 --program 3 ");
  EXPECT_EQ(devices.code, 0) << devices.output;
  EXPECT_EQ(devices.count("Rank 3 is on node 0, with 4 ranks, and uses CPU device 3"), 1) << devices.output;
}

TEST(RepairedPrograms, RunToTheirEnd) {
  for (const char* name : {"debugging", "more_debugging"})
    for (int program = 1; program <= 4; ++program) {
      const Ended ended =
          run(repaired + '/' + name, 3, "--epoch 2 --batchsize 33 --program " + std::to_string(program));
      EXPECT_EQ(ended.code, 0) << name << ' ' << program << '\n' << ended.output;
      EXPECT_EQ(ended.count("validation/main/accuracy"), 1) << ended.output;
    }
}

}  // namespace
}  // namespace odori::grader
