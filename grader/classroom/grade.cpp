// SPDX-License-Identifier: Apache-2.0
#include "classroom/grade.h"

#include <sys/resource.h>

#include <algorithm>
#include <set>

#include "classroom/class_screen.h"
#include "classroom/cluster.h"
#include "classroom/decided.h"
#include "classroom/marking/batch.h"
#include "classroom/marking/content.h"
#include "classroom/refusal.h"
#include "classroom/reports.h"
#include "classroom/reports/looks.h"
#include "files/file.h"
#include "program/program.h"
#include "runner/sandbox.h"
#include "threads/cores.h"

namespace odori::grader {
namespace {

namespace fs = std::filesystem;

constexpr int some_ungraded = 20;
constexpr int gib_of_answer = 4, usual_elements = 100, lowest_priority = 19;

void refuse_if_nested(const GradeFlags& flags) {
  std::error_code error;
  const fs::path submissions = fs::weakly_canonical(flags.submissions, error),
                 out = fs::weakly_canonical(flags.out, error);
  const auto end = std::mismatch(submissions.begin(), submissions.end(), out.begin(), out.end()).first;
  if (fs::is_directory(submissions) && end == submissions.end())
    throw Refusal({"results_within_submissions", {{"folder", flags.out.string()}}});
}

/// Writes what was handed in to `submitted`, for the children to read.
std::vector<Answer> answers_of(const Intake& intake, const std::set<std::string>& students, const Terms& terms,
                               const fs::path& submitted, const std::string& kit, const std::string& salt) {
  std::vector<Answer> answers;
  for (const Student& student : intake.students) {
    write_answers(student, submitted / student.name);
    if (!students.contains(student.name)) continue;
    for (const std::string& name : terms.tasks()) {
      const HandedIn& handed_in = student.tasks.at(name);
      Answer& answer = answers.emplace_back();
      answer.record = {.student = student.name,
                       .task = name,
                       .content = content_of(name, handed_in, kit),
                       .reason = Finding{"state_waiting", {}},
                       .flags = handed_in.flags,
                       .submitted = handed_in.submitted,
                       .files = handed_in.files};
      answer.folder = submitted / student.name;
      answer.seed = seed_of(answer.record.content, salt);
      if (!handed_in.absent()) continue;
      answer.record.state = RecordState::absent;
      answer.record.reason.reset();
      answer.record.timed = true;
      answer.record.flags.push_back({"flag_absent", {{"task", name}}});
    }
  }
  return answers;
}

/// Keeps who the students are, and when and as what an answer came that is marked already.
void keep_who_and_when(const Records& records, const Intake& intake, const std::vector<Answer>& answers) {
  for (const Student& student : intake.students) records.write_people(student.name, student.people);
  for (const auto& [now, folder, seed] : answers) {
    auto record = records.read(now.student, now.task);
    if (!record || record->content != now.content) continue;
    if (record->submitted == now.submitted && record->files == now.files) continue;
    record->submitted = now.submitted;
    record->files = now.files;
    records.write(*record);
  }
}

/// A student of a list, or an empty folder, whose submission has come under another name since.
void forget_who_is_gone(const Records& records, const Intake& intake) {
  std::set<std::string> here;
  for (const Student& student : intake.students) here.insert(student.name);
  for (const StudentRecord& student : records.all()) {
    const bool is_absent =
        std::ranges::all_of(student.tasks, [](const auto& task) { return task.second.state == RecordState::absent; });
    if (is_absent && !here.contains(student.name)) records.forget(student.name);
  }
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

void expect_all(Reports& reports, const Intake& intake, const std::vector<Answer>& answers) {
  std::set<std::string> students;
  for (const Answer& answer : answers) students.insert(answer.record.student);
  for (const Student& student : intake.students)
    if (students.contains(student.name)) reports.expect(student.name, student.people);
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
  try {
    run_batch({records, marker, jobs_of(flags), course.timings}, answers, audience);
    return true;
  } catch (const Error& error) {
    if (error.code() != exit_code::interrupted) throw;
    return false;
  }
}

/// The last lines: how the class stands, and where to read more.
void sum_up(const GradeFlags& flags, const Reports& reports, ClassScreen& screen) {
  int n_marked = 0, n_ungraded = 0, n_absent = 0;
  std::vector<std::string> asked, nobodys;
  for (const Task& task : reports.course().tasks) {
    std::size_t n_absent_here = 0;
    for (const auto& [name, student] : reports.students()) {
      const auto found = student.tasks.find(task.name);
      if (found == student.tasks.end()) continue;
      const TaskRecord& record = found->second;
      n_marked += record.state == RecordState::marked;
      n_ungraded += why_ungraded(record).has_value();
      n_absent_here += record.state == RecordState::absent;
    }
    n_absent += static_cast<int>(n_absent_here);
    (n_absent_here > 1 && n_absent_here == reports.students().size() ? nobodys : asked).push_back(task.name);
  }
  // Where nobody handed in anything, it isn't one task that wasn't asked for.
  for (const std::string& task : nobodys)
    if (!asked.empty()) screen.say("batch_nobody", {{"task", task}, {"file", (flags.out / course_file).string()}});
  screen.say("batch_sum", {{"marked", std::to_string(n_marked)},
                           {"absent", std::to_string(n_absent)},
                           {"ungraded", std::to_string(n_ungraded)},
                           {"looks", std::to_string(looks_of(reports.all_marks()).size())}});
  screen.say("batch_done", {{"folder", flags.out.string()}});
}

/// What one call of the command works with.
struct Call {
  const GradeFlags& flags;
  const Decided& decided;
  const Intake& intake;
  const std::string& kit;
  const fs::path& scratch;
  ClassScreen& screen;
  const Messages& messages;

  std::set<std::string> students() const { return chosen_students(flags, intake); }
};

/// Marks what is left, here or by an array job; once nothing is, the reports are complete.
int grade_new(const Call& call, Results& results, const Cluster& cluster) {
  const auto& [flags, decided, intake, kit, scratch, screen, messages] = call;
  Regrade(results).begin();
  const Records records = results.records();
  const std::vector<Answer> answers =
      answers_of(intake, call.students(), results.terms(), results.submitted(), results.kit(), results.salt());
  keep_who_and_when(records, intake, answers);
  forget_who_is_gone(records, intake);
  Cluster::Submitted submitted;
  if (flags.submit) {
    Marker marker(place_of(flags, scratch));
    submitted = cluster.submit({records, marker, 1, results.terms().timings()}, answers, flags.submissions,
                               flags.jobs > 0 ? flags.jobs : usual_elements, flags.sandbox);
  }
  Reports reports(flags.out, course_of(flags, decided, results.terms()), records.all());
  if (flags.anonymous) reports.write_anonymous_too(results.salt());
  expect_all(reports, intake, answers);
  if (!flags.submit)
    screen.say("batch_begins",
               {{"students", std::to_string(intake.students.size())}, {"n", std::to_string(answers.size())}});
  const bool finished = flags.submit || mark(flags, scratch, answers, records, reports, screen);
  reports.write();
  if (!finished) {
    screen.say("batch_interrupted");
    return exit_code::interrupted;
  }
  if (submitted.n > 0) {
    screen.say("array_submitted",
               {{"n", std::to_string(submitted.n)}, {"job", submitted.job}, {"logs", submitted.logs.string()}});
    return exit_code::ok;
  }
  reports.write_uploads();
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
  const Course course = course_of(flags, {.settings = settings_of(flags), .overrides = {}}, state.terms);
  Marker marker(place_of(flags, scratch.path()));
  const Audience audience{
      .record = [&](const TaskRecord& record, const auto&,
                    const Progress& progress) { screen.record(record, marks_of(record, course), "", progress); },
      .progress = [&](const Progress& progress) { screen.progress(progress); }};
  run_batch({records, marker, 1, state.terms.timings()},
            cluster.answers_of_element(state.salt, flags.element, flags.elements), audience);
  return exit_code::ok;
}

/// Marks next to the marks that there are, and shows what differs.
int grade_again(const Call& call, Results& results) {
  const auto& [flags, decided, intake, kit, scratch, screen, messages] = call;
  const Regrade regrade(results);
  regrade.begin();
  const Terms& terms = decided.settings.terms;
  const std::vector<Answer> answers =
      answers_of(intake, call.students(), terms, regrade.submitted(), kit, results.salt());
  keep_who_and_when(regrade.records(), intake, answers);
  Reports reports(results.regrade(), course_of(flags, decided, terms), regrade.records().all());
  expect_all(reports, intake, answers);
  if (!mark(flags, scratch, answers, regrade.records(), reports, screen)) {
    screen.say("batch_interrupted");
    return exit_code::interrupted;
  }
  const bool everybody = flags.students.empty();
  regrade.complete(everybody ? kit : results.kit(), terms);
  const int code = conclude(reports, intake, screen);
  if (print_changes(regrade, course_of(flags, decided, results.terms()), reports.course(), messages, screen)) {
    screen.say("regrade_apply");
  } else {
    screen.say("regrade_nothing");
    // Without --apply the marks stay another version's, by which nothing more can be marked.
    if (everybody && results.kit() != kit) screen.say("regrade_go_on");
  }
  return code;
}

int apply_regrade(const GradeFlags& flags, Decided decided, const std::string& kit, ClassScreen& screen,
                  const Messages& messages) {
  Results results(flags.out, kit);
  Regrade regrade(results);
  if (!regrade.is_complete()) throw Refusal({"nothing_to_apply", {}});
  std::vector<KnownStudent> known;
  for (const Regrade::Student& student : regrade.students())
    known.push_back({student.after.name, student.after.people});
  decided.overrides = read_overrides(flags.out / overrides_file, known, points_of_class(flags, regrade.terms()));
  const Course before = course_of(flags, decided, results.terms()), after = course_of(flags, decided, regrade.terms());
  const bool changed = print_changes(regrade, before, after, messages, screen);
  regrade.apply();
  Reports reports(flags.out, after, results.records().all());
  reports.write();
  reports.write_uploads();
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
  Decided decided{.settings = settings_of(flags), .overrides = {}};
  if (flags.apply) return apply_regrade(flags, std::move(decided), kit, screen, messages);
  if (flags.sandbox && !flags.submit) const Sandbox tried;
  // Of a class that can't be marked, nothing is written.
  const TemporaryFolder scratch(fs::temp_directory_path() / "odori_batch_");
  const Terms& terms = decided.settings.terms;
  const Intake intake = take_in(flags.submissions, scratch.path(),
                                {.terms = terms,
                                 .roster = roster_of(flags, decided.settings),
                                 .overrides = flags.out / overrides_file,
                                 .points_of = points_of_class(flags, terms),
                                 .kit = flags.kit});
  decided.overrides = intake.overrides;
  chosen_students(flags, intake);  // or refuses one who isn't there
  Results results(flags.out, kit, terms);
  if (flags.regrade && results.records().all().empty())
    throw Refusal({"nothing_to_regrade", {{"folder", flags.out.string()}}});
  if (!flags.regrade && results.kit() != kit) throw Refusal({"results_other_kit", {{"folder", flags.out.string()}}});
  if (terms != results.terms() && (!flags.regrade || !flags.students.empty()))
    throw Refusal({flags.regrade ? "results_other_terms_for_some" : "results_other_terms",
                   {{"file", (flags.out / course_file).string()}, {"changes", differences(results.terms(), terms)}}});
  if (!fs::exists(flags.out / course_file)) write_settings(flags.out / course_file, decided.settings);
  if (!flags.sandbox) screen.say("batch_unsafe");
  const Call call{flags, decided, intake, kit, scratch.path(), screen, messages};
  if (flags.regrade) return grade_again(call, results);
  return grade_new(call, results, cluster);
}

/// Of course.json; empty if there is none, or the file can't be used, which is said later.
std::string language_of_class(const GradeFlags& flags) try {
  return read_settings(flags.out / course_file).language;
} catch (const Refusal&) {
  return {};
}

}  // namespace

int grade_class(const GradeFlags& flags) {
  if (asked_language().empty()) ask_language(language_of_class(flags));
  const Messages messages(flags.kit, language());
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
