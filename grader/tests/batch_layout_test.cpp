// SPDX-License-Identifier: Apache-2.0
// Names that browsers and Moodle give to files; a folder too high or too low.
#include "intake_fixture.h"

namespace odori::grader {
namespace {

const std::string moodle = "_assignsubmission_file_", gpu_1 = "train_cifar_multi_gpu (1).cpp";

TEST_F(IntakeTest, CopiesAndPrefixesCountAndOtherNamesDoNot) {
  for (const char* name :
       {"train_cifar_multi_gpu (1).cpp", "train_cifar_multi_gpu(12).cpp",
        "Tanaka_Taro_12345_assignsubmission_file_train_cifar_multi_gpu.cpp", "aoki_hanako_train_cifar_multi_gpu.cpp",
        "Tanaka_1_assignsubmission_file_train_cifar_multi_gpu (1).cpp", "train_cifar_multi_gpu - Copy.cpp",
        "train_cifar_multi_gpu - Copy (2).cpp", "train_cifar_multi_gpu - コピー.cpp",
        "train_cifar_multi_gpu - コピー (3).cpp"}) {
    fs::remove_all(class_ / "aoki");
    write(std::string("aoki/") + name, name);
    EXPECT_EQ(program(take().students[0]), name);
  }
  for (const char* name :
       {"train_cifar_multi_gpu_old.cpp", "train_cifar_multi_gpu.cpp.txt", "train_cifar_multi_gpu2.cpp",
        "train_cifar_multi_gpu - Copyright.cpp", "Train_Cifar_Multi_GPU.CPP", "train_cifar_multi_gpu.cc",
        "train-cifar-multi-gpu.cpp", "._train_cifar_multi_gpu.cpp", "retrain_cifar_multi_gpu.cpp", "string.cpp"}) {
    fs::remove_all(class_ / "aoki");
    write(std::string("aoki/") + name, name);
    EXPECT_EQ(program(take().students[0]), "none") << name;
    EXPECT_EQ(program(take().students[0], "ring"), "none") << name;
  }
  write("aoki/run_multi_gpu_training (2).sh", "s");
  const Intake intake = take();
  EXPECT_EQ(intake.students[0].tasks.at("multi_gpu").script.value(), "s");
}

TEST_F(IntakeTest, OfTheSameMinuteTheExactNameGoesBeforeTheKitsPlace) {
  write("aoki/exercises/01_multi_gpu/" + gpu_1, "a copy, in the kit's place");
  write("aoki/deep/deeper/" + gpu, "exact");
  write("baba/exercises/01_multi_gpu/" + gpu_1, "a copy, in the kit's place");
  write("baba/" + gpu_1, "a copy, shallow");
  const Intake intake = take();
  EXPECT_EQ(program(intake.students[0]), "exact");
  EXPECT_TRUE(flagged(intake.students[0], "flag_several_files"));
  EXPECT_EQ(program(intake.students[1]), "a copy, in the kit's place");
}

TEST_F(IntakeTest, LooseFilesBelongToTheirPrefix) {
  write("Tanaka Taro_12345" + moodle + gpu, "a");
  write("Tanaka Taro_12345" + moodle + "train_cifar_multi_node (2).cpp", "b");
  write("Tanaka Taro_12345" + moodle + script, "s");
  write("青木_7" + moodle + "main.cpp", "m");
  write("chiba_" + gpu, "c");
  write("doi/" + gpu, "d");
  write("notes.txt", "nobody's");
  write("_" + gpu, "nobody's");
  const Intake intake = take();
  ASSERT_EQ(names(intake), "Tanaka Taro_12345, chiba, doi, 青木_7");
  EXPECT_EQ(program(intake.students[0]) + program(intake.students[0], "multi_node"), "ab");
  EXPECT_TRUE(intake.students[0].tasks.at("multi_gpu").script);
  EXPECT_EQ(program(intake.students[1]), "c");
  EXPECT_TRUE(flagged(intake.students[3], "flag_other_names"));
  ASSERT_EQ(intake.problems.size(), 2u);
  EXPECT_EQ(intake.problems[1], (Finding{"nobodys_file", {{"file", "notes.txt"}}}));
}

TEST_F(IntakeTest, LooseArchivesBelongToTheirPrefixToo) {
  fs::rename(make("x.zip", "z.writestr('my/" + node + "', 'n')"), class_ / ("Aoki_1" + moodle + "x.zip"));
  write("Aoki_1" + moodle + gpu, "g");
  const Intake intake = take();
  ASSERT_EQ(names(intake), "Aoki_1");
  EXPECT_EQ(program(intake.students[0]) + program(intake.students[0], "multi_node"), "gn");
}

TEST_F(IntakeTest, OtherNamesAreListed) {
  for (const char* file : {"a.txt", "b.cpp", "c.sh", "d.cpp", "e.cpp", ".hidden.cpp", ".git/x.cpp"})
    write(std::string("aoki/") + file, "");
  EXPECT_EQ(take().students[0].tasks.at("multi_gpu").flags,
            (std::vector<Finding>{{"flag_other_names", {{"files", "b.cpp, c.sh, d.cpp"}, {"file", gpu}}}}));
}

TEST_F(IntakeTest, TheOnlyFolderMayContainTheClass) {
  write("export/submission_1/x/" + gpu, "a");
  write("export/submission_2/" + gpu, "b");
  write("export/submission_metadata.yml", "of Gradescope");
  const Finding in_one_folder{"class_in_one_folder", {{"folder", "export"}}},
      metadata{"nobodys_file", {{"file", "submission_metadata.yml"}}};
  EXPECT_EQ(names(take()), "submission_1, submission_2");
  EXPECT_EQ(take().problems, (std::vector<Finding>{in_one_folder, metadata}));
  write("chiba/" + gpu, "c");
  EXPECT_EQ(names(take()), "chiba, export") << "somebody else";
  fs::remove_all(class_);
  for (const char* student : {"aoki", "baba"}) {
    fs::create_directories(class_ / "export");
    fs::rename(make("x.zip", "z.writestr('my/" + gpu + "', '')"), class_ / "export" / (std::string(student) + ".zip"));
  }
  EXPECT_EQ(names(take()), "aoki, baba");
}

TEST_F(IntakeTest, TheOnlyStudentIsNoClass) {
  write("aoki/exercises/01_multi_gpu/" + gpu, "a");
  write("aoki/jobscripts/" + script, "s");
  write("aoki/old/" + gpu, "o");
  EXPECT_EQ(names(take()), "aoki");
  for (const char* file : {"odori", "mine/ring.cpp", "lib/comm/ring.cpp"}) write(std::string("aoki/") + file, "");
  EXPECT_EQ(names(take()), "aoki") << "a clone of the kit";
}

TEST_F(IntakeTest, OneStudentsFolderIsRefused) {
  write(gpu, "a");
  EXPECT_EQ(refusal(class_), "submissions_one_student");
  write("old/" + gpu, "a");
  EXPECT_EQ(refusal(class_), "submissions_one_student");
  write("baba/" + gpu, "b");
  EXPECT_EQ(refusal(class_), "taken") << "a class, and a file that is nobody's";
}

TEST_F(IntakeTest, OneStudentsKitIsRefused) {
  write("exercises/01_multi_gpu/" + gpu, "a");
  write("jobscripts/" + script, "s");
  write("solutions/01_multi_gpu/" + gpu, "the kit's own");
  write("older/" + gpu, "a");
  EXPECT_EQ(refusal(class_), "submissions_one_student");
  EXPECT_EQ(refusal(folder_), "taken") << "the folder above";
}

TEST_F(IntakeTest, TheKitsFoldersBesideStudentsAreNobodys) {
  write("aoki/" + gpu, "a");
  write("solutions/01_multi_gpu/" + gpu, "of the kit");
  const Intake intake = take();
  EXPECT_EQ(names(intake), "aoki");
  EXPECT_EQ(intake.problems, (std::vector<Finding>{{"nobodys_file", {{"file", "solutions"}}}}));
}

}  // namespace
}  // namespace odori::grader
