// SPDX-License-Identifier: Apache-2.0
#include "class_report_fixture.h"

#include <fmt/core.h>

#include <array>

namespace odori::grader {

bool with_optional_tasks = false;

namespace {

constexpr std::array verdicts{Verdict::pass,  Verdict::inconclusive, Verdict::unfilled,
                              Verdict::wrong, Verdict::compile,      Verdict::crash,
                              Verdict::hang,  Verdict::environment,  Verdict::not_checked};

std::optional<Finding> finding_for(Verdict verdict, int blank, const std::string& text) {
  switch (verdict) {
    case Verdict::wrong:
      if (blank == 0)
        return Finding{"slower_than_the_kit",
                       {{"speedup", "1.20"}, {"kits", "1.80"}, {"share", "67"}, {"needed", "90"}}};
      return Finding{blank == 1 ? "whole_set_for_each_device" : "wrong_devices",
                     {{"n", "3"}, {"whole", "53"}, {"all", "159"}, {"nodes", text}, {"devices", "0, 1"}}};
    case Verdict::compile:
      return Finding{"compile_error",
                     {{"line", "32"}, {"message", text}, {"code", "int a = " + text}, {"caret", "        ^"}}};
    case Verdict::crash:
      return Finding{"crash", {{"detail", text}}};
    case Verdict::hang:
      return Finding{"hang", {{"seconds", "10"}}};
    case Verdict::inconclusive:
      return Finding{"too_few_cores", {{"devices", "2"}, {"have", "1"}}};
    case Verdict::environment:
      return Finding{"kit_fails", {}};
    case Verdict::not_checked:
      if (blank == 0) return Finding{"speedup_waits", {}};
      return Finding{"needs_other_blank", {{"other", "1"}}};
    case Verdict::unfilled:
      return Finding{"unfilled", {}};
    default:
      return std::nullopt;
  }
}

std::vector<Task> usual_tasks() {
  std::vector<Task> tasks = all_tasks();
  if (!with_optional_tasks) std::erase_if(tasks, [](const Task& task) { return task.optional; });
  return tasks;
}

TaskRecord record_of(const std::string& student, const Task& task, Verdict verdict, const std::string& text) {
  TaskRecord record{
      .student = student, .task = task.name, .state = RecordState::marked, .seconds = 3.25, .timed = true};
  CheckRecord check{.seed = 42};
  const auto points = points_of(task, ODORI_FOLDER);
  for (const int blank : task.judged()) {
    // The machine's verdict is about the speedup alone; the speedup is judged when all blanks are right.
    const bool speedup_alone = verdict == Verdict::inconclusive && blank != 0;
    BlankVerdict one{.blank = blank, .verdict = speedup_alone ? Verdict::pass : verdict, .of = points.at(blank)};
    one.finding = finding_for(one.verdict, blank, text);
    if (one.verdict == Verdict::pass) one.points = one.of;
    if (blank != 0 && one.verdict != Verdict::unfilled)
      check.answers[blank] = "    const auto answer = of_blank(" + std::to_string(blank) + ");\n      // " + text;
    check.verdicts.push_back(std::move(one));
  }
  if (verdict == Verdict::pass) {
    check.speedup = {{"one", "1085"},      {"devices", "2"}, {"many", "1975"}, {"speedup", "1.82"},
                     {"efficiency", "91"}, {"rounds", "5"},  {"kits", "1.83"}, {"ceiling", "1.95"}};
    check.timeline = task.name + "/timeline.html";
  }
  record.check = std::move(check);
  return record;
}

StudentRecord student_of(const std::string& name, Verdict verdict, const std::string& text) {
  StudentRecord student{.name = name, .tasks = {}, .people = {}};
  for (const Task& task : usual_tasks()) student.tasks[task.name] = record_of(name, task, verdict, text);
  return student;
}

/// Mostly right, with mistakes here and there.
StudentRecord ordinary_student(std::size_t number) {
  constexpr std::array mistakes{Verdict::wrong, Verdict::unfilled, Verdict::wrong, Verdict::compile, Verdict::hang};
  StudentRecord student = student_of(fmt::format("student {}", number), Verdict::pass, "expected ';'");
  for (auto& [name, record] : student.tasks) {
    bool all_right = true;
    for (BlankVerdict& verdict : record.check->verdicts) {
      const std::size_t dice = number * 31 + static_cast<std::size_t>(verdict.blank) * 17 + name.size() * 7;
      if (verdict.blank == 0 ? all_right : dice % 11 > 2) continue;
      all_right = false;
      verdict.verdict = verdict.blank == 0 ? Verdict::not_checked : mistakes[dice % mistakes.size()];
      verdict.finding = finding_for(verdict.verdict, verdict.blank, "expected ';'");
      verdict.points = 0;
    }
  }
  return student;
}

StudentRecord student_in_state(RecordState state) {
  StudentRecord student{.name = name_of(state), .tasks = {}, .people = {}};
  for (const Task& task : usual_tasks())
    student.tasks[task.name] = {.student = student.name, .task = task.name, .state = state};
  if (state == RecordState::absent)
    for (auto& [name, record] : student.tasks) record.flags.push_back({"flag_absent", {{"task", name}}});
  if (state == RecordState::ungraded) student.tasks["multi_node"].reason = Finding{"no_mpirun", {}};
  return student;
}

StudentRecord hostile_student(const std::string& text) {
  StudentRecord student = student_of(text, Verdict::compile, text);
  TaskRecord& record = student.tasks["multi_node"];
  record = record_of(text, task_named("multi_node"), Verdict::wrong, text);
  record.flags.push_back({"no_such_key", {{"text", text}}});
  for (const bool removed : {false, true}) record.check->left_out.push_back({text, 3, removed, text});
  return student;
}

}  // namespace

Course course_for_tests(double speedup) {
  Course course{.title = "tasks.zip </title><script>hacked()</script>",
                .date = "2026-11-21 15:00",
                .tasks = usual_tasks(),
                .points_of = {},
                .english = Messages(ODORI_FOLDER, "en"),
                .japanese = Messages(ODORI_FOLDER, "ja"),
                .timings = speedup > 0,
                .terms = usual_terms(),
                .overrides = {}};
  course.terms.speedup = speedup;
  for (const Task& task : course.tasks) {
    course.terms.weights[task.name] = 1;
    course.points_of[task.name] = points_of_class(points_of(task, ODORI_FOLDER), course.terms);
  }
  return course;
}

const std::vector<std::string>& hostile_texts() {
  static const std::vector<std::string> texts{
      "<img src=x onerror=hacked()>",
      "\" onmouseover=\"hacked()\" style=\"position:fixed;inset:0\" x=\"",
      "' autofocus onfocus='hacked()",
      "</script><script>hacked()</script>",
      "<!--<script>hacked()",
      "javascript:hacked()",
      "//example.org/x",
      "{{{chart_js}}} {{name}} {{#students}} {{=<% %>=}}",
      "`</code>` ${hacked()} \\u003cscript\\u003e",
      "=HYPERLINK(\"http://example.org\",\"name\")",
      "+1+1",
      "-1+1",
      "@SUM(A1)",
      "\t=1+1",
      "\r\n=1+1",
      "＝1+1",
      "　＋1",
      "\x1b[31mred\x1b]0;title\x07",
      "a\u202Etxt.exe\u2066b",
      "zero\u200Bwidth\uFEFF\u2028line",
      "not UTF-8: \xff\xfe \xc0\xaf \xed\xa0\x80 \xf4\x90\x80\x80 \xe3\x81",
      std::string("nul\0byte", 8),
      "O'Brien, \"Bob\"; a,b",
      "../../../etc/passwd",
      "青木　花子",
      std::string(100'000, 'A'),
  };
  return texts;
}

StudentRecord student_with(const std::string& name, Verdict verdict) {
  return student_of(name, verdict, "error: text");
}

std::vector<StudentRecord> class_for_tests(std::size_t n) {
  std::vector<StudentRecord> students;
  for (const Verdict verdict : verdicts) students.push_back(student_with(name_of(verdict), verdict));
  for (const RecordState state : {RecordState::ungraded, RecordState::absent})
    students.push_back(student_in_state(state));
  students.push_back({.name = "waiting", .tasks = {}, .people = {}});
  for (const std::string& text : hostile_texts()) students.push_back(hostile_student(text));
  while (students.size() < n) students.push_back(ordinary_student(students.size()));
  return students;
}

std::vector<StudentMarks> marks_of_class(const std::vector<StudentRecord>& students, const Course& course) {
  std::vector<StudentMarks> marks;
  for (const StudentRecord& student : students) marks.push_back(marks_of(student, course));
  return marks;
}

}  // namespace odori::grader
