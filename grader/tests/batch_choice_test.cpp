// SPDX-License-Identifier: Apache-2.0
// Which file of a student is marked, who the student is, and when the file came.
#include "blanks/task.h"
#include "classroom/course/times.h"
#include "intake_fixture.h"

namespace odori::grader {
namespace {

const std::string copy = "train_cifar_multi_gpu (1).cpp";

std::string exercise() { return read_file(fs::path(ODORI_FOLDER) / "exercises/01_multi_gpu" / gpu); }

/// The exercise with one blank filled in.
std::string answer(const std::string& text) {
  std::vector<std::string> lines = split_lines(exercise());
  return join_lines(with_text(lines, parse_blanks(lines, gpu).at(1), {text}));
}

const ChosenFile& chosen(const Student& student) { return student.tasks.at("multi_gpu").files.at(0); }

TEST_F(IntakeTest, TheUnfilledExerciseLosesToAnyOther) {
  write("aoki/" + gpu, exercise());
  write("aoki/deep/deeper/" + copy, answer("int a = 1;"));
  set_time("aoki/" + gpu, 9000);
  write("baba/exercises/01_multi_gpu/" + gpu, "\r\n" + exercise());
  fs::rename(make("x.zip", "z.writestr('" + gpu + "', r'''" + answer("int b = 1;") + "''')"),
             class_ / "baba/homework.zip");
  write("chiba/" + gpu, exercise());
  write("doi/" + gpu, exercise());
  write("doi/x/" + gpu, "  \n");
  const Intake intake = take();
  EXPECT_EQ(program(intake.students[0]), answer("int a = 1;"));
  EXPECT_FALSE(flagged(intake.students[0], "flag_several_files")) << "there is no question which one is meant";
  EXPECT_EQ(chosen(intake.students[0]).taken, "deep/deeper/" + copy);
  ASSERT_EQ(chosen(intake.students[0]).others.size(), 1u);
  EXPECT_EQ(chosen(intake.students[0]).others[0].file, gpu);
  EXPECT_FALSE(chosen(intake.students[0]).others[0].filled);
  EXPECT_EQ(program(intake.students[1]), answer("int b = 1;"));
  EXPECT_EQ(program(intake.students[2]), exercise()) << "there is no other";
  EXPECT_EQ(program(intake.students[3]), exercise()) << "an empty file is no better";
}

TEST_F(IntakeTest, AProgramAsItWasGivenLosesToOneThatIsRepaired) {
  const fs::path kit = ODORI_FOLDER, file = kit / "exercises/13_debugging/debugging.cpp";
  const std::string given = read_file(file), repaired = read_file(kit / "solutions/13_debugging/debugging.cpp");
  write("aoki/debugging.cpp", given);
  write("aoki/old/debugging.cpp", repaired);
  set_time("aoki/debugging.cpp", 9000);
  Choosing choosing;
  choosing.kit = kit;
  EXPECT_EQ(take_with(choosing).students[0].tasks.at("debugging").program, repaired);
}

TEST_F(IntakeTest, TheNewestAnswerCountsWhateverItsName) {
  write("ito/" + gpu, answer("int old = 1;"));
  write("ito/" + copy, answer("int corrected = 1;"));
  set_time("ito/" + gpu, 0);
  set_time("ito/" + copy, 400'000);
  const Intake intake = take();
  EXPECT_EQ(program(intake.students[0]), answer("int corrected = 1;"));
  EXPECT_TRUE(flagged(intake.students[0], "flag_several_files"));
  EXPECT_EQ(chosen(intake.students[0]).others.at(0).file, gpu);
}

TEST_F(IntakeTest, AnInstructorChoosesAnotherFile) {
  write("ito/old/" + gpu, answer("int old = 1;"));
  write("ito/" + copy, answer("int corrected = 1;"));
  set_time("ito/old/" + gpu, 0);
  write("../overrides.csv", "student,task,blank,points,file\nito,,,,old/" + gpu + "\n");
  const Choosing choosing{.terms = {}, .roster = {}, .overrides = folder_ / "overrides.csv", .points_of = {}};
  const Intake intake = take_with(choosing);
  EXPECT_EQ(program(intake.students[0]), answer("int old = 1;"));
  EXPECT_FALSE(flagged(intake.students[0], "flag_several_files")) << "it was looked at";
  write("../overrides.csv", "student,task,blank,points,file\nito,,,,new.cpp\n");
  EXPECT_EQ(refusal(class_, choosing), "override_no_file");
}

TEST_F(IntakeTest, WhereLateFilesAreRefusedTheLastInTimeCounts) {
  write("ito/" + gpu, answer("int in_time = 1;"));
  write("ito/" + copy, answer("int late = 1;"));
  write("late/" + gpu, answer("int late = 2;"));
  const auto hours_ago = [&](const std::string& path, int n) {
    fs::last_write_time(class_ / path, fs::file_time_type::clock::now() - std::chrono::hours(n));
  };
  hours_ago("ito/" + gpu, 5);
  Choosing choosing;
  choosing.terms.deadline = time_text(std::time(nullptr) - 3600);
  EXPECT_EQ(program(take_with(choosing).students[0]), answer("int late = 1;"));
  choosing.terms.late = "refuse";
  EXPECT_EQ(program(take_with(choosing).students[0]), answer("int in_time = 1;"));
  EXPECT_EQ(program(take_with(choosing).students[1]), answer("int late = 2;")) << "it is marked, and gets no points";
}

TEST_F(IntakeTest, MoodlesFoldersAreOneStudentWithANameAndANumber) {
  write("田中 太郎_4001_assignsubmission_file_/" + gpu, "a");
  write("田中 太郎_4001_assignsubmission_onlinetext_/onlinetext.html", "<p>done</p>");
  write("Kim Min_4009_assignsubmission_file/" + gpu, "k");
  write("Hana_4010_assignsubmission_onlinetext_/onlinetext.html", "<p>by mail</p>");
  const Intake intake = take();
  ASSERT_EQ(names(intake), "Hana_4010, Kim Min_4009, 田中 太郎_4001");
  EXPECT_EQ(intake.students[1].people, (std::vector<Person>{{.name = "Kim Min", .moodle = "4009"}}));
  EXPECT_EQ(intake.students[2].people.at(0).name, "田中 太郎");
  EXPECT_EQ(program(intake.students[2]), "a");
  EXPECT_TRUE(flagged(intake.students[0], "flag_other_names"));
}

TEST_F(IntakeTest, GradescopeSaysWhoAndWhen) {
  write("export/submission_1/" + gpu, "a");
  write("export/submission_2/" + gpu, "b");
  write("export/submission_metadata.yml",
        "submission_1:\n  :submitters:\n  - :name: Kim Min\n    :email: kim@example.org\n"
        "  :created_at: 2026-12-01 12:00:00.8 Z\n");
  const Intake intake = take();
  ASSERT_EQ(names(intake), "submission_1, submission_2");
  EXPECT_EQ(intake.students[0].people, (std::vector<Person>{{.name = "Kim Min", .email = "kim@example.org"}}));
  EXPECT_EQ(intake.students[0].tasks.at("multi_gpu").submitted, 1'796'126'400);
  EXPECT_GT(intake.students[1].tasks.at("multi_gpu").submitted, 0) << "the file's";
  EXPECT_EQ(intake.problems, (std::vector<Finding>{{"class_in_one_folder", {{"folder", "export"}}}}));
}

TEST_F(IntakeTest, TheRosterNamesStudentsAndThoseWhoSubmittedNothing) {
  write("tasks-satok/" + gpu, "s");
  write("tasks-satok/.git/HEAD", "ref");
  write("tasks-unknown/" + gpu, "u");
  write("classroom_roster.csv", "identifier,github_username,github_id,name\nSato Ken,SatoK,1,\nLee Ann,,,\n");
  Choosing choosing;
  choosing.roster = {{{.name = "sato ken", .email = "sato@example.org"}, 1'796'126'400}};
  const Intake intake = take_with(choosing);
  ASSERT_EQ(names(intake), "Lee Ann, tasks-satok, tasks-unknown");
  EXPECT_EQ(intake.students[1].people,
            (std::vector<Person>{{.name = "sato ken", .email = "sato@example.org", .github = "SatoK"}}));
  EXPECT_EQ(intake.students[1].tasks.at("multi_gpu").submitted, 1'796'126'400);
  EXPECT_TRUE(intake.students[0].tasks.at("multi_gpu").absent());
  EXPECT_TRUE(intake.students[2].people.empty());
  EXPECT_TRUE(flagged(intake.students[2], "flag_not_listed"));
  EXPECT_FALSE(flagged(intake.students[1], "flag_not_listed"));
  EXPECT_TRUE(intake.problems.empty());
}

TEST_F(IntakeTest, ACloneDoesNotSayWhenItsFilesWereSubmitted) {
  write("aoki/" + gpu, "a");
  write("aoki/.git/HEAD", "ref");
  EXPECT_EQ(take().students[0].tasks.at("multi_gpu").submitted, 0);
  EXPECT_EQ(chosen(take().students[0]).modified, 0);
}

TEST_F(IntakeTest, StudentsAreFoundByAddressNumberAndName) {
  for (const char* folder : {"kim", "77_homework", "Ann Lee", "two", "Two"})
    write(std::string(folder) + "/" + gpu, "x");
  Choosing choosing;
  choosing.roster = {{{.name = "Kim Min", .email = "kim@example.org"}, 0},
                     {{.name = "Baba", .id = "77"}, 0},
                     {{.name = "Lee, Ann"}, 0},
                     {{.name = "two"}, 0}};
  std::map<std::string, std::string> found;
  for (const Student& student : take_with(choosing).students)
    found[student.name.substr(0, student.name.find('~'))] = student.people.empty() ? "-" : student.people[0].name;
  EXPECT_EQ(found["kim"], "Kim Min");
  EXPECT_EQ(found["77_homework"], "Baba");
  EXPECT_EQ(found["Ann Lee"], "Lee, Ann");
  EXPECT_EQ(found["Two"], "-") << "which of both is unknown";
  EXPECT_EQ(found["two (?)"], "two");
}

}  // namespace
}  // namespace odori::grader
