// SPDX-License-Identifier: Apache-2.0
// Figures and texts of a class's reports.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "class_report_fixture.h"
#include "classroom/reports/anonymous.h"
#include "classroom/reports/formats.h"
#include "classroom/reports/looks.h"
#include "classroom/reports/sanitized.h"
#include "classroom/reports/summary.h"

namespace odori::grader {
namespace {

using Json = nlohmann::json;

StudentMarks marks_with(Verdict verdict) { return marks_of(student_with("aoki", verdict), course_for_tests()); }

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

TEST(Marks, AddUpPointsOfAllTasks) {
  const StudentMarks right = marks_with(Verdict::pass), wrong = marks_with(Verdict::wrong);
  EXPECT_EQ(right.points, 200);
  EXPECT_EQ(right.of, 200);
  EXPECT_EQ(wrong.points, 0);
  EXPECT_EQ(wrong.of, 200);
}

TEST(Marks, LeaveOutWhatCannotBeMeasured) {
  const StudentMarks marks = marks_with(Verdict::inconclusive);
  EXPECT_EQ(marks.points, 160);
  EXPECT_EQ(marks.of, 160);
  EXPECT_EQ(marks.full, 200);
  EXPECT_EQ(marks.scaled(), 200);
}

TEST(Marks, LeaveOutASpeedupThatNobodyAskedFor) {
  StudentRecord record = student_with("aoki", Verdict::pass);
  record.tasks["multi_gpu"].check->verdicts.back() = {0, Verdict::not_checked, Finding{"speedup_not_asked", {}}, 0, 20};
  EXPECT_EQ(marks_of(record, course_for_tests()).of, 180);
  record.tasks["multi_gpu"].check->verdicts.back().finding->key = "speedup_waits";
  EXPECT_EQ(marks_of(record, course_for_tests()).of, 200);
}

TEST(Marks, LeaveOutAllSpeedupsWhereNoneIsMeasured) {
  Course course = course_for_tests();
  course.timings = false;
  EXPECT_EQ(marks_of(student_with("aoki", Verdict::wrong), course).of, 160);
  EXPECT_EQ(marks_of(student_with("aoki", Verdict::pass), course).of, 160);
  EXPECT_EQ(marks_of(StudentRecord{.name = "aoki", .tasks = {}}, course).of, 160);
  const TaskRecord wrong = student_with("aoki", Verdict::wrong).tasks.at("multi_gpu");
  EXPECT_EQ(marks_of(wrong, course).of, 80) << "as on the screen";
}

TEST(Marks, SayOfASpeedupThatItIsNotCountedAndNotWhichFlagCheckHad) {
  Course course = course_for_tests();
  StudentRecord record = student_with("aoki", Verdict::pass);
  BlankVerdict& speedup = record.tasks["multi_gpu"].check->verdicts.back();
  for (const char* key : {"speedup_not_asked", "speedup_waits"})
    for (const bool timings : {false, true}) {
      course.timings = timings;
      speedup = {0, Verdict::not_checked, Finding{key, {}}, 0, 20};
      const StudentMarks marks = marks_of(record, course);
      const bool counts = timings && key == std::string("speedup_waits");
      EXPECT_EQ(marks.tasks[0].marks.back().verdict->finding->key, counts ? key : "speedup_not_measured");
      for (const std::string& text : {student_page(marks, course), gradescope_of(marks, course)}) {
        EXPECT_EQ(contains(text, "The speedup wasn"), !counts) << key;
        EXPECT_EQ(contains(text, "速度向上は計測していないので、採点に含めません。"), !counts) << key;
        EXPECT_FALSE(contains(text, "Not measured here"));
      }
    }
}

TEST(Marks, SayOfAMissingFileThatItWasNotHandedIn) {
  StudentRecord record = student_with("aoki", Verdict::pass);
  BlankVerdict& script = record.tasks["multi_gpu"].check->verdicts[7];
  script = {8, Verdict::compile, Finding{"file_missing", {{"file", "run_multi_gpu_training.sh"}}}, 0, 5};
  const std::vector<StudentRecord> records{record};
  const Course course = course_for_tests();
  const std::vector<StudentMarks> students = marks_of_class(records, course);
  const std::string text = gradescope_of(students[0], course);
  EXPECT_TRUE(contains(text, "run_multi_gpu_training.sh wasn't handed in, or can't be read"));
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
  EXPECT_EQ(half.points, 100);
  EXPECT_EQ(half.of, 200);
}

TEST(Gradescope, HasATestABlankAndTheirSum) {
  const Json json = Json::parse(gradescope_of(marks_with(Verdict::pass), course_for_tests()));
  EXPECT_EQ(json.at("score"), 200);
  ASSERT_EQ(json.at("tests").size(), 9u + 8u);
  double sum = 0;
  for (const Json& test : json.at("tests")) {
    sum += test.at("score").get<double>();
    EXPECT_EQ(test.at("status"), "passed");
    EXPECT_EQ(test.at("output_format"), "text");
  }
  EXPECT_EQ(sum, 200);
  EXPECT_EQ(json.at("tests")[3].at("number"), "1.4");
  EXPECT_EQ(json.at("tests")[9].at("number"), "2.1");
}

TEST(Gradescope, ScalesWhatCannotBeMeasured) {
  const Json json = Json::parse(gradescope_of(marks_with(Verdict::inconclusive), course_for_tests()));
  EXPECT_EQ(json.at("score"), 200);
  EXPECT_FALSE(json.at("tests")[8].contains("score"));
  EXPECT_FALSE(json.at("tests")[8].contains("status"));
  EXPECT_TRUE(contains(json.at("output"), "160 of 160 points count as 200 of 200"));
}

TEST(Gradescope, MakesUpNoScoreForWhatIsUngraded) {
  StudentRecord record = student_with("aoki", Verdict::pass);
  record.tasks["multi_node"] = {.student = "aoki", .task = "multi_node", .state = RecordState::ungraded};
  const Json json = Json::parse(gradescope_of(marks_of(record, course_for_tests()), course_for_tests()));
  EXPECT_FALSE(json.contains("score"));
  for (const Json& test : json.at("tests")) EXPECT_FALSE(test.contains("score")) << test;
  EXPECT_EQ(json.at("extra_data").at("graded"), false);
  EXPECT_FALSE(json.at("tests")[10].contains("status"));
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
  EXPECT_TRUE(contains(page, "<td class=\"number\">33 %</td>"));
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
  Course course = course_for_tests();
  course.timings = false;
  const std::vector<StudentMarks> students = marks_of_class(records, course);
  EXPECT_EQ(summary_of(students, course).n_untimed, 0);
  EXPECT_FALSE(contains(class_page(students, course, ""), "http-equiv=\"refresh\""));
  course.timings = true;
  EXPECT_EQ(summary_of(students, course).n_untimed, 1);
  EXPECT_TRUE(contains(class_page(students, course, ""), "http-equiv=\"refresh\""));
}

TEST(Plain, NamesWhatCannotBeSeenAndKeepsTheRest) {
  EXPECT_EQ(sanitized("青木 É\n\tcode"), "青木 É\n\tcode");
  EXPECT_EQ(sanitized_line("a\n\tb"), "a⟨U+000A⟩⟨U+0009⟩b");
  EXPECT_EQ(sanitized("\x1b[31m\x7f"), "⟨U+001B⟩[31m⟨U+007F⟩");
  EXPECT_EQ(sanitized("a\u202Eb\u200B\uFEFF"), "a⟨U+202E⟩b⟨U+200B⟩⟨U+FEFF⟩");
  EXPECT_EQ(sanitized("\xff \xc0\xaf \xed\xa0\x80 \xf4\x90\x80\x80 \xe3\x81"),
            "\uFFFD \uFFFD\uFFFD \uFFFD\uFFFD\uFFFD \uFFFD\uFFFD\uFFFD\uFFFD \uFFFD");
  EXPECT_EQ(sanitized("\u2603\uFE0F \U0001F600 \u00AD\u2067\uFFF9\U000E0041\uFDD0"),
            "\u2603\uFE0F \U0001F600 ⟨U+00AD⟩⟨U+2067⟩⟨U+FFF9⟩⟨U+E0041⟩⟨U+FDD0⟩");
  EXPECT_EQ(sanitized("\xff 7.5"), "\uFFFD 7.5");
}

TEST(Plain, CutsWithAMark) {
  EXPECT_EQ(sanitized("123456", 4), "1234 […2]");
  EXPECT_EQ(sanitized("1234", 4), "1234");
  EXPECT_EQ(sanitized("踊踊踊", 2), "踊踊 […3]");
}

TEST(Urls, AreOneName) {
  EXPECT_EQ(url_of("aoki-1_2.~"), "aoki-1_2.~");
  EXPECT_EQ(url_of("javascript:a"), "javascript%3Aa");
  EXPECT_EQ(url_of("../x?a#b"), "..%2Fx%3Fa%23b");
  EXPECT_EQ(url_of("踊\"'<&"), "%E8%B8%8A%22%27%3C%26");
}

TEST(Csv, KeepsFormulasFromBeingFormulas) {
  for (const char* formula : {"=1", "+1", "-1", "@a", "\t=1", "\r=1", "＝1", "＋1", "－1", "＠a", "  =1", "　=1"})
    EXPECT_EQ(csv_field(formula).substr(csv_field(formula)[0] == '"', 1), "'") << formula;
  EXPECT_EQ(csv_field("aoki"), "aoki");
  EXPECT_EQ(csv_field("a=b"), "a=b");
  EXPECT_EQ(csv_field("a,\"b\""), "\"a,\"\"b\"\"\"");
}

TEST(Csv, BeginsWithAMarkThatExcelKnowsAndEndsLinesAsStandardsSay) {
  const std::vector<StudentRecord> records{student_with("aoki", Verdict::pass)};
  const Course course = course_for_tests();
  const std::string csv = csv_of(marks_of_class(records, course), course);
  EXPECT_TRUE(csv.starts_with("\xEF\xBB\xBFname,multi_gpu_state,"));
  EXPECT_TRUE(csv.ends_with(",200,200,100,no\r\n")) << csv;
}

}  // namespace
}  // namespace odori::grader
