// SPDX-License-Identifier: Apache-2.0
// Figures and texts of a class's reports.
#include <gtest/gtest.h>

#include <algorithm>

#include "class_report_fixture.h"
#include "classroom/course/times.h"
#include "classroom/reports/anonymous.h"
#include "classroom/reports/formats.h"
#include "classroom/reports/looks.h"
#include "classroom/reports/summary.h"

namespace odori::grader {
namespace {

StudentMarks marks_with(Verdict verdict) { return marks_of(student_with("aoki", verdict), course_for_tests()); }

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

TEST(Marks, AreTheMeanOfAllTasks) {
  const StudentMarks right = marks_with(Verdict::pass), wrong = marks_with(Verdict::wrong);
  EXPECT_EQ(right.points, 100);
  EXPECT_EQ(right.of, 100);
  EXPECT_EQ(wrong.points, 0);
}

TEST(Marks, GoByTheWeightsOfTasks) {
  Course course = course_for_tests();
  course.terms.weights = {{"multi_gpu", 3}, {"multi_node", 1}};
  StudentRecord record = student_with("aoki", Verdict::pass);
  record.tasks["multi_node"] = student_with("aoki", Verdict::wrong).tasks["multi_node"];
  EXPECT_EQ(marks_of(record, course).points, 75);
}

TEST(Marks, AreOf100WhateverCannotBeMeasured) {
  const StudentMarks marks = marks_with(Verdict::inconclusive);
  EXPECT_EQ(marks.points, 100);
  EXPECT_EQ(marks.tasks[0].points, 100);
  EXPECT_FALSE(marks.tasks[0].marks.back().points) << "it does not count";
  StudentRecord record = student_with("aoki", Verdict::pass);
  record.tasks["multi_gpu"].check->verdicts.back() = {0, Verdict::not_checked, Finding{"speedup_not_asked", {}}, 0, 20};
  EXPECT_EQ(marks_of(record, course_for_tests()).tasks[0].points, 100);
  record.tasks["multi_gpu"].check->verdicts.back().finding->key = "speedup_waits";
  EXPECT_EQ(marks_of(record, course_for_tests()).tasks[0].points, 80);
}

TEST(Marks, ShareAllPointsAmongBlanksWhereNoSpeedupIsMeasured) {
  const Course course = course_for_tests(0);
  StudentRecord record = student_with("aoki", Verdict::pass);
  BlankVerdict& first = record.tasks["multi_gpu"].check->verdicts[0];
  const double points = first.of / 80 * 100;
  EXPECT_EQ(marks_of(record, course).points, 100);
  first = {1, Verdict::wrong, {}, 0, first.of};
  const StudentMarks marks = marks_of(record, course);
  EXPECT_EQ(marks.tasks[0].points, 100 - points);
  EXPECT_EQ(marks.tasks[0].marks[0].of, points);
  EXPECT_EQ(marks.tasks[0].marks.size(), 8u) << "the speedup is no line";
  EXPECT_FALSE(contains(student_page(marks, course), "speedup"));
}

TEST(Marks, GiveTheSpeedupThePointsOfTheClass) {
  const Course course = course_for_tests(50);
  StudentRecord record = student_with("aoki", Verdict::pass);
  BlankVerdict& speedup = record.tasks["multi_gpu"].check->verdicts.back();
  speedup = {0, Verdict::wrong, Finding{"slower_than_the_kit", {}}, 0, 20};
  EXPECT_EQ(marks_of(record, course).tasks[0].points, 50);
  speedup = {0, Verdict::pass, {}, 10, 20};
  EXPECT_EQ(marks_of(record, course).tasks[0].points, 75);
}

TEST(Marks, OfTasksThatMeasureNoSpeedupAreSharedByBlanks) {
  EXPECT_EQ(points_of_class({{1, 30}, {2, 70}}, usual_terms()), (std::map<int, double>{{1, 30}, {2, 70}}));
  Terms half = usual_terms();
  half.speedup = 50;
  EXPECT_EQ(points_of_class({{0, 20}, {1, 20}, {2, 60}}, half), (std::map<int, double>{{0, 50}, {1, 12.5}, {2, 37.5}}));
}

TEST(Overrides, ReplacePointsOfBlanksAndTasksAndAreShownWithTheirComment) {
  Course course = course_for_tests();
  StudentOverrides& mine = course.overrides["aoki"];
  const StudentRecord record = student_with("aoki", Verdict::wrong);
  mine.points[{"multi_gpu", 1}] = {15, "unusual, but <b>right</b>"};
  StudentMarks marks = marks_of(record, course);
  EXPECT_EQ(marks.tasks[0].points, 15);
  EXPECT_EQ(marks.points, 7.5);
  EXPECT_EQ(marks.tasks[0].marks[0].override->comment, "unusual, but <b>right</b>");
  EXPECT_EQ(marks.tasks[0].marks[0].verdict->verdict, Verdict::wrong) << "as judged";
  EXPECT_TRUE(contains(gradescope_of(marks, course), "unusual, but <b>right</b>"));
  const std::vector<StudentMarks> students = marks_of_class({record}, course);
  for (const std::string& page : {student_page(marks, course), class_page(students, course, "")})
    EXPECT_TRUE(contains(page, "15 of 25 points. unusual, but &lt;b&gt;right&lt;/b&gt;")) << page;
  EXPECT_EQ(marks_of(student_with("baba", Verdict::wrong), course).points, 0) << "another student's";
  mine.points[{"multi_gpu", whole_task}] = {60, "by hand"};
  EXPECT_EQ(marks_of(record, course).tasks[0].points, 60);
  // Also where this machine could not judge, and where nothing was submitted.
  EXPECT_EQ(marks_of(StudentRecord{.name = "aoki", .tasks = {}, .people = {}}, course).tasks[0].points, 60);
}

TEST(Late, CostsPointsForEachDayBegun) {
  Course course = course_for_tests();
  course.terms.deadline = "2026-12-01T18:00Z";
  const std::int64_t deadline = seconds_of_time(course.terms.deadline).value(), day = 86'400;
  StudentRecord record = student_with("aoki", Verdict::pass);
  const auto points_after = [&](std::int64_t seconds) {
    record.tasks["multi_gpu"].submitted = deadline + seconds;
    return marks_of(record, course).tasks[0].points;
  };
  EXPECT_EQ(points_after(day), 100) << "a deadline alone costs nothing";
  course.terms.late = "10%/day";
  EXPECT_EQ(points_after(0), 100);
  EXPECT_EQ(points_after(1), 90);
  EXPECT_EQ(points_after(day + 1), 80);
  EXPECT_EQ(points_after(30 * day), 0);
  EXPECT_EQ(points_after(-deadline), 100) << "the time is unknown";
  course.overrides["aoki"].late["multi_gpu"] = {0, "was ill"};
  EXPECT_EQ(points_after(day + 1), 100);
  EXPECT_EQ(marks_of(record, course).tasks[0].late_comment, "was ill");
  course.overrides.clear();
  course.terms.late = "refuse";
  EXPECT_EQ(points_after(1), 0);
  EXPECT_TRUE(marks_of(record, course).tasks[0].late->refused);
  EXPECT_TRUE(contains(gradescope_of(marks_of(record, course), course), "after the deadline"));
  EXPECT_TRUE(contains(student_page(marks_of(record, course), course), "after the deadline"));
}

TEST(Names, AreThoseOfPeople) {
  StudentRecord record = student_with("Kim Min_4009", Verdict::pass);
  EXPECT_EQ(marks_of(record, course_for_tests()).name, "Kim Min_4009");
  record.people = {{.name = "Kim Min", .moodle = "4009"}};
  EXPECT_EQ(marks_of(record, course_for_tests()).name, "Kim Min");
  EXPECT_EQ(marks_of(record, course_for_tests()).folder, "Kim Min_4009");
  record.people.push_back({.email = "ito@example.org"});
  EXPECT_EQ(marks_of(record, course_for_tests()).name, "Kim Min, ito@example.org");
}

TEST(Marks, SayOfAMissingFileThatItWasNotHandedIn) {
  StudentRecord record = student_with("aoki", Verdict::pass);
  BlankVerdict& script = record.tasks["multi_gpu"].check->verdicts[7];
  script = {8, Verdict::missing, Finding{"file_missing", {{"file", "run_multi_gpu_training.sh"}}}, 0, 5};
  const std::vector<StudentRecord> records{record};
  const Course course = course_for_tests();
  const std::vector<StudentMarks> students = marks_of_class(records, course);
  const std::string text = gradescope_of(students[0], course);
  EXPECT_TRUE(contains(text, "run_multi_gpu_training.sh was not submitted, or can't be read"));
  EXPECT_TRUE(contains(text, "run_multi_gpu_training.sh は提出されていないか、"));
  EXPECT_FALSE(contains(text, "odori reset"));
  EXPECT_FALSE(students[0].needs_look);
  EXPECT_TRUE(summary_of(students, course).misconceptions.empty()) << "it tells nothing of what the student thinks";
}

TEST(Marks, AreNoneWhereATaskIsUngradedOrWaits) {
  StudentRecord record = student_with("aoki", Verdict::pass);
  record.tasks["multi_node"] = {.student = "aoki", .task = "multi_node", .state = RecordState::ungraded};
  const StudentMarks ungraded = marks_of(record, course_for_tests());
  EXPECT_FALSE(ungraded.points);
  EXPECT_EQ(ungraded.tasks[0].points, 100);
  EXPECT_FALSE(ungraded.tasks[1].points);
  EXPECT_TRUE(ungraded.needs_look);
  record.tasks.erase("multi_node");
  const StudentMarks waiting = marks_of(record, course_for_tests());
  EXPECT_FALSE(waiting.points);
  EXPECT_FALSE(waiting.needs_look);
}

TEST(Marks, OfWhatIsAbsentAreZero) {
  StudentRecord record = student_with("aoki", Verdict::pass);
  record.tasks["multi_node"] = {.student = "aoki", .task = "multi_node", .state = RecordState::absent};
  const StudentMarks half = marks_of(record, course_for_tests());
  EXPECT_EQ(half.points, 50);
}

TEST(StudentsPages, DoNotShowFlagsNorTheMachinesFaults) {
  StudentRecord record = student_with("aoki", Verdict::pass);
  record.tasks["multi_gpu"].flags.push_back({"SECRET_FLAG", {}});
  record.tasks["multi_node"] = {.student = "aoki", .task = "multi_node", .state = RecordState::ungraded};
  record.tasks["multi_node"].reason = Finding{"SECRET_REASON", {}};
  const std::vector<StudentRecord> records{record};
  const Course course = course_for_tests();
  const std::vector<StudentMarks> students = marks_of_class(records, course);
  EXPECT_FALSE(contains(student_page(students[0], course), "SECRET"));
  EXPECT_FALSE(contains(gradescope_of(students[0], course), "SECRET"));
  for (const std::string& text : {class_page(students, course, ""), class_json(students, course)}) {
    EXPECT_TRUE(contains(text, "SECRET_FLAG"));
    EXPECT_TRUE(contains(text, "SECRET_REASON"));
  }
}

TEST(Summary, CountsVerdictsMisconceptionsAndLooks) {
  std::vector<StudentRecord> records;
  for (const char* name : {"a", "b", "c"}) records.push_back(student_with(name, Verdict::wrong));
  records.push_back(student_with("d", Verdict::pass));
  records[1].tasks["multi_gpu"].check->verdicts[0].finding->key = "another_mistake";
  records[2].tasks["multi_gpu"].flags.push_back({"too_good", {}});
  const Course course = course_for_tests();
  const std::vector<StudentMarks> students = marks_of_class(records, course);
  const ClassSummary summary = summary_of(students, course);
  EXPECT_EQ(summary.n_marked, 8);
  EXPECT_EQ(summary.n_waiting(), 0);
  EXPECT_EQ(summary.percents, (std::vector<double>{0, 0, 0, 100}));
  EXPECT_EQ(summary.mean(), 25);
  EXPECT_EQ(summary.median(), 0);
  EXPECT_EQ(summary.blanks[0].verdicts.at(Verdict::wrong), 3);
  EXPECT_EQ(summary.blanks[0].mean_points, 6.25);
  EXPECT_EQ(summary.misconceptions.front().students.size(), 3u);
  EXPECT_EQ(summary.misconceptions.back().students.size(), 1u);
  EXPECT_TRUE(contains(class_page(students, course, ""),
                       "<td class=\"name\"><a href=\"students/c/report.html\" title=\"c\">c</a></td><td><span"));
  EXPECT_FALSE(contains(class_page(students, course, ""),
                        "<td class=\"name\"><a href=\"students/b/report.html\" title=\"b\">b</a></td><td><span"));
  EXPECT_TRUE(students[2].needs_look);
  EXPECT_FALSE(students[1].needs_look);
}

TEST(StudentsPages, ShowTheStudentsOwnTextAndNoHints) {
  StudentRecord record = student_with("aoki", Verdict::wrong);
  record.tasks["multi_gpu"].check->answers[2] = "    if (a < b)\n      use(a);\n\n    done();";
  const std::string page = student_page(marks_of(record, course_for_tests()), course_for_tests());
  EXPECT_TRUE(contains(page, "<pre class=\"answer\">if (a &lt; b)\n  use(a);\ndone();</pre>"));
  EXPECT_FALSE(contains(page, "./odori hint"));
}

TEST(StudentsPages, SayOnceThatSpeedupsWereNotMeasured) {
  StudentRecord record = student_with("aoki", Verdict::pass);
  for (auto& [name, task] : record.tasks)
    task.check->verdicts.back() = {0, Verdict::not_checked, Finding{"speedup_not_asked", {}}, 0, 20};
  const std::string page = student_page(marks_of(record, course_for_tests()), course_for_tests());
  const std::size_t first = page.find("The speedup wasn");
  EXPECT_NE(first, std::string::npos);
  EXPECT_EQ(page.find("The speedup wasn", first + 1), std::string::npos);
}

std::vector<StudentRecord> class_to_look_at() {
  std::vector<StudentRecord> records;
  for (const char* name : {"absent", "alike 1", "alike 2", "outside", "unusual", "unsuspicious"})
    records.push_back(student_with(name, Verdict::pass));
  for (auto& [name, task] : records[0].tasks)
    task = {
        .student = "absent",
        .task = name,
        .state = RecordState::absent,
        .flags = {{"flag_other_names", {{"files", "notes.docx"}, {"file", name}}}, {"flag_absent", {{"task", name}}}}};
  for (StudentRecord* alike : {&records[1], &records[2]}) alike->tasks["multi_gpu"].content = "1234";
  records[3].tasks["multi_gpu"].flags = {{"flag_several_files", {}},
                                         {"flag_outside", {{"code", "system(\"id\")"}, {"line", "9"}, {"n", "1"}}}};
  for (auto& [name, task] : records[4].tasks) task.flags = {{"flag_unusual", {{"blank", "1"}, {"words", "`kill`"}}}};
  return records;
}

TEST(Looks, AreOneAStudentTheMostSeriousFirst) {
  const std::vector<StudentRecord> records = class_to_look_at();
  const Course course = course_for_tests();
  std::vector<StudentMarks> students = marks_of_class(records, course);
  find_alike(students);
  const std::vector<Look> looks = looks_of(students);
  std::vector<std::string> names, keys;
  for (const Look& look : looks) {
    names.push_back(look.student->name);
    keys.push_back(look.reasons.front().why.key);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"outside", "unusual", "alike 1", "alike 2", "absent"}));
  EXPECT_EQ(keys,
            (std::vector<std::string>{"flag_outside", "flag_unusual", "look_alike", "look_alike", "look_absent"}));
  EXPECT_EQ(looks[0].reasons.size(), 2u);
  EXPECT_EQ(looks[1].reasons.size(), 1u) << "the same of two tasks";
  EXPECT_EQ(looks[1].reasons[0].tasks, (std::vector<std::string>{"multi_gpu", "multi_node"}));
  EXPECT_EQ(looks[2].reasons[0].why.values.at("names"), "alike 2");
  ASSERT_EQ(looks[4].reasons.size(), 2u) << "what was there instead";
  EXPECT_EQ(looks[4].reasons[1].why.values.at("files"), "notes.docx");
  EXPECT_TRUE(students[1].needs_look);
}

TEST(Looks, AreOfTheStudentsThatAreMarkedSoInEveryReport) {
  const Course course = course_for_tests();
  std::vector<StudentMarks> students = marks_of_class(class_for_tests(60), course);
  find_alike(students);
  const std::vector<Look> looks = looks_of(students);
  EXPECT_GT(looks.size(), 10u);
  EXPECT_EQ(std::ranges::count_if(students, &StudentMarks::needs_look), std::ssize(looks));
  for (const Look& look : looks) EXPECT_TRUE(look.student->needs_look) << look.student->name;
}

TEST(Looks, DoNotCompareUnfilledAnswers) {
  std::vector<StudentRecord> records;
  for (const char* name : {"a", "b"}) {
    records.push_back(student_with(name, Verdict::unfilled));
    records.back().tasks["multi_gpu"].content = "1234";
  }
  std::vector<StudentMarks> students = marks_of_class(records, course_for_tests());
  find_alike(students);
  EXPECT_TRUE(looks_of(students).empty());
}

TEST(Anonymous, PagesHoldNoNames) {
  const Course course = course_for_tests();
  std::vector<StudentMarks> students;
  for (StudentRecord& record : class_to_look_at()) {
    record.name = "SECRET " + record.name;
    for (auto& [name, task] : record.tasks) {
      task.student = record.name;
      task.flags.push_back({"flag_again", {{"student", "SECRET"}}});
      if (task.check) task.check->left_out.push_back({"a.cpp", 1, false, "// SECRET"});
      if (task.check && !task.check->verdicts.empty())
        task.check->verdicts[0].finding = Finding{"file_missing", {{"file", record.name + "/ring.cpp"}}};
    }
    students.push_back(marks_of(anonymous(record, "7f3a19c2"), course));
  }
  find_alike(students);
  EXPECT_FALSE(contains(class_page(students, course, ""), "SECRET"));
  EXPECT_TRUE(contains(class_page(students, course, ""), "7f3a19c2"));
  for (const StudentMarks& student : students) EXPECT_FALSE(contains(student_page(student, course), "SECRET"));
  EXPECT_TRUE(contains(class_page(students, course, ""), "system(&quot;id&quot;)"));
}

TEST(Summary, CountsTheShareThatIsRight) {
  std::vector<StudentRecord> records{student_with("a", Verdict::pass), student_with("b", Verdict::wrong),
                                     student_with("c", Verdict::wrong)};
  const Course course = course_for_tests();
  const std::vector<StudentMarks> students = marks_of_class(records, course);
  EXPECT_NEAR(summary_of(students, course).blanks[0].share_right().value(), 100.0 / 3, 1e-9);
  const std::string page = class_page(students, course, "");
  EXPECT_TRUE(contains(page, ">33 %</td>"));
  EXPECT_TRUE(contains(page, "Each of the 3 devices gets all 53 training images"));
  EXPECT_TRUE(contains(page, "2 <span lang=\"en\">students"));
}

TEST(Summary, CountsMarksThatAreGoneOnceAStudent) {
  std::vector<StudentRecord> records;
  for (const char* name : {"a", "b"}) {
    TaskRecord& task = records.emplace_back(student_with(name, Verdict::pass)).tasks["multi_gpu"];
    for (int i = 0; i < 7; ++i) {
      BlankVerdict& verdict = task.check->verdicts[static_cast<std::size_t>(i)];
      const std::string blank = std::to_string(i + 1);
      verdict = {i + 1, Verdict::compile, Finding{"blank_missing", {{"blank", blank}}}, 0, verdict.of};
    }
  }
  const Course course = course_for_tests();
  const std::vector<StudentMarks> students = marks_of_class(records, course);
  const ClassSummary summary = summary_of(students, course);
  ASSERT_EQ(summary.misconceptions.size(), 1u);
  EXPECT_EQ(summary.misconceptions[0].students.size(), 2u);
  EXPECT_FALSE(summary.misconceptions[0].blank);
  EXPECT_TRUE(contains(class_page(students, course, ""), "multi_gpu: <span lang=\"en\">the file<"));
}

TEST(Summary, CountsSpeedupsThatAreStillToBeMeasured) {
  std::vector<StudentRecord> records{student_with("a", Verdict::pass)};
  records[0].tasks["multi_gpu"].timed = false;
  for (const bool timings : {false, true}) {
    const Course course = course_for_tests(timings ? 20 : 0);
    const std::vector<StudentMarks> students = marks_of_class(records, course);
    EXPECT_EQ(summary_of(students, course).n_untimed, timings);
    EXPECT_EQ(contains(class_page(students, course, ""), "http-equiv=\"refresh\""), timings);
  }
}

}  // namespace
}  // namespace odori::grader
