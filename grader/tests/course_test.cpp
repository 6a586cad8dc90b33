// SPDX-License-Identifier: Apache-2.0
// What an instructor and the platforms say about a class: settings, overrides, lists of students, times.
#include <gtest/gtest.h>

#include <fstream>

#include "blanks/task.h"
#include "classroom/course/csv.h"
#include "classroom/course/overrides.h"
#include "classroom/course/roster.h"
#include "classroom/course/settings.h"
#include "classroom/course/times.h"
#include "classroom/refusal.h"
#include "files/file.h"

namespace odori::grader {
namespace {

namespace fs = std::filesystem;

class CourseTest : public testing::Test {
 protected:
  fs::path write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_.path() / name) << text;
    return folder_.path() / name;
  }
  Settings settings(const std::string& json) const { return read_settings(write("course.json", json)); }
  /// The key of what is thrown, or "taken".
  static std::string refusal(const std::function<void()>& read) {
    try {
      read();
    } catch (const Refusal& refusal) {
      return refusal.finding().key;
    }
    return "taken";
  }

  const TemporaryFolder folder_{fs::path(testing::TempDir()) / "odori_course_"};
};

TEST(Csv, IsReadAsPlatformsAndSpreadsheetsWriteIt) {
  using Rows = std::vector<std::vector<std::string>>;
  EXPECT_EQ(parse_csv("\xEF\xBB\xBF"
                      "a,b\r\n1,2\r\n"),
            (Rows{{"a", "b"}, {"1", "2"}}));
  EXPECT_EQ(parse_csv("a;b\n\"1;\"\"2\"\"\n3\"; x \n\n;\n4;5"), (Rows{{"a", "b"}, {"1;\"2\"\n3", "x"}, {"4", "5"}}));
  EXPECT_EQ(parse_csv("a\tb, c\td\n1\t2"), (Rows{{"a", "b, c", "d"}, {"1", "2"}}));
  EXPECT_TRUE(parse_csv("").empty());
  const CsvTable table("Full Name,Email\nKim");
  EXPECT_EQ(table.at(0, "full name"), "Kim");
  EXPECT_EQ(table.at(0, "email") + table.at(0, "id"), "");
}

TEST(Times, AreThoseOfInstructorsAndPlatforms) {
  const auto noon = seconds_of_time("2026-12-01T12:00Z");
  ASSERT_EQ(noon, 1'796'126'400);
  for (const char* same : {"2026-12-01 12:00:00.861687000 Z", "2026-12-01T21:00:00+09:00", "2026-12-01 07:00 -0500",
                           "2026-12-01 12:00:59 UTC"})
    EXPECT_EQ(seconds_of_time(same).value_or(0) / 60, *noon / 60) << same;
  const auto local = seconds_of_time("2026-12-01T18:00");
  ASSERT_TRUE(local);
  EXPECT_EQ(time_text(*local), "2026-12-01 18:00");
  EXPECT_EQ(seconds_of_time("Tuesday, 1 December 2026, 6:00 PM"), local);
  EXPECT_EQ(seconds_of_time("1 December 2026, 18:00"), local);
  EXPECT_EQ(seconds_of_time("Tuesday, 1 December 2026, 12:05 AM"), seconds_of_time("2026-12-01 00:05"));
  for (const char* none : {"", "-", "2026-12-01", "2026-04-31T12:00", "2026-12-01T25:00", "2026-12-01T12:60", "soon",
                           "1 Smarch 2026, 6:00 PM", "1 December 2026, 13:00 PM"})
    EXPECT_FALSE(seconds_of_time(none)) << none;
  EXPECT_EQ(days_of_month_exceeded("2026-11-31T18:00"), 30);
  EXPECT_EQ(days_of_month_exceeded("2026-02-29T18:00+09:00"), 28);
  for (const char* none : {"", "2028-02-29T18:00", "2026-13-31T18:00", "31 November 2026, 18:00"})
    EXPECT_FALSE(days_of_month_exceeded(none)) << none;
}

TEST_F(CourseTest, SettingsHaveDefaults) {
  const Settings none = read_settings(folder_.path() / "nowhere.json"), empty = settings("{}");
  for (const Settings& defaults : {none, empty}) {
    EXPECT_EQ(defaults.terms.tasks(), (std::vector<std::string>{"multi_gpu", "multi_node"}));
    EXPECT_EQ(defaults.terms.speedup, 20);
    EXPECT_TRUE(defaults.terms.timings());
  }
}

TEST_F(CourseTest, SettingsAreReadAsTheyWereWritten) {
  const Settings all = settings(R"({"title": "PC", "language": "ja", "tasks": {"ring": 2, "multi_gpu": 1}, "speedup": 0,
                                    "deadline": "2026-12-01T18:00", "late": "10%/day", "roster": ["a.csv"]})");
  EXPECT_EQ(all.terms.tasks(), (std::vector<std::string>{"multi_gpu", "ring"}));
  EXPECT_FALSE(all.terms.timings());
  write_settings(folder_.path() / "again.json", all);
  const Settings again = read_settings(folder_.path() / "again.json");
  EXPECT_EQ(again.terms, all.terms);
  EXPECT_EQ(again.title + again.language + again.roster.at(0), "PCjaa.csv");
  EXPECT_EQ(differences(all.terms, usual_terms()),
            R"(tasks: {"multi_gpu":1,"ring":2} -> {"multi_gpu":1,"multi_node":1}; speedup: 0 -> 20; )"
            R"(deadline: "2026-12-01T18:00" -> null; late: "10%/day" -> null)");
}

TEST_F(CourseTest, AWrongSettingIsNamed) {
  const std::vector<std::pair<std::string, std::string>> wrong{
      {"[]", "course_damaged"},
      {"{\"tasks\": ", "course_damaged"},
      {"{\"task\": {}}", "course_unknown_field"},
      {"{\"tasks\": [\"ring\"]}", "course_tasks"},
      {"{\"tasks\": {}}", "course_tasks"},
      {"{\"tasks\": {\"rings\": 1}}", "course_tasks"},
      {"{\"tasks\": {\"ring\": 0}}", "course_tasks"},
      {"{\"speedup\": 100}", "course_speedup"},
      {"{\"speedup\": true}", "course_speedup"},
      {"{\"deadline\": \"2026-12-01\"}", "course_deadline"},
      {"{\"deadline\": \"2026-11-31T18:00\"}", "course_deadline_day"},
      {"{\"late\": \"10 points\"}", "course_late"},
      {"{\"late\": \"-5%/day\"}", "course_late"},
      {"{\"late\": \"nan%/day\"}", "course_late"},
      {"{\"language\": \"de\"}", "course_language"},
      {"{\"title\": 3}", "course_title"},
      {"{\"roster\": \"a.csv\"}", "course_roster"}};
  for (const auto& [json, key] : wrong) EXPECT_EQ(refusal([&] { settings(json); }), key) << json;
}

TEST(Late, IsCountedInDaysBegun) {
  Terms terms{.weights = {}, .speedup = 20, .deadline = "2026-12-01T18:00Z", .late = "7.5%/day"};
  const std::int64_t deadline = 1'796'148'000, day = 86'400;
  EXPECT_FALSE(late_of(terms, deadline));
  EXPECT_FALSE(late_of(terms, 0));
  EXPECT_EQ(late_of(terms, deadline + 1), (Late{1, 7.5, false}));
  EXPECT_EQ(late_of(terms, deadline + day), (Late{1, 7.5, false}));
  EXPECT_EQ(late_of(terms, deadline + day + 1), (Late{2, 15, false}));
  EXPECT_EQ(late_of(terms, deadline + 99 * day), (Late{99, 100, false}));
  terms.late.clear();
  EXPECT_EQ(late_of(terms, deadline + 1), (Late{1, 0, false}));
  terms.late = "refuse";
  EXPECT_EQ(late_of(terms, deadline + 1), (Late{1, 100, true}));
  terms.deadline.clear();
  EXPECT_FALSE(late_of(terms, deadline + 1));
}

TEST(Roster, IsReadInTheFormsOfThePlatforms) {
  const auto moodle = read_roster(
      "Identifier,Full name,Email address,Status,Grade,Last modified (submission)\n"
      "Participant 4009,Kim Min,kim@example.org,Submitted,,\"Tuesday, 1 December 2026, 6:00 PM\"\n"
      "Participant 4010,田中 太郎,tanaka@example.org,No submission,,-\n",
      "Grades.csv");
  ASSERT_EQ(moodle.size(), 2u);
  EXPECT_EQ(moodle[0].person, (Person{.name = "Kim Min", .email = "kim@example.org", .moodle = "4009"}));
  EXPECT_EQ(moodle[0].submitted, seconds_of_time("2026-12-01T18:00"));
  EXPECT_EQ(moodle[1].submitted, 0);
  const auto github = read_roster(
      "\"identifier\",\"github_username\",\"github_id\",\"name\"\n"
      "\"Sato Ken\",\"satok\",\"1\",\"\"\n\"ito@example.org\",\"\",\"\",\"Ito\"\n",
      "r.csv");
  ASSERT_EQ(github.size(), 2u);
  EXPECT_EQ(github[0].person, (Person{.name = "Sato Ken", .github = "satok"}));
  EXPECT_EQ(github[1].person, (Person{.name = "Ito", .email = "ito@example.org"}));
  const auto grades = read_roster(
      "assignment_name,github_username,roster_identifier,submission_timestamp\n"
      "tasks,satok,Sato Ken,2026-12-01 12:00:00 UTC\n",
      "grades.csv");
  EXPECT_EQ(grades.at(0).submitted, 1'796'126'400);
  const auto canvas = read_roster(
      "Student,ID,SIS User ID,SIS Login ID,Section,Task 1 (99)\n    Points Possible,,,,,100\n"
      "\"Brien, O'Neil\",12,s1,obrien,A,\n\"Student, Test\",13,,,A,\n",
      "canvas.csv");
  ASSERT_EQ(canvas.size(), 1u);
  EXPECT_EQ(canvas[0].person,
            (Person{.name = "Brien, O'Neil", .canvas = "12", .sis = "s1", .login = "obrien", .section = "A"}));
  const auto gradescope = read_roster("First Name,Last Name,SID,Email\nMei,Suzuki,333,mei@example.org\n", "g.csv");
  EXPECT_EQ(gradescope.at(0).person, (Person{.name = "Mei Suzuki", .email = "mei@example.org", .id = "333"}));
  EXPECT_THROW(read_roster("blank,points\n1,2\n", "x.csv"), Refusal);
}

TEST(Roster, ListsCompleteEachOther) {
  std::vector<RosterEntry> roster{{{.name = "Kim Min", .email = "kim@example.org"}, 0},
                                  {{.name = "Lee", .email = "lee@example.org"}, 0}};
  merge_roster(roster, {{{.email = "KIM@example.org", .id = "77"}, 5},
                        {{.name = "kim min", .github = "kimm"}, 0},
                        {{.name = "Lee", .email = "another.lee@example.org"}, 0}});
  ASSERT_EQ(roster.size(), 3u);
  EXPECT_EQ(roster[0].person, (Person{.name = "Kim Min", .email = "kim@example.org", .id = "77", .github = "kimm"}));
  EXPECT_EQ(roster[0].submitted, 5);
  EXPECT_EQ(roster[2].person.email, "another.lee@example.org") << "two people of one name";
}

TEST(Gradescope, SaysWhoSubmittedAndWhen) {
  const auto all = read_submission_metadata(
      "---\nsubmission_1:\n  :submitters:\n  - :name: First O'Last\n    :sid: '123'\n    :email: first@example.org\n"
      "  :created_at: 2026-12-01 12:00:00.861687000 Z\n  :score: 2.0\n  :results:\n    score: 2.0\n    output: |-\n"
      "      :name: Evil\nsubmission_2:\n  :submitters:\n  - :name: \"A \\\"B\\\"\"\n    :email: a@example.org\n"
      "  - :name: 'O''Brien'\n    :email: b@example.org\n  :history:\n  - :created_at: 2020-01-01 00:00:00 Z\n");
  ASSERT_EQ(all.at("submission_1").people.size(), 1u);
  EXPECT_EQ(all.at("submission_1").people[0],
            (Person{.name = "First O'Last", .email = "first@example.org", .id = "123"}));
  EXPECT_EQ(all.at("submission_1").submitted, 1'796'126'400);
  ASSERT_EQ(all.at("submission_2").people.size(), 2u);
  EXPECT_EQ(all.at("submission_2").people[0].name + all.at("submission_2").people[1].name, "A \"B\"O'Brien");
  EXPECT_TRUE(read_submission_metadata("no: yaml of Gradescope\n").empty());
}

TEST_F(CourseTest, OverridesAreReadForStudentsHoweverTheyAreNamed) {
  const std::vector<KnownStudent> students{{"Kim Min_4009", {{.name = "Kim Min", .email = "kim@example.org"}}},
                                           {"aoki", {}},
                                           {"Lee_1", {{.name = "Lee"}}},
                                           {"Lee_2", {{.name = "Lee"}}}};
  const std::map<std::string, std::map<int, double>> points{{"multi_gpu", {{0, 20}, {1, 25}, {2, 5}}},
                                                            {"ring", {{1, 100}}}};
  const auto read = [&](const std::string& lines) {
    return read_overrides(write("overrides.csv", "student,task,blank,points,file,comment\n" + lines), students, points);
  };
  EXPECT_TRUE(read_overrides(folder_.path() / "none.csv", students, points).empty());
  const Overrides all = read(
      "kim@example.org,multi_gpu,1,12.5,,\"good, though\"\nKIM MIN,multi_gpu,speedup,20,,\nKim Min_4009,ring,,55,,\n"
      "aoki,,late,0,,ill\naoki,multi_gpu,,,old/a.cpp,\n");
  const StudentOverrides &kim = all.at("Kim Min_4009"), &aoki = all.at("aoki");
  EXPECT_EQ(kim.points.at({"multi_gpu", 1}), (Override{12.5, "good, though"}));
  EXPECT_EQ(kim.points.at({"multi_gpu", 0}).points, 20);
  EXPECT_EQ(kim.points.at({"ring", whole_task}).points, 55);
  EXPECT_EQ(aoki.late.size(), 2u);
  EXPECT_EQ(aoki.late.at("ring"), (Override{0, "ill"}));
  EXPECT_EQ(aoki.files, (std::vector<std::string>{"old/a.cpp"}));
  const std::vector<std::pair<std::string, std::string>> wrong{
      {"nobody,ring,1,1,,", "override_no_student"}, {"Lee,ring,1,1,,", "student_ambiguous"},
      {"aoki,rings,1,1,,", "override_no_task"},     {"aoki,ring,2,1,,", "override_no_blank"},
      {"aoki,ring,0,1,,", "override_no_blank"},     {"aoki,multi_gpu,2,6,,", "override_points"},
      {"aoki,ring,1,-1,,", "override_points"},      {"aoki,ring,1,x,,", "override_points"},
      {"aoki,ring,,101,,", "override_points"},      {"aoki,ring,1,,,", "override_without_points"}};
  for (const auto& [line, key] : wrong) EXPECT_EQ(refusal([&] { read(line); }), key) << line;
  EXPECT_EQ(refusal([&] { read_overrides(write("o.csv", "student,points\naoki,1\n"), students, points); }),
            "override_headings");
}

TEST_F(CourseTest, AnUnknownStudentIsToldSomeNamesAndThatThereAreMore) {
  std::vector<KnownStudent> students;
  for (const char* name : {"aaaa", "bbbb", "cccc", "dddd", "eeee", "ffff"}) students.push_back({name, {}});
  const auto names = [&] {
    try {
      student_meant("somebody else", students, "no_such_student", {});
    } catch (const Refusal& refusal) {
      return refusal.finding().values.at("names");
    }
    return std::string();
  };
  EXPECT_EQ(names(), "aaaa, bbbb, cccc, dddd, eeee, ...");
  students.pop_back();
  EXPECT_EQ(names(), "aaaa, bbbb, cccc, dddd, eeee");
}

}  // namespace
}  // namespace odori::grader
