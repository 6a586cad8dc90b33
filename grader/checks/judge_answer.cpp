// SPDX-License-Identifier: Apache-2.0
#include "checks/judge_answer.h"

#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <deque>
#include <future>
#include <regex>

#include "blanks/cutter.h"
#include "blanks/select_line.h"
#include "checks/judge.h"
#include "errors/text.h"
#include "files/file.h"
#include "runner/run.h"
#include "runner/site.h"

namespace odori::grader {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_of_command = 60;  // characters of it that are shown

std::string read_kits(const fs::path& path) {
  std::string text = read_file(path);
  if (text.empty()) throw EnvironmentFault({"kit_incomplete", {{"file", path.string()}}});
  return text;
}

/// How a blank is not filled in: as the exercise has it, empty, or with one placeholder left in an answer.
Finding unfilled(const Blank& blank, Language language) {
  if (is_as_given(blank)) return {"unfilled_as_given", {}};
  if (!is_unfilled(blank, language)) return {"unfilled_empty", {{"line", std::to_string(blank.text_line)}}};
  std::optional<int> first;
  int lines_of_code = 0;
  Blank line = blank;
  for (std::size_t i = 0; i < blank.text.size(); ++i) {
    line.text = {blank.text[i]};
    if (!is_left_empty(line, language))
      ++lines_of_code;
    else if (!first && is_unfilled(line, language))
      first = blank.text_line + static_cast<int>(i);
  }
  constexpr int of_the_exercise = 1;  // "const auto train =" may be before the placeholder's line
  return {lines_of_code > of_the_exercise ? "unfilled_in_part" : "unfilled",
          {{"line", std::to_string(first.value_or(blank.text_line))}}};
}

/// What the file alone tells of a blank; nothing if its text has to be looked at.
std::optional<Outcome> outcome_of_file(const Submission& submission, int blank) {
  const auto unreadable = submission.unreadable.find(blank);
  if (unreadable != submission.unreadable.end())
    return Outcome{unreadable->second.key == "file_missing" ? Verdict::missing : Verdict::compile, unreadable->second};
  const Blank& place = submission.blanks.at(blank);
  for (std::size_t i = 0; i < place.text.size(); ++i)
    if (place.text[i].starts_with("<<<<<<< ") || place.text[i].starts_with(">>>>>>> "))
      return Outcome{Verdict::compile,
                     Finding{"merge_conflict", {{"line", std::to_string(place.text_line + static_cast<int>(i))}}}};
  const Language language = language_of(submission.path.string());
  if (is_left_empty(place, language)) return Outcome{Verdict::unfilled, unfilled(place, language)};
  return {};
}

/// What the text of a program's blank alone shows; nothing if it has to be built.
std::optional<Outcome> outcome_of_text(const Answers& answers, int blank) {
  if (auto outcome = outcome_of_file(answers.program, blank)) return outcome;
  const auto identifiers = answers.identifiers.find(blank);
  if (identifiers == answers.identifiers.end() || !identifiers->second.forbidden) return {};
  // A bracket too many is a slip more often than a trick, and one that the compiler would have told.
  const Finding& forbidden = *identifiers->second.forbidden;
  return Outcome{is_slip(forbidden) || forbidden.key == "forbidden_bracket" ? Verdict::compile : Verdict::wrong,
                 forbidden};
}

Outcome outcome_of_script(const Question& question, const Submission& script) {
  const int blank = question.task.n_blanks();
  if (auto outcome = outcome_of_file(script, blank)) return *outcome;
  const fs::path kits = question.kit / question.task.script->solution;
  const std::vector<std::string> lines = split_lines(read_kits(kits));
  const auto filled = with_text(lines, parse_blanks(lines, kits.string()).at(0), script.blanks.at(blank).text);
  try {
    const int devices = devices_of(question.task, question.kit);
    if (auto finding = find_in_job_script(question.task, devices, filled)) return {Verdict::wrong, std::move(finding)};
    if (devices == 1 && !question.task.under_mpi) return {Verdict::pass, Finding{"one_device_shows_no_speedup", {}}};
    return {};
  } catch (const EnvironmentFault& fault) {
    return {Verdict::environment, fault.finding()};
  }
}

/// Where builds are kept: the build folder; or a temporary folder of this user alone if that is read-only, and for
/// somebody else's answer: each marking has its own, so that no student gets what another one's answer has built.
fs::path outputs_of(const Question& question) {
  fs::path folder = question.build / "grader" / question.task.name;
  std::error_code error;
  if (!question.apart) fs::create_directories(folder, error);
  if (!question.apart && !error && access(folder.c_str(), W_OK) == 0) return folder;
  const fs::path own = fs::temp_directory_path(error) / fmt::format("odori-{}", geteuid());
  mkdir(own.c_str(), 0700);
  if (!is_own_folder(own))
    throw EnvironmentFault(
        {"no_scratch", {{"folder", own.string()}, {"reason", "it can't be made, or isn't yours alone"}}});
  folder = own / question.task.name;
  fs::create_directories(folder, error);
  if (error) throw EnvironmentFault({"no_scratch", {{"folder", folder.string()}, {"reason", error.message()}}});
  return folder;
}

/// What a program with BuildOptions::pointer_checks prints of a crash: the note "null_pointer" with the answer's line
/// and the pointer's type, or "null_pointer_used" if the kit's program or a header used it; nothing if there is none.
std::optional<Finding> null_pointer_in(const std::string& output, const Submission& answer) {
  // "blank_3:2:10: runtime error: member call on null pointer of type 'const struct Dataset'"
  static const std::regex said(
      "(blank_([0-9]{1,3})|[^:\\n]+):([0-9]{1,6}):[0-9]+: runtime error: .* null pointer of type '([^']*)'");
  std::smatch match;
  if (!std::regex_search(output, match, said)) return {};
  std::string type = match[4];
  for (const char* word : {"const ", "struct ", "class ", "odori::"}) type = replaced(std::move(type), word, "");
  if (!match[2].matched) return Finding{"null_pointer_used", {{"type", type}}};
  const auto blank = answer.blanks.find(std::stoi(match[2]));
  const int in_text = std::stoi(match[3]);
  if (blank == answer.blanks.end() || in_text > static_cast<int>(blank->second.text.size())) return {};
  const std::string code(trim(blank->second.text[static_cast<std::size_t>(in_text) - 1]));
  return Finding{"null_pointer",
                 {{"type", type}, {"line", std::to_string(blank->second.text_line + in_text - 1)}, {"code", code}}};
}

class ProgramRuns : public Runs {
 public:
  ProgramRuns(const Runner& runner, fs::path program, Turns& turns)
      : runner_(runner), program_(std::move(program)), turns_(turns) {}
  ~ProgramRuns() override { cancel(); }

  void prepare(const std::vector<RunPlan>& plans) override {
    for (const RunPlan& plan : plans)
      if (!runs_.contains(plan))
        runs_[plan] =
            turns_.start([this, plan] { return cancelled_ ? Evidence{} : runner_.run(program_, plan, cancelled_); });
  }
  void cancel() override { cancelled_ = true; }
  /// Throws EnvironmentFault, and Error on Ctrl-C.
  const Evidence& of(const RunPlan& plan) override {
    prepare({plan});
    return runs_.at(plan).get();
  }
  const RunData& data() const override { return runner_.data(); }

 private:
  const Runner& runner_;
  const fs::path program_;
  Turns& turns_;
  std::atomic<bool> cancelled_ = false;
  std::map<RunPlan, std::shared_future<Evidence>> runs_;
};

/// The programs of an answer, built and run.
class BuiltPrograms : public AnswerPrograms {
 public:
  BuiltPrograms(const Question& question, const Answers& answers, const std::set<int>& filled)
      : in_background_(!question.apart),
        answer_(answers.program),
        runner_(question.task, question.build / "bin" / "solutions" / question.task.program.solution.stem(),
                question.seed, question.sandbox),
        compiler_(question.build, outputs_of(question), question.sandbox,
                  question.kit / "exercises" / question.task.folder / "support"),
        programs_(compiler_, answers.around, answer_, filled) {}

  /// Of a class, the other cores have other answers to judge.
  void prepare(const std::vector<std::set<int>>& sets) override {
    if (in_background_) programs_.prepare(sets);
  }
  void drop_prepared() override { programs_.drop_prepared(); }
  BlankBuild alone(int blank) override { return programs_.alone(blank); }
  std::set<int> together() override { return programs_.together(); }
  Runs* runs_of(const std::set<int>& blanks) override {
    const fs::path& program = programs_.of(blanks).program;
    return program.empty() ? nullptr : &runs_.emplace_back(runner_, program, turns_);
  }
  std::optional<Finding> find_null_pointer(const std::set<int>& blanks, const RunPlan& plan) override {
    const fs::path program = programs_.with_pointer_checks(blanks);
    if (program.empty()) return {};
    return null_pointer_in(runner_.run(program, plan, false).detail, answer_);
  }
  const fs::path& program_of(const std::set<int>& blanks) { return programs_.of(blanks).program; }

 private:
  bool in_background_;
  const Submission& answer_;
  Runner runner_;
  Compiler compiler_;
  Programs programs_;
  Turns turns_;
  std::deque<ProgramRuns> runs_;
};

}  // namespace

Answers read_answers(const Question& question) {
  const Task& task = question.task;
  const fs::path solution = question.kit / task.program.solution;
  const std::string kits = read_kits(solution), exercise = cut(kits, solution.string());
  Answers answers{.program = read_submission(question.program, exercise),
                  .script = {},
                  .points_of = points_of(task, question.kit),
                  .around = kits};
  if (task.script) {
    const fs::path script = question.kit / task.script->solution;
    answers.script = read_submission(question.script, cut(read_kits(script), script.string()));
  }
  for (const auto& [number, blank] : answers.program.blanks)
    if (!outcome_of_file(answers.program, number)) answers.identifiers[number] = look_at_identifiers(blank);
  // A select line is all that the job script's blank asks for: commands are unusual.
  if (const int blank = task.n_blanks(); task.script && !outcome_of_file(answers.script, blank))
    for (const std::string& command : read_pbs_directives(answers.script.blanks.at(blank).text).commands)
      answers.identifiers[blank].unusual.push_back(bounded(std::string(trim(command)), most_of_command));
  return answers;
}

std::vector<BlankVerdict> verdicts_of_files(const Question& question, const Answers& answers) {
  std::vector<BlankVerdict> verdicts;
  const auto add = [&](int blank, const std::optional<Outcome>& outcome) {
    if (outcome && outcome->verdict != Verdict::pass)
      verdicts.push_back({blank, outcome->verdict, outcome->finding, 0, answers.points_of.at(blank)});
  };
  for (int blank = 1; blank <= question.task.n_program_blanks(); ++blank) add(blank, outcome_of_text(answers, blank));
  if (question.task.script) add(question.task.n_blanks(), outcome_of_script(question, answers.script));
  return verdicts;
}

std::optional<RightAnswer> judge_answer(const Question& question, const Answers& answers, const Exam& exam,
                                        const std::function<void(const BlankVerdict&)>& tell) {
  std::map<int, BlankVerdict> known;
  int next = 1;
  bool all_right = true;
  const auto know = [&](int blank, const Outcome& outcome) {
    const double points = answers.points_of.at(blank);
    const bool right = outcome.verdict == Verdict::pass;
    known[blank] = {blank, outcome.verdict, outcome.finding, right ? points : 0, points};
    all_right &= right;
    for (; known.contains(next); ++next) tell(known.at(next));
  };
  std::set<int> filled;
  for (int blank = 1; blank <= question.task.n_program_blanks(); ++blank)
    if (const auto outcome = outcome_of_text(answers, blank))
      know(blank, *outcome);
    else
      filled.insert(blank);
  std::optional<RightAnswer> right;
  try {
    if (!filled.empty()) {
      BuiltPrograms programs(question, answers, filled);
      if (Runs* const whole = judge(filled, question.task.judged_alone, programs, exam, know)) {
        right = RightAnswer{programs.program_of(filled), {}, {}};
        if (exam.shows && !question.apart) right->shown = exam.shows(*whole);
        if (exam.simulates && !question.apart) right->simulated = exam.simulates(*whole);
      }
    }
  } catch (const EnvironmentFault& fault) {
    for (const int blank : filled)
      if (!known.contains(blank)) know(blank, {Verdict::environment, fault.finding()});
  }
  if (question.task.script) know(question.task.n_blanks(), outcome_of_script(question, answers.script));
  return all_right ? right : std::nullopt;
}

}  // namespace odori::grader
