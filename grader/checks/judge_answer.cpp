#include "checks/judge_answer.h"

#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <set>

#include "checks/judge.h"
#include "checks/program_runs.h"
#include "exercise/cutter.h"
#include "exercise/empty_pointers.h"
#include "exercise/lexer.h"
#include "exercise/pbs_directives.h"
#include "exercise/select_line.h"
#include "files/file.h"
#include "threads/cores.h"
#include "worker/programs.h"
#include "worker/site.h"

namespace odori::grader {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_of_command = 60;  // characters of it that are shown

std::string read_kits(const fs::path& path) {
  std::string text = read_file(path);
  if (text.empty()) throw EnvironmentFault({"kit_incomplete", {{"file", path.string()}}});
  return text;
}

/// Where what is built is kept: in the build folder; or in a temporary one, of this user alone, where that can't be
/// written, and for somebody else's answer: each marking has its own (batch/marking), so that no student gets what
/// another one's answer has built.
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

/// Tells verdicts in the blanks' order, whatever the order in which they become known.
class InOrder {
 public:
  InOrder(const Question& question, const Answers& answers, const std::function<void(const BlankVerdict&)>& tell)
      : question_(question), answers_(answers), tell_(tell) {}

  void know(int blank, const Outcome& outcome) {
    BlankVerdict& verdict = known_[blank];
    const double points = answers_.points_of.at(blank);
    verdict = {blank, outcome.verdict, outcome.finding, outcome.verdict == Verdict::pass ? points : 0, points};
    all_right_ &= outcome.verdict == Verdict::pass;
    for (; known_.contains(next_); ++next_) tell_(known_.at(next_));
  }
  /// All program blanks that nothing is known about yet.
  void know_all(const Outcome& outcome) {
    for (int blank = 1; blank <= question_.task.n_program_blanks(); ++blank)
      if (!known_.contains(blank)) know(blank, outcome);
  }
  bool all_right() const { return all_right_; }

 private:
  const Question& question_;
  const Answers& answers_;
  const std::function<void(const BlankVerdict&)>& tell_;
  std::map<int, BlankVerdict> known_;
  int next_ = 1;
  bool all_right_ = true;
};

/// What the file alone tells of a blank; nothing if its text has to be looked at.
std::optional<Outcome> outcome_of_file(const Submission& submission, int blank) {
  const auto unreadable = submission.unreadable.find(blank);
  if (unreadable != submission.unreadable.end()) return Outcome{Verdict::compile, unreadable->second};
  const Blank& place = submission.blanks.at(blank);
  for (std::size_t i = 0; i < place.text.size(); ++i)
    if (place.text[i].starts_with("<<<<<<< ") || place.text[i].starts_with(">>>>>>> "))
      return Outcome{Verdict::compile,
                     Finding{"merge_conflict", {{"line", std::to_string(place.text_line + static_cast<int>(i))}}}};
  if (is_left_empty(place, language_of(submission.path.string())))
    return Outcome{Verdict::unfilled, Finding{"unfilled", {{"line", std::to_string(place.text_line)}}}};
  return {};
}

/// Likewise for the program's blanks, which are built and run unless their text forbids it.
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

/// Of the program's blanks.
std::map<int, BlankIdentifiers> identifiers_of(const Question& question, const Submission& program,
                                               const std::string& exercise, const std::string& solution) {
  const KitIdentifiers kits = identifiers_of_kit(question.kit, exercise, solution);
  std::vector<Blank> filled;
  for (const auto& [number, blank] : program.blanks)
    if (!outcome_of_file(program, number)) filled.push_back(blank);
  std::map<int, BlankIdentifiers> identifiers;
  for (const Blank& blank : filled)
    identifiers[blank.number] = look_at_identifiers(blank, kits, filled, question.task.identifiers);
  return identifiers;
}

/// The commands in the job script's blank: a select line is all that is asked for.
BlankIdentifiers commands_in(const Blank& blank) {
  BlankIdentifiers found;
  for (const std::string& command : read_pbs_directives(blank.text).commands)
    found.unusual.push_back(bounded(std::string(trim(command)), most_of_command));
  return found;
}

/// With the answer's pointers that may be meant, if its crash was one of a pointer.
Outcome with_empty_pointers(Outcome outcome, const std::vector<std::string>& text) {
  if (!outcome.finding || outcome.finding->key != "crash_pointer") return outcome;
  const std::set<std::string> empty = empty_pointers_in(text);
  if (empty.empty() || !outcome.finding->values.try_emplace("note", "empty_pointers").second) return outcome;
  outcome.finding->values["empty"] = fmt::format("`{}`", fmt::join(empty, "`, `"));
  return outcome;
}

/// Builds the filled blanks, runs and judges them. Returns the answer if all that is filled is right.
std::optional<RightAnswer> judge_program(const Question& question, const Answers& answers, const Exam& exam,
                                         const std::set<int>& filled, InOrder& verdicts) {
  const fs::path kits = question.build / "bin" / "solutions" / question.task.program.solution.stem();
  const Runner runner(question.task, kits, question.seed, question.sandbox);
  const Compiler compiler(question.build, outputs_of(question), question.sandbox);
  Programs programs(compiler, answers.around, answers.program, filled);
  Cores cores(usable_cores());
  std::deque<ProgramRuns> all_runs;
  const auto runs_of = [&](const std::set<int>& blanks) -> Runs* {  // none of it was run before
    const Built& built = programs.of(blanks);
    return built.program.empty() ? nullptr : &all_runs.emplace_back(runner, built.program, cores);
  };

  // Where all is right, the whole shows it, and most blanks are not needed alone. Those are built meanwhile, for the
  // learner who waits; of a class, the other cores have other answers to judge.
  if (!question.apart)
    for (const int blank : filled) programs.prepare({{blank}});
  const bool can_be_whole = filled.size() > 1 && std::ranges::all_of(filled, [&](int blank) {
                              return is_self_contained(answers.program.blanks.at(blank).text);
                            });
  std::set<int> whole = filled, left = filled;  // `left`: to be judged alone
  Judged judged{.whole = can_be_whole ? runs_of(filled) : nullptr};
  const bool whole_is_right = judged.whole && is_right(*judged.whole, exam);
  Runs* const shown = judged.whole;
  if (whole_is_right) {
    std::erase_if(left, [&](int blank) { return !question.task.judged_alone.contains(blank); });
    for (const int blank : filled)
      if (!left.contains(blank)) verdicts.know(blank, {});
    judged.whole = nullptr;
  } else if (filled.size() > 1) {
    if (judged.whole) judged.whole->cancel();
    whole = programs.together();
    if (whole != filled || !judged.whole) judged.whole = whole.empty() ? nullptr : runs_of(whole);
  }
  for (const int blank : left) {
    const BlankBuild& alone = programs.alone(blank);
    if (alone.failure) {
      verdicts.know(blank, {Verdict::compile, alone.failure});
    } else if (alone.needs != 0) {
      const Finding why{"needs_other_blank", {{"other", std::to_string(alone.needs)}}};
      verdicts.know(blank, {Verdict::not_checked, why});
    } else {
      judged.variants[blank] = runs_of(alone.blanks);
      judged.holds[blank] = alone.blanks;
    }
  }
  judged.build = [&](const std::vector<std::set<int>>& sets) {
    programs.prepare(sets);
    std::vector<Runs*> runs;
    for (const auto& set : sets)
      if (Runs* const its = runs_of(set)) runs.push_back(its);
    return runs.size() == sets.size() ? runs : std::vector<Runs*>();
  };
  judge(judged, exam, [&](int blank, const Outcome& outcome) {
    verdicts.know(blank, with_empty_pointers(outcome, answers.program.blanks.at(blank).text));
  });
  if (whole.empty() || !verdicts.all_right()) return {};
  RightAnswer right{programs.of(whole).program, {}};
  if (exam.shows && !question.apart) right.shown = exam.shows(*(whole_is_right ? shown : runs_of(whole)));
  return right;
}

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
  answers.identifiers = identifiers_of(question, answers.program, exercise, kits);
  if (task.script && !outcome_of_file(answers.script, task.n_blanks()))
    answers.identifiers[task.n_blanks()] = commands_in(answers.script.blanks.at(task.n_blanks()));
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
  InOrder verdicts(question, answers, tell);
  std::set<int> filled;
  for (int blank = 1; blank <= question.task.n_program_blanks(); ++blank)
    if (const auto outcome = outcome_of_text(answers, blank))
      verdicts.know(blank, *outcome);
    else
      filled.insert(blank);
  std::optional<RightAnswer> right;
  try {
    if (!filled.empty()) right = judge_program(question, answers, exam, filled, verdicts);
  } catch (const EnvironmentFault& fault) {
    verdicts.know_all({Verdict::environment, fault.finding()});
  }
  if (question.task.script) verdicts.know(question.task.n_blanks(), outcome_of_script(question, answers.script));
  return verdicts.all_right() ? right : std::nullopt;
}

}  // namespace odori::grader
