// SPDX-License-Identifier: Apache-2.0
// The files of a class for spreadsheets and platforms, and texts made fit to be shown.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "class_report_fixture.h"
#include "classroom/reports/formats.h"
#include "classroom/reports/sanitized.h"
#include "classroom/reports/uploads.h"

namespace odori::grader {
namespace {

using Json = nlohmann::json;

StudentMarks marks_with(Verdict verdict) { return marks_of(student_with("aoki", verdict), course_for_tests()); }

TEST(Gradescope, HasATestABlankAndTheMark) {
  const Json json = Json::parse(gradescope_of(marks_with(Verdict::pass), course_for_tests()));
  EXPECT_EQ(json.at("score"), 100);
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

TEST(Gradescope, HasNoScoreForWhatCannotBeMeasured) {
  const Json json = Json::parse(gradescope_of(marks_with(Verdict::inconclusive), course_for_tests()));
  EXPECT_EQ(json.at("score"), 100);
  EXPECT_FALSE(json.at("tests")[8].contains("score"));
  EXPECT_FALSE(json.at("tests")[8].contains("status"));
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
  EXPECT_TRUE(csv.starts_with("\xEF\xBB\xBFname,email,id,folder,multi_gpu_state,"));
  EXPECT_TRUE(csv.ends_with(",100,no\r\n")) << csv;
}

TEST(Uploads, HaveTheColumnsOfThePlatforms) {
  Course course = course_for_tests();
  course.title = "Task, 1";
  StudentRecord kim = student_with("Kim Min_4009", Verdict::pass);
  kim.people = {{.name = "Kim Min",
                 .email = "kim@example.org",
                 .id = "77",
                 .moodle = "4009",
                 .canvas = "12",
                 .sis = "s1",
                 .login = "kim",
                 .section = "A"}};
  StudentRecord waits{.name = "aoki", .tasks = {}, .people = {}};
  const std::vector<StudentMarks> students = marks_of_class({kim, waits}, course);
  EXPECT_EQ(moodle_upload(students, course),
            "Identifier,\"Full name\",\"Email address\",Status,Grade,\"Maximum Grade\",\"Grade can be changed\","
            "\"Last modified (submission)\",\"Last modified (grade)\",\"Feedback comments\"\r\n"
            "\"Participant 4009\",\"Kim Min\",kim@example.org,,100,100,Yes,,\"2026-11-21 15:00\","
            "\"multi_gpu: 100 of 100 points multi_node: 100 of 100 points\"\r\n");
  EXPECT_EQ(canvas_upload(students, course),
            "Student,ID,\"SIS User ID\",\"SIS Login ID\",Section,\"Task, 1\"\r\n"
            "\"    Points Possible\",,,,,100\r\n\"Kim Min\",12,s1,kim,A,100\r\naoki,,,,,\r\n");
  EXPECT_EQ(gradescope_upload(students, course),
            "Name,Email,SID,\"Total Score\",\"Max Points\"\r\n\"Kim Min\",kim@example.org,77,100,100\r\n"
            "aoki,,,,100\r\n");
}

TEST(Uploads, HaveALineForEachOfAGroup) {
  StudentRecord record = student_with("submission_1", Verdict::pass);
  record.people = {{.name = "Aoki", .email = "a@example.org"}, {.name = "Baba", .email = "b@example.org"}};
  const Course course = course_for_tests();
  EXPECT_TRUE(gradescope_upload(marks_of_class({record}, course), course)
                  .ends_with("Aoki,a@example.org,,100,100\r\nBaba,b@example.org,,100,100\r\n"));
}

}  // namespace
}  // namespace odori::grader
