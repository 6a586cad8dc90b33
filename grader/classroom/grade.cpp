// SPDX-License-Identifier: Apache-2.0
#include "classroom/grade.h"

#include <fmt/ranges.h>
#include <sys/resource.h>

#include <algorithm>

#include "classroom/class_screen.h"
#include "classroom/cluster.h"
#include "classroom/marking/batch.h"
#include "classroom/marking/content.h"
#include "classroom/marking/refusal.h"
#include "classroom/regrade_class.h"
#include "classroom/reports.h"
#include "errors/nearest.h"
#include "files/file.h"
#include "program/program.h"
#include "report/machine.h"
#include "runner/sandbox.h"
#include "threads/cores.h"

namespace odori::grader {
namespace {

namespace fs = std::filesystem;

constexpr int some_ungraded = 20;
constexpr std::ptrdiff_t most_names = 5;  // offered instead of a missing one
constexpr int gib_of_answer = 4, usual_elements = 100, lowest_priority = 19;

bool is_wanted(const std::vector<std::string>& wanted, const std::string& name) {
  return wanted.empty() || std::find(wanted.begin(), wanted.end(), name) != wanted.end();
}

void refuse_unknown_students(const GradeFlags& flags, const Intake& intake) {
  std::vector<std::string> names;
  for (const Student& student : intake.students) names.push_back(student.name);
  for (const std::string& name : flags.students) {
    if (std::ranges::find(names, name) != names.end()) continue;
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

/// Writes what was handed in to `submitted`, for the children to read.
std::vector<Answer> answers_of(const Intake& intake, const GradeFlags& flags, const fs::path& submitted,
                               const std::string& kit, const std::string& salt) {
  std::vector<Answer> answers;
  for (const Student& student : intake.students) {
    write_answers(student, submitted / student.name);
    for (const Task& task : all_tasks()) {
      if (!is_wanted(flags.students, student.name) || !is_wanted(flags.tasks, task.name)) continue;
      const HandedIn& handed_in = student.tasks.at(task.name);
      const std::string content = content_of(task.name, handed_in, kit);
      answers.push_back({student.name, &task, submitted / student.name, handed_in.absent(), handed_in.flags, content,
                         seed_of(content, salt)});
    }
  }
  return answers;
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

/// "60/80", or "absent".
std::string mark_of(const TaskRecord& record, const Course& course) {
  const TaskMarks marks = marks_of(record, course);
  return record.state == RecordState::marked ? number(*marks.points) + '/' + number(marks.of) : name_of(record.state);
}

Marker::Place place_of(const GradeFlags& flags, const fs::path& scratch) {
  return {.program = flags.build / "bin" / "odori_grader",
          .kit = flags.kit,
          .build = flags.build,
          .scratch = scratch,
          .locks = folder_of_locks(),
          .sandbox = flags.sandbox,
          .hidden = {flags.submissions, flags.out}};
}

/// Answers at once: each is counted with the memory that the sandbox gives one command.
int jobs_of(const GradeFlags& flags) {
  const int jobs = flags.jobs > 0 ? flags.jobs : usable_cores();
  return flags.memory > 0 ? std::max(1, std::min(jobs, flags.memory / gib_of_answer)) : jobs;
}

/// Marks, into RESULTS itself or what lies next to it. Returns false if it was interrupted.
bool mark(const GradeFlags& flags, const fs::path& scratch, const std::vector<Answer>& answers, const Records& records,
          Reports& reports, ClassScreen& screen) {
  Marker marker(place_of(flags, scratch));
  const Course& course = reports.course();
  const Audience audience{.record =
                              [&](const TaskRecord& record, const auto& before, const Progress& progress) {
                                const std::string instead_of = before ? mark_of(*before, course) : "";
                                screen.record(record, marks_of(record, course), instead_of, progress);
                                reports.take(record);
                              },
                          .progress =
                              [&](const Progress& progress) {
                                screen.progress(progress);
                                reports.write_if_due();
                              }};
  const Batch batch{records, marker, jobs_of(flags), flags.timings};
  for (const Answer& answer : answers) reports.expect(answer.student);
  try {
    run_batch(batch, answers, audience);
    return true;
  } catch (const Error& error) {
    if (error.code() != exit_code::interrupted) throw;
    return false;
  }
}

/// The last lines: how the class stands, and where to read more.
void sum_up(const GradeFlags& flags, const Reports& reports, ClassScreen& screen) {
  int n_marked = 0, n_flagged = 0, n_ungraded = 0, n_absent = 0;
  std::vector<std::string> asked, nobodys;
  for (const Task& task : reports.course().tasks) {
    std::size_t n_absent_here = 0;
    for (const auto& [name, student] : reports.students()) {
      const auto found = student.tasks.find(task.name);
      if (found == student.tasks.end()) continue;
      const TaskRecord& record = found->second;
      const bool marked = record.state == RecordState::marked;
      n_marked += marked;
      n_flagged += marked && !record.flags.empty();
      n_ungraded += why_ungraded(record).has_value();
      n_absent_here += record.state == RecordState::absent;
    }
    n_absent += static_cast<int>(n_absent_here);
    (n_absent_here > 1 && n_absent_here == reports.students().size() ? nobodys : asked).push_back(task.name);
  }
  // Where nobody handed in anything, it isn't one task that wasn't asked for.
  for (const std::string& task : nobodys)
    if (!asked.empty())
      screen.say("batch_nobody", {{"task", task}, {"tasks", fmt::format("{}", fmt::join(asked, ","))}});
  screen.say("batch_sum", {{"marked", std::to_string(n_marked)},
                           {"absent", std::to_string(n_absent)},
                           {"ungraded", std::to_string(n_ungraded)},
                           {"flagged", std::to_string(n_flagged)}});
  screen.say("batch_done", {{"folder", flags.out.string()}});
}

int grade_new(const GradeFlags& flags, Results& results, const Intake& intake, const fs::path& scratch,
              ClassScreen& screen) {
  Regrade(results).begin();
  const std::vector<Answer> answers = answers_of(intake, flags, results.submitted(), results.kit(), results.salt());
  Reports reports(flags.out, course_of(flags, results.terms()), results.records().all());
  if (flags.anonymous) reports.write_anonymous_too(results.salt());
  screen.say("batch_begins",
             {{"students", std::to_string(intake.students.size())}, {"n", std::to_string(answers.size())}});
  const bool finished = mark(flags, scratch, answers, results.records(), reports, screen);
  reports.write();
  if (!finished) {
    screen.say("batch_interrupted");
    return exit_code::interrupted;
  }
  const int code = conclude(reports, intake, screen);
  sum_up(flags, reports, screen);
  return code;
}

/// Has an array job mark what is left; once nothing is, the reports are complete.
int submit_class(const GradeFlags& flags, Results& results, const Intake& intake, const fs::path& scratch,
                 const Cluster& cluster, ClassScreen& screen) {
  Regrade(results).begin();
  const std::vector<Answer> answers = answers_of(intake, flags, results.submitted(), results.kit(), results.salt());
  Marker marker(place_of(flags, scratch));
  const auto submitted = cluster.submit({results.records(), marker, 1, flags.timings}, answers, flags.submissions,
                                        flags.jobs > 0 ? flags.jobs : usual_elements, flags.sandbox);
  Reports reports(flags.out, course_of(flags, results.terms()), results.records().all());
  if (flags.anonymous) reports.write_anonymous_too(results.salt());
  for (const Answer& answer : answers) reports.expect(answer.student);
  reports.write();
  if (submitted.n > 0) {
    screen.say("array_submitted",
               {{"n", std::to_string(submitted.n)}, {"job", submitted.job}, {"logs", submitted.logs.string()}});
    return exit_code::ok;
  }
  const int code = conclude(reports, intake, screen);
  sum_up(flags, reports, screen);
  return code;
}

/// In the array job, next to its other elements: without the lock of RESULTS, and without reports.
int mark_element(const GradeFlags& flags, const Cluster& cluster, ClassScreen& screen) {
  const BatchState state = read_batch_state(flags.out / "batch.json");
  if (state.kit != kit_version(flags.kit, flags.build)) throw Refusal({"array_other_kit", {}}, some_ungraded);
  if (flags.sandbox) const Sandbox tried;
  const TemporaryFolder scratch(fs::temp_directory_path() / "odori_batch_");
  const Records records(flags.out / "students", flags.out / "history");
  const Course course = course_of(flags, state.terms);
  Marker marker(place_of(flags, scratch.path()));
  const Audience audience{
      .record = [&](const TaskRecord& record, const auto&,
                    const Progress& progress) { screen.record(record, marks_of(record, course), "", progress); },
      .progress = [&](const Progress& progress) { screen.progress(progress); }};
  run_batch({records, marker, 1, state.terms.timings},
            cluster.answers_of_element(state.salt, flags.element, flags.elements), audience);
  return exit_code::ok;
}

/// Marks next to the marks that there are, and shows what differs.
int grade_again(const GradeFlags& flags, Results& results, const std::string& kit, const Intake& intake,
                const fs::path& scratch, ClassScreen& screen, const Messages& messages) {
  const Regrade regrade(results);
  regrade.begin();
  const std::vector<Answer> answers = answers_of(intake, flags, regrade.submitted(), kit, results.salt());
  const Terms terms = terms_of(flags);
  Reports reports(results.regrade(), course_of(flags, terms), regrade.records().all());
  if (!mark(flags, scratch, answers, regrade.records(), reports, screen)) {
    screen.say("batch_interrupted");
    return exit_code::interrupted;
  }
  const bool everybody = flags.students.empty();
  regrade.complete(everybody ? kit : results.kit(), terms);
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

int apply_regrade(const GradeFlags& flags, const std::string& kit, ClassScreen& screen, const Messages& messages) {
  Results results(flags.out, kit, terms_of(flags));
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
  const Cluster cluster(flags.out, flags.kit, flags.build);
  if (flags.element > 0) return mark_element(flags, cluster, screen);
  if (!flags.submissions.empty()) refuse_if_nested(flags);
  if (const auto array = cluster.running()) {
    const Finding progress{
        flags.submit ? "array_runs" : "array_active",
        {{"job", array->job}, {"marked", std::to_string(array->n_marked)}, {"of", std::to_string(array->of)}}};
    if (!flags.submit) throw Refusal(progress, some_ungraded);
    screen.say(progress);
    return exit_code::ok;
  }
  const std::string kit = kit_version(flags.kit, flags.build);
  if (flags.regrade && !fs::exists(flags.out / "batch.json"))
    throw Refusal({"nothing_to_regrade", {{"folder", flags.out.string()}}});
  if (flags.apply) return apply_regrade(flags, kit, screen, messages);
  if (flags.sandbox && !flags.submit) const Sandbox tried;
  // Of a class that can't be marked, nothing is written.
  const TemporaryFolder scratch(fs::temp_directory_path() / "odori_batch_");
  const Intake intake = take_in(flags.submissions, scratch.path());
  refuse_unknown_students(flags, intake);
  Results results(flags.out, kit, terms_of(flags));
  if (flags.regrade && results.records().all().empty())
    throw Refusal({"nothing_to_regrade", {{"folder", flags.out.string()}}});
  if (!flags.regrade && results.kit() != kit) throw Refusal({"results_other_kit", {{"folder", flags.out.string()}}});
  if (const Terms terms = terms_of(flags); terms != results.terms() && (!flags.regrade || !flags.students.empty()))
    throw Refusal({flags.regrade ? "results_other_terms_for_some" : "results_other_terms",
                   {{"folder", flags.out.string()}, {"began", flags_of(results.terms())}, {"now", flags_of(terms)}}});
  if (!flags.sandbox) screen.say("batch_unsafe");
  if (flags.regrade) return grade_again(flags, results, kit, intake, scratch.path(), screen, messages);
  if (flags.submit) return submit_class(flags, results, intake, scratch.path(), cluster, screen);
  return grade_new(flags, results, intake, scratch.path(), screen);
}

}  // namespace

int grade_class(const GradeFlags& flags) {
  const Messages messages(flags.kit, language_or_default(flags.language));
  ClassScreen screen(messages);
  if (flags.nice) setpriority(PRIO_PROCESS, 0, lowest_priority);
  try {
    return grade(flags, screen, messages);
  } catch (const Refusal& refusal) {
    screen.say(refusal.finding());
    return refusal.code();
  } catch (const WriteError& error) {
    screen.say("batch_cannot_write", {{"reason", error.what()}});
    return some_ungraded;
  } catch (const EnvironmentFault& fault) {
    screen.say(fault.finding());
    if (flags.sandbox) screen.say("batch_no_sandbox");
    return fault.code();
  }
}

}  // namespace odori::grader
