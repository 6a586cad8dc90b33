#include "instructor/grade.h"

#include <fmt/chrono.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ctime>
#include <thread>

#include "batch/batch.h"
#include "batch/content.h"
#include "batch/refusal.h"
#include "batch/student_name.h"
#include "core/program.h"
#include "instructor/class_screen.h"
#include "instructor/regrade_class.h"
#include "instructor/reports.h"
#include "worker/sandbox.h"

namespace odori::grader {
namespace {

namespace fs = std::filesystem;

constexpr int some_ungraded = 20;
constexpr std::size_t most_names = 5;  // that are offered for one that isn't there

/// Prints and reports what run_batch tells.
class Listener : public Audience {
 public:
  Listener(ClassScreen& screen, Reports& reports) : screen_(screen), reports_(reports) {}

  void record(const TaskRecord& record, const Progress& progress) override {
    screen_.record(record, marks_of(record, reports_.course()), progress);
    reports_.take(record);
  }
  void progress(const Progress& progress) override {
    screen_.progress(progress);
    reports_.write_now_and_then();
  }

 private:
  ClassScreen& screen_;
  Reports& reports_;
};

bool is_wanted(const std::vector<std::string>& wanted, const std::string& name) {
  return wanted.empty() || std::find(wanted.begin(), wanted.end(), name) != wanted.end();
}

/// Before anything is written.
void refuse_unknown_students(const GradeFlags& flags) {
  if (flags.students.empty()) return;
  const std::vector<std::string> names = students_in(flags.submissions);
  for (const std::string& name : flags.students)
    if (!names.empty() && std::find(names.begin(), names.end(), name) == names.end())
      throw Refusal({"no_such_student",
                     {{"student", name},
                      {"n", std::to_string(names.size())},
                      {"names", fmt::format("{}", fmt::join(nearest_names(name, names, most_names), ", "))}}});
}

void refuse_if_nested(const GradeFlags& flags) {
  std::error_code error;
  const fs::path submissions = fs::weakly_canonical(flags.submissions, error),
                 out = fs::weakly_canonical(flags.out, error);
  const auto end = std::mismatch(submissions.begin(), submissions.end(), out.begin(), out.end()).first;
  if (fs::is_directory(submissions) && end == submissions.end())
    throw Refusal({"results_within_submissions", {{"folder", flags.out.string()}}});
}

Course course_of(const GradeFlags& flags) {
  const std::time_t now = std::time(nullptr);
  fs::path name = flags.submissions;
  if (name.filename().empty()) name = name.parent_path();  // "class/"
  Course course{.title = name.filename(),
                .date = fmt::format("{:%Y-%m-%d %H:%M}", *std::localtime(&now)),
                .english = Messages(flags.kit, "en"),
                .japanese = Messages(flags.kit, "ja"),
                .timings = flags.timings};
  for (const Task& task : all_tasks())
    if (is_wanted(flags.tasks, task.name)) {
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
      answers.push_back({student.name, &task, handed_in, content, seed_of(content, salt)});
    }
  return answers;
}

int default_jobs() { return static_cast<int>(std::max(1u, std::thread::hardware_concurrency())); }

/// Says what is left to be done by hand. Returns the exit code.
int conclude(const Reports& reports, const Intake& intake, ClassScreen& screen) {
  int n_ungraded = 0;
  for (const auto& [name, student] : reports.students())
    for (const auto& [task, record] : student.tasks)
      if (record.state == RecordState::ungraded) {
        if (++n_ungraded == 1) screen.say("batch_ungraded_title");
        screen.say("batch_ungraded_line", {{"student", name}, {"task", task}});
        screen.say(*record.reason);
      }
  for (const Finding& problem : intake.problems) screen.say(problem);
  return n_ungraded == 0 ? exit_code::ok : some_ungraded;
}

/// Takes in and marks, into RESULTS itself or what lies beside it. Returns false if it was interrupted.
bool mark(const GradeFlags& flags, const Results& results, const std::vector<Answer>& answers, const Records& records,
          Reports& reports, ClassScreen& screen) {
  Marker marker({.program = "/proc/self/exe",
                 .kit = flags.kit,
                 .build = flags.build,
                 .scratch = results.scratch(),
                 .sandbox = flags.sandbox});
  Listener listener(screen, reports);
  const Batch batch{records, marker, flags.jobs > 0 ? flags.jobs : default_jobs(), flags.timings};
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

int grade_new(const GradeFlags& flags, const Results& results, ClassScreen& screen) {
  const Intake intake = take_in(flags.submissions, results.submitted(), results.scratch());
  const std::vector<Answer> answers = answers_of(intake, flags, results.kit(), results.salt());
  Reports reports(flags.out, course_of(flags), results.records().all());
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
  const Intake intake = take_in(flags.submissions, regrade.submitted(), results.scratch());
  const std::vector<Answer> answers = answers_of(intake, flags, kit, results.salt());
  Reports reports(results.regrade(), course_of(flags), regrade.records().all());
  for (const Answer& answer : answers) reports.expect(answer.student);
  if (!mark(flags, results, answers, regrade.records(), reports, screen)) {
    screen.say("batch_interrupted");
    return exit_code::interrupted;
  }
  const bool everybody = flags.students.empty() && flags.tasks.empty();
  regrade.complete(kit, everybody);
  const int code = conclude(reports, intake, screen);
  if (!regrade.changes().empty()) {
    print_changes(regrade, reports.course(), messages, screen);
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
  const Course course = course_of(flags);
  const bool nothing = regrade.changes().empty();
  if (!nothing) print_changes(regrade, course, messages, screen);
  regrade.apply();
  Reports reports(flags.out, course, results.records().all());
  reports.write();
  if (nothing)
    screen.say("regrade_unchanged");
  else
    screen.say("regrade_applied", {{"folder", (flags.out / "history").string()}});
  return exit_code::ok;
}

int grade(const GradeFlags& flags, ClassScreen& screen, const Messages& messages) {
  if (!flags.submissions.empty()) refuse_if_nested(flags);
  const std::string kit = kit_version(flags.kit, flags.build);
  if (flags.regrade && !fs::exists(flags.out / "batch.json"))
    throw Refusal({"nothing_to_regrade", {{"folder", flags.out.string()}}});
  if (!flags.apply && flags.sandbox) const Sandbox tried;
  if (!flags.apply) refuse_unknown_students(flags);
  Results results(flags.out, kit);
  if (flags.regrade && results.records().all().empty())
    throw Refusal({"nothing_to_regrade", {{"folder", flags.out.string()}}});
  if (flags.apply) return apply_regrade(flags, results, screen, messages);
  if (!flags.sandbox) screen.say("batch_unsafe");
  if (flags.regrade) return grade_again(flags, results, kit, screen, messages);
  if (results.kit() != kit) throw Refusal({"results_other_kit", {{"folder", flags.out.string()}}});
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
    if (flags.sandbox) screen.say("batch_no_walls");
    return fault.code();
  }
}

}  // namespace odori::grader
