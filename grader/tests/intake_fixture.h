// SPDX-License-Identifier: Apache-2.0
// A class's submissions, in whatever form a test wants, and what was taken of them.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "blanks/blanks.h"
#include "classroom/marking/intake.h"
#include "classroom/refusal.h"
#include "run_command.h"

namespace odori::grader {

namespace fs = std::filesystem;

inline const std::string gpu = "train_cifar_multi_gpu.cpp", node = "train_cifar_multi_node.cpp",
                         script = "run_multi_gpu_training.sh";

class IntakeTest : public testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(folder_);
    fs::create_directories(class_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  void write(const std::string& path, const std::string& text) const {
    fs::create_directories((class_ / path).parent_path());
    std::ofstream(class_ / path) << text;
  }
  /// `seconds` after a fixed time.
  void set_time(const std::string& path, int seconds) const {
    fs::last_write_time(class_ / path, fs::file_time_type() + std::chrono::seconds(1000 + seconds));
  }
  /// Python's zipfile and tarfile, with `z` and `t` as open archives to write to, as in z.writestr(NAME, TEXT).
  fs::path make(const std::string& name, const std::string& python) const {
    const fs::path path = folder_ / name;
    const std::string open = name.ends_with("zip") ? "z = zipfile.ZipFile(path, 'w', zipfile.ZIP_DEFLATED)"
                                                   : "t = tarfile.open(path, 'w:gz' if path.endswith('gz') else 'w')";
    std::ofstream(folder_ / "make.py") << "import io, os, struct, sys, tarfile, zipfile\npath = sys.argv[1]\n"
                                       << "def add(t, name, text, **more):\n"
                                       << "    i = tarfile.TarInfo(name); i.size = len(text)\n"
                                       << "    for k, v in more.items(): setattr(i, k, v)\n"
                                       << "    t.addfile(i, io.BytesIO(text.encode()))\n"
                                       << open << '\n'
                                       << python << '\n'
                                       << (name.ends_with("zip") ? "z.close()\n" : "t.close()\n");
    const Ended ended = run_command(fmt::format("python3 {} '{}' 2>&1", (folder_ / "make.py").string(), path.string()));
    EXPECT_EQ(ended.code, 0) << ended.output;
    return path;
  }
  Intake take(const fs::path& submissions) const { return take_in(submissions, folder_ / "scratch"); }
  Intake take() const { return take(class_); }
  Intake take_with(const Choosing& choosing) const { return take_in(class_, folder_ / "scratch", choosing); }
  static std::string names(const Intake& intake) {
    std::string names;
    for (const Student& student : intake.students) names += (names.empty() ? "" : ", ") + student.name;
    return names;
  }
  static std::string program(const Student& student, const std::string& task = "multi_gpu") {
    return student.tasks.at(task).program.value_or("none");
  }
  static bool flagged(const Student& student, const std::string& key, const std::string& task = "multi_gpu") {
    for (const Finding& flag : student.tasks.at(task).flags)
      if (flag.key == key) return true;
    return false;
  }

  /// The key of what a class is refused with.
  std::string refusal(const fs::path& submissions, const Choosing& choosing = {}) const {
    try {
      take_in(submissions, folder_ / "scratch", choosing);
    } catch (const Refusal& refusal) {
      return refusal.finding().key;
    }
    return "taken";
  }

  const fs::path folder_ = fs::path(testing::TempDir()) / ("odori_intake_test_" + std::to_string(getpid()));
  const fs::path class_ = folder_ / "class";
};

}  // namespace odori::grader
