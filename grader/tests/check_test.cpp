// SPDX-License-Identifier: Apache-2.0
// ./odori check as a whole: what files may look like, two checks at once, Ctrl-C in the middle.
#include <gtest/gtest.h>

#include <fstream>
#include <future>

#include "blanks/blanks.h"
#include "blanks/cutter.h"
#include "blanks/task.h"
#include "checks/checks.h"
#include "errors/error.h"
#include "errors/text.h"
#include "run_command.h"

namespace odori::grader {
namespace {

namespace fs = std::filesystem;

const fs::path work = fs::path(ODORI_WORK_FOLDER) / "check";

std::string solution(const std::string& task) {
  return read_file(fs::path(ODORI_FOLDER) / task_named(task).program.solution);
}

/// Of an exercise without one: no file.
fs::path kits_script(const std::string& task) {
  const auto& script = task_named(task).script;
  return script ? fs::path(ODORI_FOLDER) / script->solution : work / "no_script";
}

fs::path written(const std::string& name, const std::string& text) {
  fs::create_directories(work);
  std::ofstream(work / name, std::ios::binary) << text;
  return work / name;
}

std::string command(const std::string& task, const fs::path& program, const fs::path& script) {
  return fmt::format("{} check {} --no-speedup --lang en --program {} --script {} --out {}", ODORI_GRADER, task,
                     program.string(), script.string(), (work / task).string());
}

/// The command that checks this text, with the kit's own job script.
std::string command(const std::string& task, const std::string& name, const std::string& text) {
  return command(task, written(name, text), kits_script(task));
}

Ended check(const std::string& task, const std::string& name, const std::string& text) {
  return run_command(command(task, name, text));
}

TEST(Check, TheKitsOwnAnswersPass) {
  for (const Task& task : all_tasks()) {
    const Ended ended = check(task.name, task.name + ".cpp", solution(task.name));
    EXPECT_EQ(ended.code, 0) << ended.output;
    EXPECT_EQ(ended.count("PASS"), task.n_blanks()) << ended.output;
    const double of_speedup = task.measures_speedup ? points_of(task, ODORI_FOLDER).at(0) : 0;
    EXPECT_EQ(ended.count(fmt::format("{:g} of 100 points", 100 - of_speedup)), 1) << ended.output;
    if (fs::exists(fs::path(ODORI_FOLDER) / "grader/exercises" / task.folder / "side_by_side.json"))
      EXPECT_EQ(ended.count((work / task.name / "side_by_side.html").c_str()), 1) << ended.output;
    if (!exam_of(task).shows) continue;
    const std::string page = (work / task.name / "figure.html").string();
    EXPECT_EQ(ended.count(page.c_str()), 1) << ended.output;
    EXPECT_NE(read_file(page).find("</table>"), std::string::npos);
  }
}

TEST(Check, AFileForTheVerdictsThatCanNotBeWrittenIsToldBeforeAnythingIsJudged) {
  const std::string task = "multi_gpu";
  const Ended ended = run_command(command(task, "json.cpp", solution(task)) + " --json /nowhere/verdicts.json");
  EXPECT_NE(ended.code, 0);
  EXPECT_EQ(ended.count("/nowhere/verdicts.json can't be"), 1) << ended.output;
  EXPECT_EQ(ended.count("PASS"), 0) << ended.output;
}

TEST(Check, TheSelectLineIsForTheDevicesOfTheSitesNodes) {
  const std::string site = "ODORI_SITE=" + written("one_gpu.sh", "GPUS_A_NODE=1\n").string() + ' ';
  const auto with_script = [&](const std::string& task, const std::string& text) {
    const std::string empty = cut(solution(task), "empty.cpp");
    return run_command(site + command(task, written("empty.cpp", empty), written("script.sh", text)));
  };
  const std::string two = read_file(kits_script("multi_node"));
  EXPECT_EQ(with_script("multi_node", replaced(two, "mpiprocs=2", "mpiprocs=1")).count("PASS"), 1);
  EXPECT_EQ(with_script("multi_node", two).count("two nodes with 1 process each"), 1);
  const Ended first = with_script("multi_gpu", read_file(kits_script("multi_gpu")));
  EXPECT_EQ(first.count("PASS"), 1) << first.output;
  EXPECT_EQ(first.count("its log shows no speedup"), 1) << first.output;
  EXPECT_EQ(first.count("./odori hint multi_gpu 8"), 0) << first.output;
}

TEST(Check, OneFilledBlankEarnsItsPointsAndNoMore) {
  for (const char* name : {"multi_gpu", "multi_node", "ring"}) {
    const Task& task = task_named(name);
    const std::string answer = solution(task.name);
    const fs::path empty_script =
        task.script ? written("empty.sh", cut(read_file(kits_script(task.name)), "empty.sh")) : kits_script(task.name);
    const auto empty = split_lines(cut(answer, "empty.cpp"));
    const auto points = points_of(task, ODORI_FOLDER);
    const auto places = parse_blanks(empty, "empty.cpp");
    const auto answers = parse_blanks(split_lines(answer), "answer.cpp");
    const Blank& blank = answers.front();  // of the others, the corpus says so
    const auto lines = with_text(empty, places.at(static_cast<std::size_t>(blank.number) - 1), blank.text);
    const Ended filled = run_command(command(task.name, written("one_blank.cpp", join_lines(lines)), empty_script));
    EXPECT_EQ(filled.count("PASS"), 1) << filled.output;
    EXPECT_EQ(filled.count("UNFILLED"), task.n_blanks() - 1) << filled.output;
    EXPECT_EQ(filled.count(fmt::format("\n{:g} of 100 points", points.at(blank.number))), 1) << filled.output;
    if (!task.script) continue;
    const Ended ended =
        run_command(command(task.name, written("empty.cpp", join_lines(empty)), kits_script(task.name)));
    EXPECT_EQ(ended.count("PASS"), 1) << ended.output;
    EXPECT_EQ(ended.count(fmt::format("\n{:g} of 100 points", points.at(task.n_blanks()))), 1) << ended.output;
  }
}

/// Their messages are of runs that the learner's own program wouldn't show.
TEST(Check, WhereSeveralAreWrongItSaysThatEachWasTriedByItself) {
  const std::string evaluated_elsewhere =
      replaced(solution("multi_gpu"), "evaluation_device_id = main_device_id", "evaluation_device_id = 1");
  const Ended one = check("multi_gpu", "one_wrong.cpp", evaluated_elsewhere);
  EXPECT_EQ(one.count("tried by itself"), 0) << one.output;
  const Ended two = check("multi_gpu", "two_wrong.cpp", replaced(evaluated_elsewhere, "{{\"main\"", "{{\"first\""));
  EXPECT_EQ(two.count("WRONG"), 2) << two.output;
  EXPECT_EQ(two.count("tried by itself"), 1) << two.output;
}

TEST(Check, NeighboursWithOneMistakeAreEachToldOfIt) {
  const std::string in_order = replaced(solution("multi_node"), ".shuffle = true", ".shuffle = false");
  const Ended both = check("multi_node", "in_order.cpp", in_order);
  EXPECT_EQ(both.count("WRONG"), 2) << both.output;
  EXPECT_EQ(both.count("was not shuffled"), 2) << both.output;
}

TEST(Check, LineEndsTabsAndByteOrderMarkMakeNoDifference) {
  const std::string text = "\xEF\xBB\xBF" + replaced(replaced(solution("multi_gpu"), "\n", "\r\n"), "  ", "\t");
  const Ended ended = check("multi_gpu", "windows.cpp", text);
  EXPECT_EQ(ended.code, 0) << ended.output;
  EXPECT_EQ(ended.count("Left out"), 0) << ended.output;
}

TEST(Check, FilesThatHoldNoAnswersAreToldOnce) {
  for (const auto& [text, words] : {std::pair<std::string, const char*>{"", "is empty"},
                                    {std::string("\0\1\2", 3), "is not UTF-8 text"},
                                    {std::string(1'000'000, 'x'), "is larger than"},
                                    {"int main() {}\n", "has none of the lines"}}) {
    const Ended ended = check("multi_gpu", "none.cpp", text);
    EXPECT_EQ(ended.code, 12) << ended.output;
    EXPECT_EQ(ended.count(words), 1) << ended.output;
  }
  const Ended folder = run_command(fmt::format("{} check multi_gpu --program {}", ODORI_GRADER, work.string()));
  EXPECT_EQ(folder.code, 20) << folder.output;
  EXPECT_EQ(run_command(fmt::format("{} check two_gpus", ODORI_GRADER)).code, 2);
}

TEST(Check, WhatIsChangedElsewhereIsLeftOut) {
  const Ended ended =
      check("multi_gpu", "more.cpp", replaced(solution("multi_gpu"), "  trainer.run();", "  // trainer.run();"));
  EXPECT_EQ(ended.code, 0) << ended.output;
  EXPECT_EQ(ended.count("trainer.run();"), 1) << ended.output;
}

TEST(Check, TwoAtOnceDoNotDisturbEachOther) {
  const std::string text = solution("multi_gpu") + "// two at once\n";
  auto other = std::async(std::launch::async, [&] { return check("multi_gpu", "one.cpp", text); });
  const Ended one = check("multi_gpu", "other.cpp", text);
  EXPECT_EQ(one.code, 0) << one.output;
  const Ended two = other.get();
  EXPECT_EQ(two.code, 0) << two.output;
}

TEST(Check, CtrlCEndsItWithAllThatItStarted) {
  const std::string last = "  std::unique_ptr<Evaluator> multi_node_evaluator",
                    endless = replaced(solution("multi_node"), last, "  while (comm->rank() >= 0) {\n  }\n" + last);
  const fs::path scratch = work / "scratch";
  fs::remove_all(scratch);
  fs::create_directories(scratch);
  // As soon as a rank has begun; its folder lies in the check's scratch folder.
  const Ended ended = run_command(fmt::format(
      "export TMPDIR={0}; {1} & check=$!; until ls {0}/odori_check_*/run_*/evidence/* 2>/dev/null; do sleep 0.05; "
      "done; "
      "kill -INT $check; wait $check; echo code $?; sleep 0.2; pgrep -f {0}/odori_check_.{{6}}/ | wc -l; ls -d "
      "{0}/odori_check_* 2>/dev/null | wc -l",
      scratch.string(), command("multi_node", "endless.cpp", endless)));
  EXPECT_EQ(ended.count("code 130\n"), 1) << ended.output;
  EXPECT_TRUE(ended.output.ends_with("\n0\n0\n")) << ended.output;
}

}  // namespace
}  // namespace odori::grader
