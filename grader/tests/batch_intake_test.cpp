// What a class hands in: in every form, and with tricks.
#include <archive.h>
#include <archive_entry.h>
#include <sys/stat.h>

#include <cctype>
#include <set>

#include "batch/student_name.h"
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
  EXPECT_EQ(read_file(intake.students[0].tasks.at("multi_gpu").script.value()), "s");
  EXPECT_EQ(program(intake.students[1], "multi_node"), "b");
  EXPECT_TRUE(intake.students[1].tasks.at("multi_gpu").absent());
  EXPECT_TRUE(intake.students[2].tasks.at("multi_node").absent());
  ASSERT_EQ(intake.problems.size(), 1u);
  EXPECT_EQ(intake.problems[0].key, "nobodys_file");
}

TEST_F(IntakeTest, OfSeveralFilesTheOneThatLiesAsInTheKit) {
  write("aoki/" + gpu, "shallow");
  write("aoki/odori/exercises/01_multi_gpu/" + gpu, "as in the kit");
  write("aoki/odori/solutions/01_multi_gpu/" + gpu, "the kit's own");
  write("aoki/build-release/tests/filled/7/" + gpu, "built");
  write("baba/x/y/" + gpu, "deep");
  write("baba/x/" + gpu, "less deep");
  write("chiba/old/" + gpu, "old");
  write("chiba/new/" + gpu, "new");
  fs::last_write_time(class_ / "chiba/old" / gpu, fs::file_time_type::clock::now() - std::chrono::hours(5));
  write("doi/a/" + gpu, "the same");
  write("doi/b/" + gpu, "the same");
  write("endo/solutions/01_multi_gpu/" + gpu, "the kit's own");
  const Intake intake = take();
  EXPECT_EQ(program(intake.students[0]), "as in the kit");
  EXPECT_TRUE(flagged(intake.students[0], "flag_several_files"));
  EXPECT_EQ(program(intake.students[1]), "less deep");
  EXPECT_EQ(program(intake.students[2]), "new");
  EXPECT_EQ(program(intake.students[3]), "the same");
  EXPECT_FALSE(flagged(intake.students[3], "flag_several_files"));
  EXPECT_EQ(program(intake.students[4]), "none");
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

TEST_F(IntakeTest, ArchivesWithinArchivesAreLookedThroughUpToADepth) {
  const std::string nest =
      "def packed(name, data):\n    b = io.BytesIO(); i = zipfile.ZipFile(b, 'w'); i.writestr(name, data); i.close()\n"
      "    return b.getvalue()\n";
  const std::string three = nest + "z.writestr('a.zip', packed('b.zip', packed('" + gpu + "', 'deep')))",
                    many = nest + "d = packed('" + gpu + "', 'x')\nfor i in range(9): d = packed('a.zip', d)\n" +
                           "z.writestr('a.zip', d)\nfor i in range(40): z.writestr(f'{i}.zip', d)",
                    long_name = nest + "z.writestr('x' * 300 + '.zip', packed('" + gpu + "', 'long'))";
  for (const auto& [student, python] : {std::pair{"aoki", three}, {"baba", many}, {"chiba", long_name}}) {
    fs::create_directories(class_ / student);
    fs::rename(make("in.zip", python), class_ / student / "in.zip");
  }
  const Intake intake = take();
  EXPECT_EQ(program(intake.students[0]), "deep");
  EXPECT_EQ(program(intake.students[1]), "none");
  EXPECT_TRUE(flagged(intake.students[1], "flag_closed_archives"));
  EXPECT_EQ(program(intake.students[2]), "long");
}

TEST_F(IntakeTest, ArchivesOf7ZipAreRead) {
  fs::create_directories(class_ / "aoki");
  archive* const out = archive_write_new();
  archive_write_set_format_7zip(out);
  archive_write_open_filename(out, (class_ / "aoki/answers.7z").c_str());
  archive_entry* const entry = archive_entry_new();
  archive_entry_set_pathname(entry, gpu.c_str());
  archive_entry_set_filetype(entry, AE_IFREG);
  archive_entry_set_size(entry, 5);
  archive_write_header(out, entry);
  archive_write_data(out, "seven", 5);
  archive_entry_free(entry);
  ASSERT_EQ(archive_write_free(out), ARCHIVE_OK);
  EXPECT_EQ(program(take().students[0]), "seven");
}

TEST_F(IntakeTest, OfAnAbsentStudentItIsSaidWhatWasThere) {
  write("aoki/answers.lzh", "x");
  write("baba/my report.docx", "x");
  write("chiba/answers.rar", "no archive");
  write("doi/" + gpu, "d");
  write("doi/multi_node_final.cpp", "d");
  fs::create_directories(class_ / "endo");
  write("fujita.lzh", "x");
  write("goto/answers.rar", std::string("Rar!\x1a\7\1\0", 8));
  const Intake intake = take();
  ASSERT_EQ(names(intake), "aoki, baba, chiba, doi, endo, fujita, goto");
  EXPECT_TRUE(flagged(intake.students[0], "flag_unreadable_archive"));
  EXPECT_TRUE(flagged(intake.students[1], "flag_other_names"));
  EXPECT_TRUE(flagged(intake.students[2], "archive_damaged"));
  EXPECT_FALSE(flagged(intake.students[3], "flag_other_names"));
  EXPECT_TRUE(flagged(intake.students[3], "flag_other_names", "multi_node"));
  EXPECT_TRUE(intake.students[4].tasks.at("multi_gpu").flags.empty());
  EXPECT_TRUE(flagged(intake.students[5], "flag_unreadable_archive"));
  EXPECT_TRUE(flagged(intake.students[6], "archive_empty"));
}

TEST_F(IntakeTest, OfAnAbsentStudentTheFilesOfOptionalTasksAreSaid) {
  write("aoki/ring.cpp", "r");
  write("baba/ring.cpp", "r");
  write("baba/" + node, "b");
  const Intake intake = take();
  const auto& flags = intake.students[0].tasks.at("multi_gpu").flags;
  ASSERT_EQ(flags.size(), 1u);
  EXPECT_EQ(flags[0], (Finding{"flag_other_names", {{"files", "ring.cpp"}, {"file", gpu}}}));
  EXPECT_FALSE(flagged(intake.students[1], "flag_other_names")) << "what else was handed in is marked";
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
  write("aoki/" + gpu, "first");
  take();
  write("aoki/" + gpu, "second");
  EXPECT_EQ(program(take().students[0]), "second");
  fs::remove(class_ / "aoki" / gpu);
  EXPECT_EQ(program(take().students[0]), "none");
  EXPECT_FALSE(fs::exists(folder_ / "submitted/aoki" / gpu));
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
                                         "\x90\xc2\x96\xd8",
                                         "\u9752\u6728"};
  const auto names = student_names(hostile, {});
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
  EXPECT_EQ(student_names({"aoki", "baba"}, {}), (std::vector<std::string>{"aoki", "baba"}));
  EXPECT_EQ(student_name("e\u0301mile"), "\u00e9mile");
}

TEST(StudentNames, WhoHasMarksKeepsTheName) {
  const auto names = student_names({"AOKI", "aoki"}, {"aoki"});
  EXPECT_EQ(names[1], "aoki");
  EXPECT_EQ(names[0].substr(0, 5), "AOKI~");
  EXPECT_EQ(student_names({"AOKI", "aoki"}, {})[1].substr(0, 5), "aoki~");
}

}  // namespace
}  // namespace odori::grader
