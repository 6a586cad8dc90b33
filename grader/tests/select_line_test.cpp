// SPDX-License-Identifier: Apache-2.0
// The job scripts' blanks: select lines that are right, and the mistakes that have a message.
#include "blanks/select_line.h"

#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "blanks/blanks.h"

namespace odori::grader {
namespace {

/// What is found in the kit's job script with this text in its blank, where the task uses so many devices of a node: a
/// key, or "right".
std::string found(const std::string& task, const std::string& text, int devices = 2) {
  const std::string path = std::filesystem::path(ODORI_FOLDER) / task_named(task).script->solution;
  const auto lines = split_lines(read_file(path));
  const auto finding = find_in_job_script(task_named(task), devices,
                                          with_text(lines, parse_blanks(lines, path).at(0), split_lines(text)));
  return finding ? finding->key : "right";
}

TEST(SelectLine, OneNodeAndOneProcessIsRightHoweverItIsWritten) {
  for (const char* text :
       {"#PBS -l select=1:mpiprocs=1:ompthreads=2", "#PBS -l select=1:ompthreads=2:mpiprocs=1",
        "#PBS -l select=1:mpiprocs=1:ompthreads=4", "#PBS -l select=1:ncpus=2:ngpus=2:mpiprocs=1:ompthreads=2",
        "#PBS -l select=1:ompthreads=2", "#PBS -lselect=1:mpiprocs=1", "  #PBS\t-l\tselect=1:mpiprocs=1",
        "#PBS -l 'select=1:mpiprocs=1'", "#PBS -l select=mpiprocs=1:ompthreads=2", "#PBS -l place=free,select=1",
        "#PBS -l select=1:mpiprocs=1 -l place=pack", "#PBS -l select=1:MPIPROCS=1:mem=4gb,walltime=00:05:00",
        "#PBS -q workshop -l select=1:ngpus=2:mpiprocs=1 -W group_list=g -N name -j oe",
        "# two threads\n\n#PBS -l select=1:mpiprocs=1:ompthreads=2",
        "#PBS -l place=scatter\n#PBS -l select=1:ompthreads=2", "#PBS -l select=1:ompthreads=2\n#PBS -l place=scatter",
        "#PBS -l select=01:mpiprocs=001:ompthreads=0002", "#PBS -V -l select=1:mpiprocs=1:host=node3",
        "#PBS -l select=1:mpiprocs=1:model=h200:gpu_id=3"})
    EXPECT_EQ(found("multi_gpu", text), "right") << text;
}

TEST(SelectLine, TwoNodesOfTwoProcessesAreRightHoweverTheyAreWritten) {
  for (const char* text :
       {"#PBS -l select=2:mpiprocs=2:ompthreads=1", "#PBS -l select=2:ompthreads=1:mpiprocs=2",
        "#PBS -l select=1:mpiprocs=2:ompthreads=1+1:mpiprocs=2:ompthreads=1", "#PBS -l select=2:mpiprocs=2",
        "#PBS -l select=mpiprocs=2+mpiprocs=2", "#PBS -l select=2:ncpus=36:ngpus=2:mpiprocs=2:ompthreads=1",
        "#PBS -l select=2:mpiprocs=2:ompthreads=1 -l place=scatter:excl",
        "#PBS -l place=scatter\n#PBS -l select=2:mpiprocs=2",
        "#PBS -l place=scatter\n#PBS -l select=2:mpiprocs=2 -l place=pack",
        "#PBS -l select=2:mpiprocs=2:ompthreads=1\n#PBS -l select=4:mpiprocs=1"})
    EXPECT_EQ(found("multi_node", text), "right") << text;
}

TEST(SelectLine, WithOneDeviceANodeAProcessANodeIsRight) {
  for (const char* text : {"#PBS -l select=2:mpiprocs=1:ompthreads=1", "#PBS -l select=2:mpiprocs=1",
                           "#PBS -l select=2:ompthreads=1", "#PBS -l select=1+1", "#PBS -l select=2"})
    EXPECT_EQ(found("multi_node", text, 1), "right") << text;
  for (const auto& [text, key] : {std::pair("#PBS -l select=2:mpiprocs=2:ompthreads=1", "processes_of_all_nodes"),
                                  std::pair("#PBS -l select=1:mpiprocs=2:ompthreads=1", "all_processes_on_one_node"),
                                  std::pair("#PBS -l select=1:mpiprocs=1:ompthreads=1", "one_node_only"),
                                  std::pair("#PBS -l select=2:mpiprocs=1:ompthreads=2", "threads_too_many"),
                                  std::pair("#PBS -l select=2:ncpus=4", "threads_from_ncpus"),
                                  std::pair("#PBS -l select=1:mpiprocs=2+1:mpiprocs=0", "nodes_uneven"),
                                  std::pair("#PBS -l select=2:mpiprocs=1 -l place=pack", "packed_on_one_node"),
                                  std::pair("#PBS -l select=4:mpiprocs=1", "two_by_two_expected")})
    EXPECT_EQ(found("multi_node", text, 1), key) << text;
  EXPECT_EQ(found("multi_gpu", "#PBS -l select=1:mpiprocs=1:ompthreads=1", 1), "right");
  EXPECT_EQ(found("multi_gpu", "#PBS -l select=1:mpiprocs=1:ompthreads=1", 8), "one_thread_for_all_devices");
}

struct Wrong {
  const char *task, *text, *key;
};

const Wrong wrongs[] = {
    {"multi_gpu", "#PBS -l select=1:mpiprocs=2:ompthreads=1", "process_for_each_device"},
    {"multi_gpu", "#PBS -l select=1:mpiprocs=1:ompthreads=1", "one_thread_for_all_devices"},
    {"multi_gpu", "#PBS -l select=2:mpiprocs=1:ompthreads=1", "node_for_each_device"},
    {"multi_gpu", "#PBS -l select=1:mpiprocs=1+1", "node_for_each_device"},
    {"multi_gpu", "#PBS -l select=2:mpiprocs=2:ompthreads=1", "one_process_expected"},
    {"multi_gpu", "#PBS -l select=1:mpiprocs=0", "one_process_expected"},
    {"multi_node", "#PBS -l select=2:ompthreads=1", "mpiprocs_missing"},
    {"multi_node", "#PBS -l select=1+1", "mpiprocs_missing"},
    {"multi_node", "#PBS -l select=1:mpiprocs=4:ompthreads=1", "all_processes_on_one_node"},
    {"multi_node", "#PBS -l select=4:mpiprocs=1:ompthreads=1", "node_for_each_process"},
    {"multi_node", "#PBS -l select=1:mpiprocs=2:ompthreads=2", "one_node_only"},
    {"multi_node", "#PBS -l select=2:mpiprocs=4:ompthreads=1", "processes_of_all_nodes"},
    {"multi_node", "#PBS -l select=1:mpiprocs=3+1:mpiprocs=1", "nodes_uneven"},
    {"multi_node", "#PBS -l select=2:mpiprocs=2 -l place=pack:excl", "packed_on_one_node"},
    {"multi_node", "#PBS -l select=2:mpiprocs=1:ompthreads=2", "threads_for_processes"},
    {"multi_node", "#PBS -l select=2:mpiprocs=2:ompthreads=2", "threads_too_many"},
    {"multi_node", "#PBS -l select=1:mpiprocs=2+1:mpiprocs=2:ompthreads=4", "threads_too_many"},
    {"multi_node", "#PBS -l select=2:ncpus=4:mpiprocs=2", "threads_from_ncpus"},
    {"multi_node", "#PBS -l select=3:mpiprocs=2", "two_by_two_expected"},
    {"multi_node", "#PBS -l select=4:mpiprocs=1\n#PBS -l select=2:mpiprocs=2", "second_select_ignored"},
    {"multi_node", "", "select_missing"},
    {"multi_node", "#PBS -l walltime=600", "select_missing"},
    {"multi_node", "#PBS -l select:2:mpiprocs=2", "select_needs_equals"},
    {"multi_node", "#PBS -l select=two:mpiprocs=2", "select_needs_number"},
    {"multi_node", "#PBS -l select=0:mpiprocs=2", "select_needs_number"},
    {"multi_node", "#PBS -l select=", "select_needs_number"},
    {"multi_node", "#PBS -l select=2::mpiprocs=2", "chunk_unreadable"},
    {"multi_node", "#PBS -l select=2:mpiprocs", "chunk_unreadable"},
    {"multi_node", "#PBS -l select=2:mpiprocs=two", "resource_needs_number"},
    {"multi_node", "#PBS -l select=2:mpiprocs=2:ompthreads=0", "resource_needs_number"},
    {"multi_node", "#PBS -l select=2:mpiprocs=-2", "resource_needs_number"},
    {"multi_node", "#PBS -l select=2:mpiprocs=0x2", "resource_needs_number"},
    {"multi_node", "#PBS -l select=2:mpiprocs=2.0", "resource_needs_number"},
    {"multi_node", "#PBS -l select=+2:mpiprocs=2", "select_needs_number"},
    {"multi_node", "#PBS -l select=-2:mpiprocs=2", "select_needs_number"},
    {"multi_node", "#PBS -l select=2:mpiprocs=+2", "chunk_unreadable"},
    {"multi_gpu", "#PBS -l select=1:ompthreads=99999", "resource_needs_number"},
    {"multi_node", "#PBS -l select=2:mpiprocs=4294967298", "resource_needs_number"},
    {"multi_node", "#PBS -l select=4294967298:mpiprocs=2", "select_needs_number"},
    {"multi_node", "#PBS -l select=9999:mpiprocs=9999", "two_by_two_expected"},
    {"multi_node", "#PBS -l select=2:mpiprocs=2:mpiprocs=2", "chunk_unreadable"},
    {"multi_node", "#PBS -l select=2:mpiproc=2:ompthreads=1", "resource_misnamed"},
    {"multi_node", "#PBS -l select=2:ppn=2", "resource_misnamed"},
    {"multi_node", "#PBS -l select=2:ngpu=2:mpiprocs=2", "resource_misnamed"},
    {"multi_node", "#PBS -l select=2：mpiprocs=2：ompthreads=1", "not_ascii_in_select"},
    {"multi_gpu", "#PBS -l select=１:mpiprocs=1", "not_ascii_in_select"},
    {"multi_gpu", "#PBS -l ｓｅｌｅｃｔ=1:mpiprocs=1", "resource_expected"},
    {"multi_gpu", "#PBS -l #PBS -l select=1:mpiprocs=1:ompthreads=2", "resource_expected"},
    {"multi_gpu", "#PBS -l select=1:mpiprocs=1:place=pack", "chunk_unreadable"},
    {"multi_gpu", "#PBS -l select=1:mpiprocs=1:walltime=600", "chunk_unreadable"},
    {"multi_node", "#PBS -l select=2,mpiprocs=2,ompthreads=1", "resource_outside_select"},
    {"multi_node", "#PBS -l select=2:mpiprocs=2: ompthreads=1", "space_in_select"},
    {"multi_node", "#PBS -l select = 2:mpiprocs=2", "space_in_select"},
    {"multi_node", "#PBS -l \"select=2: mpiprocs=2\"", "space_in_select"},
    {"multi_node", "#PBS -l select=2:mpiprocs=2  # two by two", "comment_behind_select"},
    {"multi_node", "#PBS select=2:mpiprocs=2", "option_l_missing"},
    {"multi_node", "# PBS -l select=2:mpiprocs=2", "prefix_wrong"},
    {"multi_node", "#pbs -l select=2:mpiprocs=2", "prefix_wrong"},
    {"multi_node", "-l select=2:mpiprocs=2", "prefix_wrong"},
    {"multi_node", "select=2:mpiprocs=2:ompthreads=1", "prefix_wrong"},
    {"multi_node", "#SBATCH --nodes=2 --ntasks-per-node=2", "slurm_directive"},
    {"multi_node", "export OMP_NUM_THREADS=1\n#PBS -l select=2:mpiprocs=2", "directive_behind_command"},
    {"multi_node", "#PBS -l nodes=2:ppn=2", "nodes_of_old"},
    {"multi_node", "#PBS -l nodes=2,select=2:mpiprocs=2", "nodes_of_old"},
};

TEST(SelectLine, EachMisconceptionHasItsName) {
  for (const auto& [task, text, key] : wrongs) EXPECT_EQ(found(task, text), key) << text;
}

TEST(SelectLine, FindingsSayWhatIsAskedFor) {
  const auto finding = find_in_job_script(task_named("multi_node"), 2, {"#PBS -l select=1:mpiprocs=3+1:mpiprocs=1"});
  ASSERT_TRUE(finding);
  EXPECT_EQ(finding->values, (std::map<std::string, std::string>{{"nodes", "2"},
                                                                 {"all", "4"},
                                                                 {"processes", "3 + 1"},
                                                                 {"threads", "1"},
                                                                 {"devices", "2"},
                                                                 {"all_devices", "4"}}));
}

TEST(SelectLine, CommandsAreWhatAShellRuns) {
  const auto commands = [](const std::string& text) { return read_pbs_directives(split_lines(text)).commands; };
  using Lines = std::vector<std::string>;
  EXPECT_EQ(commands("#PBS -l select=1\n\n# a comment\n  #PBS -j oe"), Lines{});
  EXPECT_EQ(commands("date\n#PBS -l select=1\n : ${x:=1}"), (Lines{"date", " : ${x:=1}"}));
}

TEST(SelectLine, SumsDoNotOverflow) {
  std::string select = "#PBS -l select=9999:mpiprocs=9999";
  for (int i = 1; i < 100; ++i) select += "+9999:mpiprocs=9999";  // more than 2^32 processes in all
  const auto finding = find_in_job_script(task_named("multi_node"), 2, {select});
  ASSERT_TRUE(finding);
  EXPECT_EQ(finding->values.at("all"), "9998000100");
  EXPECT_LT(finding->values.at("processes").size(), 200u);
}

TEST(SelectLine, AMessageHoldsNoMoreThanALineOfText) {
  const auto finding = find_in_job_script(task_named("multi_node"), 2, {"#PBS -l select=" + std::string(50'000, 'x')});
  ASSERT_TRUE(finding);
  EXPECT_EQ(finding->values.at("part"), std::string(120, 'x') + " […]");
}

/// Every finding has a message in both languages, and every message has a finding here.
TEST(SelectLine, EveryFindingHasItsMessage) {
  std::set<std::string> keys;
  for (const Wrong& wrong : wrongs) keys.insert(wrong.key);
  for (const char* path :
       {ODORI_FOLDER "/grader/messages/jobscript.md", ODORI_FOLDER "/grader/messages/jobscript.ja.md"}) {
    std::set<std::string> sections;
    for (const std::string& line : split_lines(read_file(path)))
      if (line.starts_with("## ")) sections.insert(line.substr(3));
    EXPECT_EQ(sections, keys) << path;
  }
}

}  // namespace
}  // namespace odori::grader
