// SPDX-License-Identifier: Apache-2.0
// A kit of copies for the tests of job scripts, in which nothing is trained.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "blanks/blanks.h"
#include "errors/error.h"
#include "run_command.h"

namespace odori::grader {

namespace fs = std::filesystem;

inline const fs::path kit = ODORI_FOLDER;

inline void write_file(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path) << text;
  if (text.starts_with("#!")) fs::permissions(path, fs::perms::owner_exec, fs::perm_options::add);
}

/// Replaces the one line of a file that begins so.
inline void replace_line(const fs::path& path, const std::string& begin, const std::string& line) {
  auto lines = split_lines(read_file(path));
  const auto at = std::find_if(lines.begin(), lines.end(), [&](const auto& l) { return l.starts_with(begin); });
  ASSERT_NE(at, lines.end());
  *at = line;
  std::ofstream(path) << join_lines(lines);
}

inline std::string script_name(const std::string& task) { return "run_" + task + "_training.sh"; }

/// A kit of copies: job scripts with their answers, the exercises' sources, and programs and an mpirun that print
/// their arguments and a throughput of 100 and 150.
class JobScripts : public testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::path(ODORI_WORK_FOLDER) /
            (std::string("jobscripts.") + testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(root_);
    fs::create_directories(root_);
    unsetenv("ODORI_SITE");
    fs::create_directories(root_ / "jobscripts");
    for (const char* shared : {"job.sh", "modules.sh", "site_in_force.sh"})
      fs::copy(kit / "jobscripts" / shared, root_ / "jobscripts" / shared);
    fs::copy(kit / "solutions", root_ / "solutions", fs::copy_options::recursive | fs::copy_options::copy_symlinks);
    for (const char* task : {"single_gpu", "multi_gpu", "multi_node"}) {
      fs::copy(answer(task), script(task));
      fs::create_directories(source(task).parent_path());
      fs::copy(kit / "solutions" / folder_of(task) / source(task).filename(), source(task));
    }
    for (const char* script :
         {"cmake/build_folder.sh", "lib/comm/mpirun.sh", "lib/flags/command_line.sh", "lib/flags/exercises.sh"}) {
      fs::create_directories((root_ / script).parent_path());
      fs::copy(kit / script, root_ / script);
    }
    write_file(root_ / "build/CMakeCache.txt", "CMAKE_HOME_DIRECTORY:INTERNAL=" + root_.string() + "\n");
    const auto say = [](const std::string& name, int rate) {
      return fmt::format("#!/bin/bash\necho {} \"$@\"\necho 'Throughput: {} [images/sec.] (1 / 2)'\n", name, rate);
    };
    write_file(program("single_gpu"), say("SINGLE", 100));
    write_file(program("multi_gpu"), say("MULTI", 150));
    write_file(program("multi_node"), say("NODES", 150));
    write_file(root_ / "bin/mpirun", "#!/bin/bash\necho MPIRUN \"$@\" nodes=$ODORI_NODES\nexec \"${@: -1}\"\n");
    fs::create_directories(root_ / "lib/threads");
    write_file(root_ / "lib/threads/cores.sh", "usable_cores() { echo ${CORES:-4}; }\n");
  }
  fs::path program(const std::string& task) const { return root_ / "build/bin/exercises" / ("train_cifar_" + task); }
  static std::string folder_of(const std::string& task) {
    return (task == "single_gpu" ? "00_" : task == "multi_gpu" ? "01_" : "02_") + task;
  }
  fs::path source(const std::string& task) const {
    return root_ / "exercises" / folder_of(task) / ("train_cifar_" + task + ".cpp");
  }
  fs::path answer(const std::string& task) const { return root_ / "solutions" / folder_of(task) / script_name(task); }
  fs::path script(const std::string& task) const { return root_ / "jobscripts" / script_name(task); }

  /// From another folder. mpirun's last argument is its program's name: FLAGS is empty but for a blank.
  Ended run(const std::string& task, const std::string& environment = "") const {
    return run_command(
        fmt::format("cd / && env -u ODORI_BUILD -u ODORI_OUT -u PBS_NODEFILE PATH={}:$PATH FLAGS=' ' {} bash {}",
                    (root_ / "bin").string(), environment, script(task).string()));
  }
  /// What the log says, of the one job that ran.
  std::string log() const {
    for (const auto& entry : fs::directory_iterator(root_ / "out/jobs"))
      if (entry.path().extension() == ".txt") return read_file(entry.path());
    return "no log";
  }

  fs::path root_;
};

}  // namespace odori::grader
