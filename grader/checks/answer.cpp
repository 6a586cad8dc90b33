#include "checks/answer.h"

#include "blanks/cutter.h"
#include "blanks/pbs_directives.h"
#include "blanks/select_line.h"
#include "files/file.h"
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

/// Of the program's blanks.
std::map<int, BlankIdentifiers> identifiers_of(const Submission& program) {
  std::map<int, BlankIdentifiers> identifiers;
  for (const auto& [number, blank] : program.blanks)
    if (!outcome_of_file(program, number)) identifiers[number] = look_at_identifiers(blank);
  return identifiers;
}

/// The commands in the job script's blank: a select line is all that is asked for.
BlankIdentifiers commands_in(const Blank& blank) {
  BlankIdentifiers found;
  for (const std::string& command : read_pbs_directives(blank.text).commands)
    found.unusual.push_back(bounded(std::string(trim(command)), most_of_command));
  return found;
}

}  // namespace

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
  answers.identifiers = identifiers_of(answers.program);
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

}  // namespace odori::grader
