// Names that browsers, Moodle and students give to files; a folder too high or too low; names of students.
#include "batch/student_name.h"
#include "intake_fixture.h"

namespace odori::grader {
namespace {

const std::string moodle = "_assignsubmission_file_", gpu_1 = "train_cifar_multi_gpu (1).cpp";

TEST_F(IntakeTest, RenamedFilesCount) {
  for (const char* name :
       {"train_cifar_multi_gpu (1).cpp", "train_cifar_multi_gpu(12).cpp", "train_cifar_multi_gpu-2.cpp",
        "train_cifar_multi_gpu_1.cpp", "Tanaka_Taro_12345_assignsubmission_file_train_cifar_multi_gpu.cpp",
        "Tanaka_1_assignsubmission_file_train_cifar_multi_gpu (1).cpp", "train_cifar_multi_gpu - Copy.cpp",
        "train_cifar_multi_gpu - Copy (2).cpp", "train_cifar_multi_gpu copy 2.cpp",
        "train_cifar_multi_gpu - コピー.cpp", "train_cifar_multi_gpu - コピー (3).cpp",
        "train_cifar_multi_gpuのコピー.cpp", "train_cifar_multi_gpu のコヒ\u309Aー 2.cpp"}) {
    fs::remove_all(class_ / "aoki");
    write(std::string("aoki/") + name, name);
    EXPECT_EQ(program(take().students[0]), name);
  }
  for (const char* name :
       {"train_cifar_multi_gpu_old.cpp", "train_cifar_multi_gpu.cpp.txt", "train_cifar_multi_gpu2.cpp",
        "train_cifar_multi_gpu_2026.cpp", "train_cifar_multi_gpu-.cpp", "train_cifar_multi_gpu - Copyright.cpp",
        "train_cifar_multi_gpuコピー.cpp", "Train_Cifar_Multi_GPU.CPP", "train_cifar_multi_gpu.cc",
        "train-cifar-multi-gpu.cpp", "train cifar multi gpu.cpp", "train_cifar_multi_gpu（1）.cpp",
        "aoki_train_cifar_multi_gpu_final.cpp.txt"}) {
    fs::remove_all(class_ / "aoki");
    write(std::string("aoki/") + name, name);
    const Intake intake = take();
    EXPECT_EQ(program(intake.students[0]), name);
    EXPECT_TRUE(flagged(intake.students[0], "flag_renamed")) << name;
  }
  write("aoki/" + gpu_1, "a copy goes before what is named otherwise");
  EXPECT_EQ(program(take().students[0]), "a copy goes before what is named otherwise");
  EXPECT_FALSE(flagged(take().students[0], "flag_renamed"));
  for (const char* name : {"._train_cifar_multi_gpu.cpp", "retrain_cifar_multi_gpu.cpp", "train_cifar_multi_gpus.cpp",
                           "train_cifar_multi_gpu.txt", "train_cifar_multi_gpu.o", "string.cpp", "ring_notes.txt"}) {
    fs::remove_all(class_ / "aoki");
    write(std::string("aoki/") + name, name);
    EXPECT_EQ(program(take().students[0]), "none") << name;
    EXPECT_EQ(program(take().students[0], "ring"), "none") << name;
  }
  write("aoki/run_multi_gpu_training (2).sh", "s");
  const Intake intake = take();
  EXPECT_EQ(read_file(intake.students[0].tasks.at("multi_gpu").script.value()), "s");
}

TEST_F(IntakeTest, TheExactNameGoesBeforeTheKitsOrder) {
  write("aoki/exercises/01_multi_gpu/" + gpu_1, "renamed, as in the kit");
  write("aoki/deep/deeper/" + gpu, "exact");
  write("baba/exercises/01_multi_gpu/" + gpu_1, "renamed, as in the kit");
  write("baba/" + gpu_1, "renamed, shallow");
  const Intake intake = take();
  EXPECT_EQ(program(intake.students[0]), "exact");
  EXPECT_TRUE(flagged(intake.students[0], "flag_several_files"));
  EXPECT_EQ(program(intake.students[1]), "renamed, as in the kit");
}

TEST_F(IntakeTest, LooseFilesBelongToTheirPrefix) {
  write("Tanaka Taro_12345" + moodle + gpu, "a");
  write("Tanaka Taro_12345" + moodle + "train_cifar_multi_node-2.cpp", "b");
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

TEST_F(IntakeTest, OtherNamesAreTold) {
  for (const char* file : {"a.cpp", "b.sh", "c.txt", "d.cpp", "e.cpp", ".hidden.cpp", "Build/x.txt", "build/0.cpp"})
    write(std::string("aoki/") + file, "");
  write("baba/main.cpp", "");
  write("baba/" + node, "");
  const Intake intake = take();
  const auto& flags = intake.students[0].tasks.at("multi_gpu").flags;
  ASSERT_EQ(flags.size(), 1u);
  EXPECT_EQ(flags[0], (Finding{"flag_other_names", {{"files", "a.cpp, b.sh, d.cpp"}, {"file", gpu}}}));
  EXPECT_TRUE(flagged(intake.students[1], "flag_other_names")) << "it may be this task's";
  EXPECT_FALSE(flagged(intake.students[1], "flag_other_names", "multi_node"));
}

TEST_F(IntakeTest, AFolderOfClassesIsRefused) {
  write("class/aoki/x/" + gpu, "a");
  write("class/baba/" + gpu, "b");
  write("slides/1.txt", "");
  EXPECT_EQ(refusal(class_), "submissions_classes");
  EXPECT_EQ(names(take(class_ / "class")), "aoki, baba");
  // With somebody beside it, it is a student with two copies of the kit.
  write("chiba/" + gpu, "c");
  ASSERT_EQ(names(take()), "chiba, class, slides");
  EXPECT_TRUE(flagged(take().students[1], "flag_several_files"));
  fs::rename(class_ / "chiba" / gpu, class_ / "chiba" / "main.cpp");
  EXPECT_EQ(refusal(class_), "taken") << "somebody who named it otherwise";
  fs::remove_all(class_ / "chiba");
  write("class/" + gpu, "");
  EXPECT_EQ(refusal(class_), "taken") << "a student's, with older ones in folders";
}

TEST_F(IntakeTest, AStudentWithTwoCopiesOfTheKitIsNoFolderOfClasses) {
  for (const char* copy : {"odori", "odori-old"}) {
    write(std::string("aoki/") + copy + "/exercises/01_multi_gpu/" + gpu, copy);
    write(std::string("aoki/") + copy + "/jobscripts/" + script, "s");
  }
  const Intake intake = take();
  EXPECT_EQ(names(intake), "aoki");
  EXPECT_TRUE(flagged(intake.students[0], "flag_several_files"));
  ASSERT_EQ(intake.problems.size(), 1u);
  EXPECT_EQ(intake.problems[0].key, "one_student_with_copies");
}

TEST_F(IntakeTest, AFolderOfClassesInArchivesIsRefused) {
  fs::create_directories(class_ / "class");
  for (const char* student : {"aoki.zip", "baba.zip"})
    fs::rename(make("x.zip", "z.writestr('my/" + gpu + "', '')"), class_ / "class" / student);
  EXPECT_EQ(refusal(class_), "submissions_classes");
  fs::remove_all(class_ / "class");
  fs::rename(make("x.zip", "z.writestr('a/" + gpu + "', ''); z.writestr('b/" + gpu + "', '')"), class_ / "class.zip");
  EXPECT_EQ(refusal(class_), "submissions_classes");
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
  EXPECT_EQ(refusal(folder_), "taken") << "the folder that it lies in";
}

TEST_F(IntakeTest, NamesAreKnownBeforeAnythingIsWritten) {
  write("aoki/" + gpu, "a");
  fs::rename(make("x.zip", "z.writestr('" + gpu + "', '')"), class_ / "baba.zip");
  EXPECT_EQ(students_in(class_), (std::vector<std::string>{"aoki", "baba"}));
  EXPECT_EQ(students_in(class_).size(), take().students.size());
  fs::remove_all(folder_ / "submitted");
  students_in(class_);
  EXPECT_FALSE(fs::exists(folder_ / "submitted"));
}

TEST(StudentName, TheNearestAreFound) {
  const std::vector<std::string> names{"Li", "Suzuki Jiro_7", "Tanaka Taro_12345", "青木 花子"};
  using Names = std::vector<std::string>;
  EXPECT_EQ(nearest_names("Tanaka", names, 1), Names{"Tanaka Taro_12345"});
  EXPECT_EQ(nearest_names("tanakataro", names, 1), Names{"Tanaka Taro_12345"});
  EXPECT_EQ(nearest_names("青木", names, 1), Names{"青木 花子"});
  EXPECT_EQ(nearest_names("x", names, 9).size(), 4u);
}

}  // namespace
}  // namespace odori::grader
