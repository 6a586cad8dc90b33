#include "classroom/grade.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "classroom/class_screen.h"
#include "classroom/marking/batch.h"
#include "classroom/marking/content.h"
#include "classroom/marking/refusal.h"
#include "classroom/regrade_class.h"
#include "classroom/reports.h"
#include "errors/nearest.h"
#include "program/program.h"
#include "report/machine.h"
#include "runner/sandbox.h"
#include "threads/cores.h"

namespace odori::grader {
namespace {

namespace fs = std::filesystem;

constexpr int some_ungraded = 20;
constexpr std::ptrdiff_t most_names = 5;  // offered instead of a missing one

/// Prints and reports what run_batch tells.
class Listener : public Audience {
 public:
  Listener(ClassScreen& screen, Reports& reports) : screen_(screen), reports_(reports) {}

  void record(const TaskRecord& record, const std::optional<TaskRecord>& before, const Progress& progress) override {
    screen_.record(record, marks_of(record, reports_.course()), before ? mark_of(*before) : "", progress);
    reports_.take(record);
  }
  void progress(const Progress& progress) override {
    screen_.progress(progress);
    reports_.write_now_and_then();
  }

 private:
  /// "60/80", or "absent".
  std::string mark_of(const TaskRecord& record) const {
    const TaskMarks marks = marks_of(record, reports_.course());
    return record.state == RecordState::marked ? number(*marks.points) + '/' + number(marks.of) : name_of(record.state);
  }

  ClassScreen& screen_;
  Reports& reports_;
};

bool is_wanted(const std::vector<std::string>& wanted, const std::string& name) {
  return wanted.empty() || std::find(wanted.begin(), wanted.end(), name) != wanted.end();
}

/// Those that there are marks under.
std::set<std::string> known_names(const GradeFlags& flags) {
  std::set<std::string> names;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(flags.out / "students", none)) names.insert(entry.path().filename());
  return names;
}

/// Before anything is written.
void refuse_unknown_students(const GradeFlags& flags) {
  if (flags.students.empty()) return;
  const std::vector<std::string> names = students_in(flags.submissions, known_names(flags));
  for (const std::string& name : flags.students) {
    if (names.empty() || std::find(names.begin(), names.end(), name) != names.end()) continue;
    std::vector<std::string> offered = nearest(name, names);
    if (offered.empty()) offered.assign(names.begin(), names.begin() + std::min(std::ssize(names), most_names));
    throw Refusal({"no_such_student",
                   {{"student", name},
                    {"n", std::to_string(names.size())},
                    {"names", fmt::format("{}", fmt::join(offered, ", "))}}});
  }
}

void refuse_if_nested(const GradeFlags& flags) {
  std::error_code error;
  const fs::path submissions = fs::weakly_canonical(flags.submissions, error),
                 out = fs::weakly_canonical(flags.out, error);
  const auto end = std::mismatch(submissions.begin(), submissions.end(), out.begin(), out.end()).first;
  if (fs::is_directory(submissions) && end == submissions.end())
    throw Refusal({"results_within_submissions", {{"folder", flags.out.string()}}});
}

Terms terms_of(const GradeFlags& flags) {
  Terms terms{.timings = flags.timings, .tasks = {}};
  for (const Task& task : all_tasks())
    if (is_wanted(flags.tasks, task.name)) terms.tasks.push_back(task.name);
  return terms;
}

/// As flags.
std::string flags_of(const Terms& terms) {
  return fmt::format("--tasks {}{}", fmt::join(terms.tasks, ","), terms.timings ? "" : " --no-timings");
}

Course course_of(const GradeFlags& flags, const Terms& terms) {
  fs::path name = flags.submissions;
  if (name.filename().empty()) name = name.parent_path();  // "class/"
  Course course{.title = name.filename(),
                .date = odori::now(),
                .english = Messages(flags.kit, "en"),
                .japanese = Messages(flags.kit, "ja"),
                .timings = terms.timings};
  for (const Task& task : all_tasks())
    if (is_wanted(terms.tasks, task.name)) {
      course.tasks.push_back(task);
      course.points_of[task.name] = points_of(task, flags.kit);
    }
  return course;
}

std::vector<Answer> answers_of(const Intake& intake, const GradeFlags& flags, const std::string& kit,
                               const std::string& salt) {
  std::vector<Answer> answers;
  for (const Student& student : intake.students)
    for (const Task& task : all_tasks()) {
      if (!is_wanted(flags.students, student.name) || !is_wanted(flags.tasks, task.name)) continue;
      const HandedIn& handed_in = student.tasks.at(task.name);
      const std::string content = content_of(task.name, handed_in, kit);
      answers.push_back({student.name, &task, handed_in, content, seed_of(content, salt), kit});
    }
  return answers;
}

/// Of the answer, or of its speedup alone.
std::optional<Finding> why_ungraded(const TaskRecord& record) {
  if (record.state == RecordState::ungraded) return record.reason;
  const BlankVerdict* speedup = ungraded_speedup(record);
  return speedup ? speedup->finding : std::nullopt;
}

/// Says what is left to be done by hand. Returns the exit code.
int conclude(const Reports& reports, const Intake& intake, ClassScreen& screen) {
  int n_ungraded = 0;
  for (const auto& [name, student] : reports.students())
    for (const auto& [task, record] : student.tasks)
      if (const auto reason = why_ungraded(record)) {
        if (++n_ungraded == 1) screen.say("batch_ungraded_title");
        screen.say("batch_ungraded_line", {{"student", name}, {"task", task}});
        screen.say(*reason);
      }
  for (const Finding& problem : intake.problems) screen.say(problem);
  return n_ungraded == 0 ? exit_code::ok : some_ungraded;
}

/// Takes in and marks, into RESULTS itself or what lies beside it. Returns false if it was interrupted.
bool mark(const GradeFlags& flags, const Results& results, const std::vector<Answer>& answers, const Records& records,
          Reports& reports, ClassScreen& screen) {
  Marker marker({.program = flags.build / "bin" / "odori_grader",
                 .kit = flags.kit,
                 .build = flags.build,
                 .scratch = results.scratch(),
                 .locks = folder_of_locks(),
                 .sandbox = flags.sandbox,
                 .hidden = {flags.submissions, flags.out}});
  Listener listener(screen, reports);
  const Batch batch{records, marker, flags.jobs > 0 ? flags.jobs : usable_cores(), flags.timings};
  try {
    run_batch(batch, answers, listener);
    return true;
  } catch (const Error& error) {
    if (error.code() != exit_code::interrupted) throw;
    return false;
  }
}

/// The last lines: how the class stands, and where to read more.
void sum_up(const GradeFlags& flags, const Reports& reports, ClassScreen& screen) {
  const Standing standing = reports.standing();
  std::vector<std::string> asked;
  for (const Task& task : reports.course().tasks)
    if (std::find(standing.nobodys.begin(), standing.nobodys.end(), task.name) == standing.nobodys.end())
      asked.push_back(task.name);
  // Where nobody handed in anything, it isn't one task that wasn't asked for.
  for (const std::string& task : standing.nobodys)
    if (!asked.empty())
      screen.say("batch_nobody", {{"task", task}, {"tasks", fmt::format("{}", fmt::join(asked, ","))}});
  screen.say("batch_sum", {{"marked", std::to_string(standing.marked)},
                           {"absent", std::to_string(standing.absent)},
                           {"ungraded", std::to_string(standing.ungraded)},
                           {"flagged", std::to_string(standing.flagged)}});
  screen.say("batch_done", {{"folder", flags.out.string()}});
}

/// Of a new batch nothing is left where nothing could be taken in.
Intake take_in_or_forget(const GradeFlags& flags, const Results& results) try {
  return take_in(flags.submissions, results.submitted(), results.scratch(), known_names(flags));
} catch (const Refusal&) {
  results.forget();
  throw;
}

int grade_new(const GradeFlags& flags, Results& results, ClassScreen& screen) {
  const Intake intake = take_in_or_forget(flags, results);
  Regrade(results).begin();
  const std::vector<Answer> answers = answers_of(intake, flags, results.kit(), results.salt());
  Reports reports(flags.out, course_of(flags, results.terms()), results.records().all());
  for (const Answer& answer : answers) reports.expect(answer.student);
  screen.say("batch_begins",
             {{"students", std::to_string(intake.students.size())}, {"n", std::to_string(answers.size())}});
  const bool finished = mark(flags, results, answers, results.records(), reports, screen);
  reports.write();
  if (!finished) {
    screen.say("batch_interrupted");
    return exit_code::interrupted;
  }
  const int code = conclude(reports, intake, screen);
  sum_up(flags, reports, screen);
  return code;
}

/// Marks beside the marks that there are, and shows what differs.
int grade_again(const GradeFlags& flags, Results& results, const std::string& kit, ClassScreen& screen,
                const Messages& messages) {
  const Regrade regrade(results);
  regrade.begin();
  const Intake intake = take_in(flags.submissions, regrade.submitted(), results.scratch(), known_names(flags));
  const std::vector<Answer> answers = answers_of(intake, flags, kit, results.salt());
  const Terms terms = terms_of(flags);
  Reports reports(results.regrade(), course_of(flags, terms), regrade.records().all());
  for (const Answer& answer : answers) reports.expect(answer.student);
  if (!mark(flags, results, answers, regrade.records(), reports, screen)) {
    screen.say("batch_interrupted");
    return exit_code::interrupted;
  }
  const bool everybody = flags.students.empty();
  regrade.complete(kit, terms, everybody);
  const int code = conclude(reports, intake, screen);
  if (print_changes(regrade, course_of(flags, results.terms()), reports.course(), messages, screen)) {
    screen.say("regrade_apply");
  } else {
    screen.say("regrade_nothing");
    // Without --apply the marks stay another version's, by which nothing more can be marked.
    if (everybody && results.kit() != kit) screen.say("regrade_go_on");
  }
  return code;
}

int apply_regrade(const GradeFlags& flags, Results& results, ClassScreen& screen, const Messages& messages) {
  Regrade regrade(results);
  if (!regrade.is_complete()) throw Refusal({"nothing_to_apply", {}});
  const Course before = course_of(flags, results.terms()), after = course_of(flags, regrade.terms());
  const bool changed = print_changes(regrade, before, after, messages, screen);
  regrade.apply();
  Reports reports(flags.out, course_of(flags, results.terms()), results.records().all());
  reports.write();
  if (changed)
    screen.say("regrade_applied", {{"folder", (flags.out / "history").string()}});
  else
    screen.say("regrade_unchanged");
  return exit_code::ok;
}

int grade(const GradeFlags& flags, ClassScreen& screen, const Messages& messages) {
  if (!flags.submissions.empty()) refuse_if_nested(flags);
  const std::string kit = kit_version(flags.kit, flags.build);
  if (flags.regrade && !fs::exists(flags.out / "batch.json"))
    throw Refusal({"nothing_to_regrade", {{"folder", flags.out.string()}}});
  if (!flags.apply && flags.sandbox) const Sandbox tried;
  if (!flags.apply) refuse_unknown_students(flags);
  Results results(flags.out, kit, terms_of(flags));
  if (flags.regrade && results.records().all().empty())
    throw Refusal({"nothing_to_regrade", {{"folder", flags.out.string()}}});
  if (flags.apply) return apply_regrade(flags, results, screen, messages);
  if (!flags.regrade && results.kit() != kit) throw Refusal({"results_other_kit", {{"folder", flags.out.string()}}});
  if (const Terms terms = terms_of(flags); terms != results.terms() && (!flags.regrade || !flags.students.empty()))
    throw Refusal({flags.regrade ? "results_other_terms_for_some" : "results_other_terms",
                   {{"folder", flags.out.string()}, {"began", flags_of(results.terms())}, {"now", flags_of(terms)}}});
  if (!flags.sandbox) screen.say("batch_unsafe");
  if (flags.regrade) return grade_again(flags, results, kit, screen, messages);
  return grade_new(flags, results, screen);
}

}  // namespace

int grade_class(const GradeFlags& flags) {
  const Messages messages(flags.kit, language_or_default(flags.language));
  ClassScreen screen(messages);
  try {
    return grade(flags, screen, messages);
  } catch (const Refusal& refusal) {
    screen.say(refusal.finding());
    return refusal.code();
  } catch (const EnvironmentFault& fault) {
    screen.say(fault.finding());
    if (flags.sandbox) screen.say("batch_no_sandbox");
    return fault.code();
  }
}

}  // namespace odori::grader
