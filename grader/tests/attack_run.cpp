// SPDX-License-Identifier: Apache-2.0
// Runs each attack once with its walls down: what succeeds in no case proves nothing.
//
//   attack_run [--all] [WORDS]
//
// --all: slow ones too. WORDS: only attacks whose title holds them.
//
// The grader has no switch for its walls. This program plays a grader that lacks them. Exit code 1 if an attack did not
// succeed. With the walls up the attacks are marked by ./odori grade --self-test.
#include <archive.h>
#include <archive_entry.h>
#include <fmt/ranges.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <future>
#include <optional>
#include <random>

#include "blanks/blanks.h"
#include "checks/judge_answer.h"
#include "classroom/self_test/arena.h"
#include "classroom/self_test/handed_in.h"
#include "errors/error.h"
#include "program/process.h"
#include "program/program.h"
#include "runner/run.h"
#include "runner/sandbox.h"
#include "threads/cores.h"

using namespace odori;
using namespace odori::grader;
namespace fs = std::filesystem;

namespace {

const fs::path kit = ODORI_FOLDER, build_folder = ODORI_BUILD_FOLDER;

/// Of a grader that believes what the evidence says, or else every program that ends well.
Exam exam_without(const Task& task, bool believes_evidence) {
  Exam exam = exam_of(task);
  exam.situations.resize(1);
  if (believes_evidence) {
    const std::vector<std::string> recomputing{"WeightsAreTheGraders", "EvaluationIsTheGraders", "RanksTrainOneModel",
                                               "EveryRankReportsTheWholeTestSet", "EpochsGoThroughAllImages"};
    std::erase_if(exam.checks,
                  [&](const Check& check) { return std::ranges::find(recomputing, check.name) != recomputing.end(); });
  } else {
    exam.checks = {{0, "EndsWell", [](const Situation& situation) {
                      situation.evidence();
                      return std::optional<Finding>();
                    }}};
  }
  return exam;
}

/// Unpacks as a grader would that trusts names and links.
void unpack(const fs::path& path, const fs::path& into) {
  const pid_t child = fork();
  if (child == 0) {
    archive* const in = archive_read_new();
    archive_read_support_format_all(in);
    if (chdir(into.c_str()) != 0 || archive_read_open_filename(in, path.c_str(), 1 << 16) != ARCHIVE_OK) _exit(1);
    for (archive_entry* entry = nullptr; archive_read_next_header(in, &entry) == ARCHIVE_OK;)
      archive_read_extract(in, entry, 0);
    _exit(0);
  }
  require(child > 0 && waitpid(child, nullptr, 0) == child, "{} can't be unpacked.", path.string());
}

/// One attack, and a grader without its walls.
class Undefended {
 public:
  explicit Undefended(const AnswerEntry& attack) : attack_(attack), task_(task_named(attack.task)) {
    if (!lacks("sandbox")) sandbox_.emplace(std::vector<fs::path>{kit, build_folder});
  }

  /// Returns true if the attack succeeds. Prints what it got.
  bool run() {
    write_handed_in(kit, attack_, folder_);
    std::vector<BlankVerdict> verdicts;
    if (lacks("scripts")) {
      // The blank alone: what is around it asks for a cluster.
      const std::string commands = join_lines(attack_.blanks.at(task_.n_blanks()));
      run_process({.arguments = {"bash", "-c", commands}, .folder = folder_});
    } else {
      verdicts = check();
    }
    for (const BlankVerdict& verdict : verdicts)
      if (verdict.verdict != Verdict::unfilled)
        fmt::print("   {} {} {}\n", verdict.blank, name_of(verdict.verdict),
                   verdict.finding ? verdict.finding->key + " " + fmt::format("{}", verdict.finding->values) : "");
    if (const std::string leaves = attack_.fact("leaves"); !leaves.empty()) return is_left(leaves);
    if (const std::string shows = attack_.fact("shows"); !shows.empty())
      return page_of(verdicts).find(shows) != std::string::npos;
    return !attack_.expected.empty() && std::ranges::all_of(attack_.expected, [&](const auto& each) {
      const auto seen = std::ranges::find(verdicts, each.first, &BlankVerdict::blank);
      return seen != verdicts.end() && seen->verdict == Verdict::pass;
    });
  }

 private:
  bool lacks(const char* wall) const { return attack_.fact("wall").find(wall) != std::string::npos; }

  std::string outside() const {
    const auto text = attack_.texts.find("outside");
    return text == attack_.texts.end() ? "" : join_lines(text->second);
  }

  /// The file of this name that was handed in, wherever it is found.
  fs::path handed_in(const fs::path& file) const {
    if (lacks("intake"))
      for (const auto& entry : fs::directory_iterator(folder_))
        if (const auto ending = entry.path().extension(); ending == ".zip" || ending == ".tar")
          unpack(entry.path(), folder_);
    return folder_ / file.filename();
  }

  std::vector<BlankVerdict> check() {
    const Question question{.task = task_,
                            .kit = kit,
                            .build = build_folder,
                            .program = handed_in(task_.program.exercise),
                            .script = folder_ / task_.script.value_or(task_.program).exercise.filename(),
                            .seed = std::random_device()() % 1'000'000,
                            .sandbox = sandbox_ ? &*sandbox_ : nullptr,
                            .apart = true};
    Answers answers = read_answers(question);
    if (lacks("words")) answers.identifiers.clear();
    if (lacks("blanks")) answers.around.insert(answers.around.find("int main("), outside());
    Exam exam = exam_of(task_);
    if (lacks("evidence") || lacks("recomputation")) exam = exam_without(task_, !lacks("evidence"));
    std::vector<BlankVerdict> verdicts;
    judge_answer(question, answers, exam, [&](const BlankVerdict& verdict) { verdicts.push_back(verdict); });
    return verdicts;
  }

  /// A page that holds texts as they come.
  std::string page_of(const std::vector<BlankVerdict>& verdicts) const {
    std::string page = outside() + attack_.fact("student");
    for (const BlankVerdict& verdict : verdicts)
      if (verdict.finding)
        for (const auto& [name, value] : verdict.finding->values) page += value + '\n';
    return page;
  }

  const AnswerEntry& attack_;
  const Task& task_;
  std::optional<Sandbox> sandbox_;
  const ScratchFolder scratch_;
  const fs::path folder_ = scratch_.path() / "handed_in";
};

/// Runs the attack in a process of its own: GoogleTest runs one exam at a time. Returns what it said, and its code.
Ended run_apart(const std::string& number) {
  return run_process({.arguments = {fs::read_symlink("/proc/self/exe"), "--undefended", number}},
                     {.time = std::chrono::minutes(10)});
}

}  // namespace

int main(int argc, char** argv) try {
  catch_interrupts();
  std::vector<std::string> words(argv + 1, argv + argc);
  const std::vector<AnswerEntry> attacks = read_attacks(kit);
  if (words.size() == 2 && words[0] == "--undefended")
    return Undefended(attacks.at(std::stoul(words[1]))).run() ? 0 : 1;
  const bool all = std::erase(words, "--all") > 0;
  const std::string wanted = fmt::format("{}", fmt::join(words, " "));
  std::vector<std::size_t> chosen;
  for (std::size_t i = 0; i < attacks.size(); ++i)
    if ((all || !attacks[i].facts.contains("slow")) && attacks[i].title().find(wanted) != std::string::npos &&
        attacks[i].facts.contains("wall"))
      chosen.push_back(i);
  require(!chosen.empty(), "No attack's title holds \"{}\".", wanted);
  const Arena arena;
  std::atomic<std::size_t> next = 0;
  std::atomic<int> n_failed = 0;
  std::vector<std::future<void>> workers;
  for (int i = 0; i < usable_cores(); ++i)
    workers.push_back(std::async(std::launch::async, [&] {
      for (std::size_t at; (at = next++) < chosen.size() && !interrupted();) {
        const AnswerEntry& attack = attacks[chosen[at]];
        const Ended ended = run_apart(std::to_string(chosen[at]));
        if (attack.facts.contains("leaves")) remove_left(attack.fact("leaves"));
        const bool succeeded = ended.code == 0;
        fmt::print("{}  {}  [{}] {:.1f} s\n{}", succeeded ? "succeeds" : "FAILS", attack.title(), attack.fact("wall"),
                   ended.seconds, succeeded ? "" : ended.output);
        std::fflush(stdout);
        if (!succeeded) ++n_failed;
      }
    }));
  for (auto& worker : workers) worker.get();
  fmt::print("{} attacks without their walls: {}\n", chosen.size(),
             n_failed == 0 ? "each succeeds" : fmt::format("{} did not succeed", n_failed.load()));
  return n_failed == 0 ? 0 : 1;
} catch (...) {
  return report_failure();
}
