// SPDX-License-Identifier: Apache-2.0
// Submissions of a class: folders, archives, clones of the kit, and attacks.
#include <sys/stat.h>

#include <cctype>
#include <set>

#include "blanks/task.h"
#include "classroom/marking/student_name.h"
#include "intake_fixture.h"

namespace odori::grader {
namespace {

TEST_F(IntakeTest, FilesAnywhereInAStudentsFolder) {
  write("aoki/exercises/01_multi_gpu/" + gpu, "a");
  write("aoki/jobscripts/" + script, "s");
  write("baba/deep/deeper/" + node, "b");
  fs::create_directories(class_ / "chiba");
  write("README.txt", "a teacher's notes");
  const Intake intake = take();
  ASSERT_EQ(names(intake), "aoki, baba, chiba");
  EXPECT_EQ(program(intake.students[0]), "a");
  EXPECT_EQ(intake.students[0].tasks.at("multi_gpu").script.value(), "s");
  EXPECT_EQ(program(intake.students[1], "multi_node"), "b");
  EXPECT_TRUE(intake.students[1].tasks.at("multi_gpu").absent());
  EXPECT_TRUE(intake.students[2].tasks.at("multi_node").absent());
  ASSERT_EQ(intake.problems.size(), 1u);
  EXPECT_EQ(intake.problems[0].key, "nobodys_file");
}

TEST_F(IntakeTest, OfSeveralFilesTheNewestAndThenTheOneInTheKitsPlace) {
  write("aoki/" + gpu, "shallow");
  write("aoki/odori/exercises/01_multi_gpu/" + gpu, "in the kit's place");
  write("baba/x/y/" + gpu, "deep");
  write("baba/x/" + gpu, "less deep");
  write("chiba/old/" + gpu, "old");
  write("chiba/new/" + gpu, "new");
  fs::last_write_time(class_ / "chiba/old" / gpu, fs::file_time_type::clock::now() - std::chrono::hours(5));
  write("doi/a/" + gpu, "the same");
  write("doi/b/" + gpu, "the same");
  set_time("aoki/" + gpu, 5);
  set_time("aoki/odori/exercises/01_multi_gpu/" + gpu, 4);
  set_time("baba/x/y/" + gpu, 30);
  set_time("baba/x/" + gpu, 0);
  const Intake intake = take();
  EXPECT_EQ(program(intake.students[0]), "in the kit's place");
  EXPECT_TRUE(flagged(intake.students[0], "flag_several_files"));
  EXPECT_EQ(program(intake.students[1]), "less deep");
  EXPECT_EQ(program(intake.students[2]), "new");
  EXPECT_EQ(program(intake.students[3]), "the same");
  EXPECT_FALSE(flagged(intake.students[3], "flag_several_files"));
}

/// A clone as of GitHub Classroom: the whole kit, built, with answers of the student's, the kit's, and of the library's
/// file ring.cpp.
void write_clone(const fs::path& clone, bool with_exercises) {
  const auto write = [&](const fs::path& path, const std::string& text) {
    fs::create_directories((clone / path).parent_path());
    std::ofstream(clone / path) << text;
  };
  write("odori", "the driver");
  write("lib/comm/ring.cpp", "of the library");
  write("build-gcc/CMakeCache.txt", "");
  for (const Task& task : all_tasks())
    for (const ExerciseFile& file : task.files()) {
      if (with_exercises) write(file.exercise, "of the student");
      write(file.solution, "of the kit");
      write(fs::path("build-gcc/tests/filled/1") / file.exercise.filename(), "built");
      write("build-gcc/tests/kit" / file.exercise, "built");
      write(fs::path("out/kept") / file.exercise.filename(), "a copy");
    }
}

TEST_F(IntakeTest, OfACloneOfTheKitOnlyTheExercisesAreAnswers) {
  write_clone(class_ / "aoki", true);
  write_clone(class_ / "baba" / "odori", true);
  write_clone(class_ / "chiba", false);
  write_clone(class_ / "doi" / "odori", false);
  const fs::path zip = make("class.zip", "for folder, _, files in os.walk('" + class_.string() +
                                             "'):\n    for f in files:\n        path = os.path.join(folder, f)\n" +
                                             "        z.write(path, os.path.relpath(path, '" + class_.string() + "'))");
  for (const fs::path& submissions : {class_, zip}) {
    const Intake intake = take(submissions);
    ASSERT_EQ(names(intake), "aoki, baba, chiba, doi");
    for (const Task& task : all_tasks())
      for (const std::size_t i : {0, 1}) {
        const HandedIn& answer = intake.students[i].tasks.at(task.name);
        EXPECT_EQ(program(intake.students[i], task.name), "of the student") << task.name;
        if (task.script) {
          EXPECT_EQ(answer.script, "of the student");
        }
        EXPECT_TRUE(answer.flags.empty()) << task.name << ": " << answer.flags.front().key;
        EXPECT_TRUE(intake.students[i + 2].tasks.at(task.name).absent()) << task.name;
        EXPECT_TRUE(flagged(intake.students[i + 2], "flag_not_an_answer", task.name)) << task.name;
        EXPECT_FALSE(flagged(intake.students[i + 2], "flag_other_names", task.name)) << task.name;
      }
  }
}

TEST_F(IntakeTest, NothingInSolutionsOutAndBuildFoldersIsAnAnswer) {
  write("aoki/solutions/01_multi_gpu/" + gpu, "of the kit");
  write("baba/out/kept/" + gpu, "a copy");
  write("chiba/my build/CMakeCache.txt", "");
  write("chiba/my build/x/" + gpu, "built");
  fs::create_directories(class_ / "doi/solutions");
  fs::rename(make("x.zip", "z.writestr('" + gpu + "', 'of the kit')"), class_ / "doi/solutions/01_multi_gpu.zip");
  fs::create_directories(class_ / "endo");
  fs::rename(make("x.zip", "z.writestr('build/x/" + gpu + "', 'built'); z.writestr('build/CMakeCache.txt', '')\n" +
                               "z.writestr('solutions/01_multi_gpu/" + gpu + "', 'of the kit')"),
             class_ / "endo/in.zip");
  write("fujita/build/" + gpu, "built by nobody");
  const Intake intake = take();
  ASSERT_EQ(names(intake), "aoki, baba, chiba, doi, endo, fujita");
  for (const std::size_t i : {0, 1, 2, 3, 4}) {
    EXPECT_EQ(program(intake.students[i]), "none") << i;
    EXPECT_TRUE(flagged(intake.students[i], "flag_not_an_answer")) << i;
  }
  EXPECT_EQ(program(intake.students[5]), "built by nobody");
}

TEST_F(IntakeTest, ACloneThatWasBuiltInPlaceHasAnswers) {
  write_clone(class_ / "aoki", true);
  write("aoki/CMakeCache.txt", "");
  EXPECT_EQ(program(take().students[0]), "of the student");
}

TEST_F(IntakeTest, NoLinkIsFollowedAndNothingButPlainFilesIsTaken) {
  const fs::path secret = folder_ / "secret";
  fs::create_directories(secret);
  std::ofstream(secret / gpu) << "secret";
  fs::create_directories(class_ / "aoki");
  fs::create_symlink(secret / gpu, class_ / "aoki" / gpu);
  fs::create_directory_symlink(secret, class_ / "aoki" / "folder");
  fs::create_directory_symlink(secret, class_ / "baba");
  fs::create_directories(class_ / "chiba");
  mkfifo((class_ / "chiba" / gpu).c_str(), 0600);
  write("doi/" + gpu, std::string(70'000, 'x'));
  const Intake intake = take();
  ASSERT_EQ(names(intake), "aoki, chiba, doi");
  for (const Student& student : intake.students) EXPECT_EQ(program(student), "none") << student.name;
  EXPECT_TRUE(flagged(intake.students[0], "flag_link"));
  EXPECT_TRUE(flagged(intake.students[1], "flag_no_file"));
  EXPECT_TRUE(flagged(intake.students[2], "flag_too_large"));
}

TEST_F(IntakeTest, ArchivesOfFoldersAndArchivesOfArchives) {
  const std::string zip = "z.writestr('aoki/x/" + gpu + "', 'a'); z.writestr('青木/" + gpu + "', 'b')\n" +
                          "b = io.BytesIO(); i = zipfile.ZipFile(b, 'w'); i.writestr('my/" + gpu +
                          "', 'c'); i.close()\n" +
                          "z.writestr('chiba.zip', b.getvalue()); z.writestr('doi/handed in.zip', b.getvalue())";
  Intake intake = take(make("class.zip", zip));
  ASSERT_EQ(names(intake), "aoki, chiba, doi, 青木");
  EXPECT_EQ(program(intake.students[0]) + program(intake.students[1]) + program(intake.students[2]) +
                program(intake.students[3]),
            "accb");
  intake = take(make("class.tar.gz", "add(t, 'aoki/" + gpu + "', 'a'); add(t, './baba/" + gpu + "', 'b')"));
  EXPECT_EQ(names(intake), "aoki, baba");
  // All students in one folder of the archive; but a student's kit isn't a class.
  intake = take(make("wrapped.tar", "add(t, 'class/aoki/" + gpu + "', 'a'); add(t, 'class/baba/" + gpu + "', 'b')"));
  EXPECT_EQ(names(intake), "aoki, baba");
  intake = take(make("one.tar", "add(t, 'aoki/exercises/01_multi_gpu/" + gpu + "', 'a'); add(t, 'aoki/jobscripts/" +
                                    script + "', 'b')"));
  EXPECT_EQ(names(intake), "aoki");
}

TEST_F(IntakeTest, NamesInTheEncodingOfAJapaneseWindows) {
  const fs::path path = make("class.zip", "z.writestr('AABB/" + gpu + "', 'a'); z.writestr('青木/" + gpu + "', 'b')");
  std::string bytes = read_file(path);
  for (auto at = bytes.find("AABB"); at != std::string::npos; at = bytes.find("AABB"))
    bytes.replace(at, 4, "\x90\xc2\x96\xd8");
  std::ofstream(path, std::ios::binary) << bytes;
  const Intake intake = take(path);
  ASSERT_EQ(intake.students.size(), 2u);
  for (const Student& student : intake.students) EXPECT_EQ(student.name.substr(0, 7), "青木~") << "two stay two";
  EXPECT_NE(program(intake.students[0]), program(intake.students[1]));
}

TEST_F(IntakeTest, NamesThatLeadOutLinksAndDevicesInArchives) {
  const Intake intake =
      take(make("class.tar", "add(t, '../../evil/" + gpu + "', 'x'); add(t, '/etc/" + gpu + "', 'x')\n" +
                                 "add(t, 'aoki/../baba/" + gpu + "', 'x'); add(t, 'aoki/ok', '')\n" + "add(t, 'aoki/" +
                                 gpu + "', '', type=tarfile.SYMTYPE, linkname='/etc/passwd')\n" + "add(t, 'aoki/" +
                                 node + "', '', type=tarfile.LNKTYPE, linkname='/etc/passwd')\n" + "add(t, 'aoki/" +
                                 script + "', '', type=tarfile.CHRTYPE)"));
  ASSERT_EQ(names(intake), "aoki");
  EXPECT_EQ(program(intake.students[0]) + program(intake.students[0], "multi_node"), "nonenone");
  EXPECT_TRUE(flagged(intake.students[0], "flag_link"));
  EXPECT_TRUE(flagged(intake.students[0], "flag_link", "multi_node"));
  EXPECT_TRUE(flagged(intake.students[0], "flag_no_file"));
  ASSERT_EQ(intake.problems.size(), 1u);
  EXPECT_EQ(intake.problems[0], (Finding{"archive_leads_out", {{"file", "class.tar"}, {"n", "3"}}}));
  EXPECT_FALSE(fs::exists(folder_.parent_path() / "evil"));
}

TEST_F(IntakeTest, ADamagedArchiveGivesWhatComesBeforeTheDamage) {
  const fs::path path =
      make("class.tar.gz", "add(t, 'aoki/" + gpu + "', 'a')\nfor i in range(200): add(t, f'baba/{i}', " +
                               "''.join(chr(33 + os.urandom(1)[0] % 90) for _ in range(999)))");
  fs::resize_file(path, fs::file_size(path) / 2);
  const Intake intake = take(path);
  EXPECT_EQ(program(intake.students[0]), "a");
  ASSERT_EQ(intake.problems.size(), 1u);
  EXPECT_EQ(intake.problems[0].key, "archive_damaged");
  // Of one student, it is that student's matter.
  write("chiba/handed in.zip", "PK no archive");
  write("doi/" + gpu, "d");
  const Intake others = take();
  EXPECT_TRUE(flagged(others.students[0], "archive_damaged"));
  EXPECT_EQ(program(others.students[1]), "d");
}

TEST_F(IntakeTest, ABombIsLeftAlone) {
  fs::create_directories(class_ / "aoki");
  const fs::path bomb =
      make("bomb.tar.gz", "i = tarfile.TarInfo('big'); i.size = 300 << 20\nclass Z:\n  def read(s, n): " +
                              std::string("return bytes(n)\nt.addfile(i, Z()); add(t, '") + gpu + "', 'behind it')");
  fs::rename(bomb, class_ / "aoki" / "bomb.tar.gz");
  const auto began = std::chrono::steady_clock::now();
  const Intake intake = take();
  EXPECT_TRUE(flagged(intake.students[0], "archive_too_large"));
  EXPECT_EQ(program(intake.students[0]), "none");
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(5));
}

TEST_F(IntakeTest, ArchivesInAStudentsArchiveStayClosed) {
  const std::string nest =
      "def packed(name, data):\n    b = io.BytesIO(); i = zipfile.ZipFile(b, 'w'); i.writestr(name, data); i.close()\n"
      "    return b.getvalue()\n";
  fs::create_directories(class_ / "aoki");
  fs::rename(make("x.zip", nest + "z.writestr('a.zip', packed('" + gpu + "', 'deep'))"), class_ / "aoki/in.zip");
  const std::string long_name(240, 'x');
  fs::create_directories(class_ / "baba");
  fs::rename(make("x.zip", "z.writestr('" + gpu + "', 'long')"), class_ / "baba" / (long_name + ".zip"));
  fs::create_directories(class_ / "chiba");
  for (int i = 10; i < 40; ++i)
    fs::copy(class_ / "baba" / (long_name + ".zip"), class_ / "chiba" / (std::to_string(i) + ".zip"));
  const Intake intake = take();
  EXPECT_EQ(program(intake.students[0]), "none");
  EXPECT_TRUE(flagged(intake.students[0], "flag_closed_archive"));
  EXPECT_EQ(program(intake.students[1]), "long");
  EXPECT_EQ(program(intake.students[2]), "long");
  EXPECT_TRUE(flagged(intake.students[2], "flag_closed_archive"));
}

TEST_F(IntakeTest, OfAnAbsentStudentTheOtherFilesAreListed) {
  write("aoki/answers.7z", "x");
  write("baba/my report.docx", "x");
  write("chiba/answers.zip", "no archive");
  write("doi/" + gpu, "d");
  write("doi/a.txt", "d");
  write("doi/multi_node_final.cpp", "d");
  fs::create_directories(class_ / "endo");
  write("fujita.7z", "x");
  const Intake intake = take();
  ASSERT_EQ(names(intake), "aoki, baba, chiba, doi, endo");
  EXPECT_TRUE(flagged(intake.students[0], "flag_other_names"));
  EXPECT_TRUE(flagged(intake.students[1], "flag_other_names"));
  EXPECT_TRUE(flagged(intake.students[2], "archive_damaged"));
  EXPECT_FALSE(flagged(intake.students[3], "flag_other_names"));
  EXPECT_EQ(intake.students[3].tasks.at("multi_node").flags,
            (std::vector<Finding>{{"flag_other_names", {{"files", "multi_node_final.cpp"}, {"file", node}}}}));
  EXPECT_TRUE(intake.students[4].tasks.at("multi_gpu").flags.empty());
  EXPECT_EQ(intake.problems, (std::vector<Finding>{{"nobodys_file", {{"file", "fujita.7z"}}}}));
}

TEST_F(IntakeTest, AFileThatIsMissingBesideAnotherIsFlagged) {
  write("aoki/" + gpu, "a");
  write("baba/" + gpu, "b");
  write("baba/" + script, "s");
  const Intake intake = take();
  EXPECT_EQ(intake.students[0].tasks.at("multi_gpu").flags,
            (std::vector<Finding>{{"flag_missing_file", {{"file", script}}}}));
  EXPECT_TRUE(intake.students[1].tasks.at("multi_gpu").flags.empty());
  EXPECT_FALSE(flagged(intake.students[0], "flag_missing_file", "multi_node")) << "all of it is missing";
}

TEST_F(IntakeTest, WhoMayHaveHandedInAgainUnderAnotherNameIsFlagged) {
  for (const char* name : {"aoki", "aoki(2)", "aoki - コピー", "baba (1)", "chiba", "chiba3"})
    write(std::string(name) + "/" + gpu, name);
  const Intake intake = take();
  ASSERT_EQ(names(intake), "aoki, aoki - コピー, aoki(2), baba (1), chiba, chiba3");
  const Finding again{"flag_again", {{"student", "aoki"}}};
  EXPECT_EQ(intake.students[1].tasks.at("multi_gpu").flags.front(), again);
  EXPECT_EQ(intake.students[2].tasks.at("multi_gpu").flags.front(), again);
  for (const std::size_t i : {0, 3, 4, 5}) EXPECT_FALSE(flagged(intake.students[i], "flag_again")) << i;
}

TEST_F(IntakeTest, AnArchiveBehindAPasswordIsTold) {
  fs::create_directories(class_ / "aoki");
  const fs::path path = make("in.zip", "z.writestr('" + gpu + "', 'a')");
  std::string bytes = read_file(path);
  bytes[6] |= 1;  // as headers have it
  bytes[bytes.find("PK\x01\x02") + 8] |= 1;
  std::ofstream(class_ / "aoki/in.zip", std::ios::binary) << bytes;
  EXPECT_TRUE(flagged(take().students[0], "archive_encrypted"));
}

TEST_F(IntakeTest, AProgramInUtf16) {
  write("aoki/" + gpu, std::string("\xff\xfe"
                                   "a\0b\0",
                                   6));
  EXPECT_EQ(program(take().students[0]), "ab");
}

TEST_F(IntakeTest, FlagsAreFewHoweverMuchIsWrong) {
  write("baba/" + gpu, "b");
  for (int i = 0; i < 50; ++i) {
    fs::create_directories(class_ / "aoki" / std::to_string(i));
    write(fmt::format("aoki/{}.zip", i), "no archive");
  }
  EXPECT_LE(take().students[0].tasks.at("multi_gpu").flags.size(), 11u);
  EXPECT_TRUE(flagged(take().students[0], "flag_more"));
}

TEST_F(IntakeTest, WhatCannotBeAClassIsRefused) {
  EXPECT_EQ(refusal(class_), "submissions_empty");
  EXPECT_EQ(refusal(folder_ / "nowhere"), "submissions_missing");
  write("x.txt", "");
  EXPECT_EQ(refusal(class_ / "x.txt"), "submissions_no_archive");
  write("x.zip", "no archive");
  EXPECT_EQ(refusal(class_ / "x.zip"), "archive_damaged");
}

TEST_F(IntakeTest, WhatIsHandedInLaterReplacesWhatWasAndWhatIsTakenBackGoes) {
  const fs::path submitted = folder_ / "submitted/aoki";
  write("aoki/" + gpu, "first");
  write_answers(take().students[0], submitted);
  write("aoki/" + gpu, "second");
  write_answers(take().students[0], submitted);
  EXPECT_EQ(read_file(submitted / gpu), "second");
  fs::remove(class_ / "aoki" / gpu);
  write_answers(take().students[0], submitted);
  EXPECT_FALSE(fs::exists(submitted / gpu));
}

TEST(StudentName, KeepsLettersAndNothingThatMovesOrHides) {
  EXPECT_EQ(student_name("青木 花子"), "青木 花子");
  EXPECT_EQ(student_name("O'Neil-7 <b>&"), "O'Neil-7 <b>&");
  EXPECT_EQ(student_name("a\nb").substr(0, 4), "a_b~");
  EXPECT_EQ(student_name("..").substr(0, 2), "_~");
  EXPECT_EQ(student_name(".hidden").substr(0, 8), "_hidden~");
  EXPECT_EQ(student_name("x\u202Efdp.exe").substr(0, 10), "x_fdp.exe~");
  EXPECT_EQ(student_name("\x90\xc2\x96\xd8"), "青木") << "CP932";
  EXPECT_EQ(student_name("a\u00ADb\u3164c").substr(0, 6), "a_b_c~");
  EXPECT_EQ(student_name("\xff\xff").substr(0, 3), "__~");
  EXPECT_LT(student_name(std::string(400, 'x')).size(), 200u);
  EXPECT_NE(student_name("a\nb"), student_name("a\tb"));
  EXPECT_EQ(student_name("").substr(0, 1), "_");
  EXPECT_EQ(student_name("a~1").substr(0, 4), "a_1~") << "only checksums follow a ~";
}

TEST(StudentNames, NoTwoAreOneOnAnyFileSystem) {
  const std::string same(200, 'x');
  const std::vector<std::string> hostile{"aoki",
                                         "AOKI",
                                         "Aoki.",
                                         "aoki ",
                                         "aoki",
                                         "\u00e9mile",
                                         "e\u0301mile",
                                         same + "1",
                                         same + "2",
                                         "CON",
                                         "con.txt",
                                         "\uff21oki",
                                         "a\nb",
                                         "a\tb",
                                         "\u304c",
                                         "\u304b\u3099",
                                         "stra\u00dfe",
                                         "STRASSE",
                                         "..",
                                         ".",
                                         student_name("a\nb"),
                                         student_names({"aoki", "AOKI"})[1],
                                         "\x90\xc2\x96\xd8",
                                         "\u9752\u6728"};
  const auto names = student_names(hostile);
  ASSERT_EQ(names.size(), hostile.size());
  std::set<std::string> alike;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i == 4) continue;  // the very same as the first
    std::string lowered;
    for (const char c : names[i]) lowered += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    EXPECT_TRUE(alike.insert(lowered).second) << names[i];
    EXPECT_LT(names[i].size(), 255u);
    EXPECT_FALSE(names[i].ends_with('.') || names[i].ends_with(' ')) << names[i];
  }
  EXPECT_EQ(student_names({"aoki", "baba"}), (std::vector<std::string>{"aoki", "baba"}));
  EXPECT_EQ(student_name("e\u0301mile"), "\u00e9mile");
}

}  // namespace
}  // namespace odori::grader
