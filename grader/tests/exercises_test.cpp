// SPDX-License-Identifier: Apache-2.0
// Learners' way through both exercises: unfilled, with one blank more filled each time, and wholly filled.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "blanks/blanks.h"
#include "blanks/task.h"
#include "errors/error.h"
#include "files/json.h"
#include "run_command.h"
#include "synthetic.h"

namespace odori::grader {
namespace {

namespace fs = std::filesystem;

std::vector<Blank> blanks_of(const fs::path& path) { return parse_blanks(split_lines(read_file(path)), path.string()); }

/// The exercise with its first n blanks filled, as CMake makes it: source and program.
fs::path filled_source(const std::string& task, int n) {
  return fs::path(ODORI_FILLED_FOLDER) / std::to_string(n) / ("train_cifar_" + task + ".cpp");
}
fs::path filled_program(const std::string& task, int n) { return filled_source(task, n).replace_extension(); }

fs::path work_folder() {
  const auto* test = testing::UnitTest::GetInstance()->current_test_info();
  std::string name = std::string(test->test_suite_name()) + '.' + test->name();
  std::replace(name.begin(), name.end(), '/', '_');
  const fs::path folder = fs::path(ODORI_WORK_FOLDER) / name;
  fs::create_directories(folder);
  return folder;
}

/// A tiny set, a tiny network, one epoch.
std::string flags(const fs::path& out) {
  const fs::path data = work_folder() / "data";
  synthetic::write_set(data, {.train = 160, .test = 40});
  return fmt::format(" --device cpu --model tiny --epoch 1 --batchsize 16 --dataset {} --out {}", data.string(),
                     out.string());
}

std::string mpirun(int ranks) {
  return fmt::format("{} --allow-run-as-root --oversubscribe --bind-to none --mca mpi_yield_when_idle 1 -np {} ",
                     ODORI_MPIRUN, ranks);
}

/// The line of the blank's PUT_YOUR_CODE.
int placeholder_line(const Blank& blank) {
  for (std::size_t i = 0; i < blank.text.size(); ++i)
    if (blank.text[i].find("PUT_YOUR_CODE") != std::string::npos) return blank.text_line + static_cast<int>(i);
  return 0;
}

/// Runs the program, which has to stop at this blank within 10 s; a busy machine may be slow once.
void expect_stop_at(const Blank& blank, const std::string& task, const fs::path& source, const std::string& command) {
  Ended ending = run_command(command);
  if (ending.seconds > 10) ending = run_command(command);
  EXPECT_LT(ending.seconds, 10);
  EXPECT_EQ(ending.code, 10);
  for (const std::string& words :
       {fmt::format("reached blank {},", blank.number), "  question: " + blank.question + '\n',
        fmt::format("  where:    {}:{}\n", source.string(), placeholder_line(blank)),
        fmt::format("  a hint:   ./odori hint {} {}\n", task, blank.number)})
    EXPECT_EQ(ending.count(words), 1) << words << "in\n" << ending.output;
  EXPECT_EQ(ending.count("reached"), 1) << ending.output;
}

TEST(Exercises, EachStopsAtTheFirstBlankThatIsNotFilled) {
  for (const auto& [task, n] : {std::pair<std::string, int>{"multi_gpu", 7}, {"multi_node", 6}})
    for (int filled = 0; filled < n; ++filled) {
      SCOPED_TRACE(fmt::format("{} with {} blanks filled", task, filled));
      const fs::path source = filled_source(task, filled);
      ASSERT_TRUE(source.is_absolute());
      const auto blanks = blanks_of(source);
      ASSERT_EQ(blanks.size(), n);
      const auto program = filled_program(task, filled).string() + flags(work_folder() / "out");
      expect_stop_at(blanks[filled], task, source, program);
    }
}

TEST(Exercises, AllRanksStopAtABlankAndOneSaysSo) {
  for (int filled = 0; filled < 6; ++filled)
    for (const int ranks : filled == 0 ? std::vector{2, 4} : std::vector{2}) {
      SCOPED_TRACE(fmt::format("{} ranks, {} blanks filled", ranks, filled));
      const fs::path source = filled_source("multi_node", filled);
      const auto program = filled_program("multi_node", filled).string() + flags(work_folder() / "out");
      expect_stop_at(blanks_of(source).at(filled), "multi_node", source, mpirun(ranks) + program);
    }
}

/// The log without what no two runs share.
nlohmann::json log_of(const fs::path& out) {
  nlohmann::json log = parse_json(read_file(out / "log"));
  for (auto& entry : log) entry.erase("elapsed_time");
  return log;
}

void expect_same_training(const std::string& start, const std::string& task, int n_blanks) {
  const fs::path ours = work_folder() / "solution", theirs = work_folder() / "exercise";
  const auto solution = run_command(start + ODORI_SOLUTIONS + "/train_cifar_" + task + flags(ours));
  ASSERT_EQ(solution.code, 0) << solution.output;
  const auto exercise = run_command(start + filled_program(task, n_blanks).string() + flags(theirs));
  ASSERT_EQ(exercise.code, 0) << exercise.output;
  EXPECT_EQ(exercise.count("Throughput: "), 1) << exercise.output;
  ASSERT_EQ(log_of(ours).size(), 1u);
  EXPECT_EQ(log_of(theirs), log_of(ours));
  const std::string weights = read_file(ours / "snapshot_epoch_1" / "model.bin");
  EXPECT_FALSE(weights.empty());
  EXPECT_EQ(read_file(theirs / "snapshot_epoch_1" / "model.bin"), weights);
}

TEST(Exercises, MultiGpuFilledTrainsAsItsSolution) { expect_same_training("", "multi_gpu", 7); }
TEST(Exercises, MultiNodeFilledTrainsAsItsSolution) { expect_same_training(mpirun(2), "multi_node", 6); }

TEST(Exercises, BlanksAreThoseOfTheTasks) {
  const auto numbers = [](const char* file) {
    std::vector<int> all;
    for (const Blank& blank : blanks_of(fs::path(ODORI_FOLDER) / file)) all.push_back(blank.number);
    return all;
  };
  EXPECT_EQ(numbers("solutions/00_single_gpu/train_cifar_single_gpu.cpp"), (std::vector<int>{}));
  EXPECT_EQ(numbers("solutions/01_multi_gpu/train_cifar_multi_gpu.cpp"), (std::vector{1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(numbers("solutions/02_multi_node/train_cifar_multi_node.cpp"), (std::vector{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(numbers("solutions/00_single_gpu/run_single_gpu_training.sh"), (std::vector<int>{}));
  EXPECT_EQ(numbers("solutions/01_multi_gpu/run_multi_gpu_training.sh"), (std::vector{8}));
  EXPECT_EQ(numbers("solutions/02_multi_node/run_multi_node_training.sh"), (std::vector{7}));
}

TEST(Exercises, AFieldOfTheirDescriptionThatNobodyReadsIsTold) {
  const Task& task = task_named("ring");
  const fs::path kit = work_folder(), file = kit / "solutions" / task.folder / "exercise.json";
  fs::create_directories(file.parent_path());
  const auto complaint = [&](const auto& change) {
    auto json = parse_json(read_file(fs::path(ODORI_FOLDER) / "solutions" / task.folder / "exercise.json"));
    change(json);
    write_file(file, json_text(json));
    try {
      points_of(task, kit);
    } catch (const Error& error) {
      return std::string(error.what()).substr(file.string().size());
    }
    return std::string("accepted");
  };
  EXPECT_EQ(complaint([](auto&) {}), "accepted");
  EXPECT_EQ(complaint([](auto& json) { json["words"] = {"midpoint"}; }),
            " should have no \"words\": what is read there is blanks, judged_alone, launch, optional, siblings, "
            "speedup, title.");
  EXPECT_EQ(complaint([](auto& json) { json["blanks"][0]["point"] = 5; }),
            " should have no \"point\": what is read there is points, title.");
  EXPECT_EQ(complaint([](auto& json) { json["blanks"][0] = "a title"; }),
            " should give the \"points\" of each blank and of the speedup, numbers from 0.");
}

}  // namespace
}  // namespace odori::grader
