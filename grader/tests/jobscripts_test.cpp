// SPDX-License-Identifier: Apache-2.0
// The job scripts: the real ones on a tiny set, and copies of them in a kit whose programs only say that they ran.
#include "blanks/finding.h"
#include "jobscripts_fixture.h"
#include "runner/site.h"
#include "synthetic.h"

namespace odori::grader {
namespace {

TEST_F(JobScripts, RunTheBaselineThenTheTaskAndEndInTheSpeedup) {
  const Ended ending = run("multi_gpu");
  EXPECT_EQ(ending.code, 0) << ending.output;
  EXPECT_LT(ending.output.find("SINGLE"), ending.output.find("MULTI")) << ending.output;
  EXPECT_EQ(ending.count("--n-gpus 2"), 1) << ending.output;
  EXPECT_TRUE(ending.output.ends_with("\nSpeedup: 1.50 (150.0 / 100.0 [images/sec.])\n")) << ending.output;
  EXPECT_EQ(log(), ending.output);
  EXPECT_TRUE(ending.output.starts_with("Job ")) << ending.output;
  EXPECT_EQ(ending.count(": multi_gpu on "), 1) << ending.output;
}

TEST_F(JobScripts, TheGraderAsksForTheDevicesThatTheJobUses) {
  const auto devices = [&](const std::string& site) {
    write_file(root_ / "jobscripts/site.sh", site);
    return std::pair(devices_of(task_named("multi_gpu"), root_), devices_of(task_named("multi_node"), root_));
  };
  EXPECT_EQ(devices("SCHEDULER=pbs\nGPUS_A_NODE=  # none\n"), std::pair(2, 2));
  EXPECT_EQ(devices("GPUS_A_NODE=8\necho hello\n"), std::pair(8, 2));
  EXPECT_EQ(run("multi_gpu").count("--n-gpus 8"), 1);
  EXPECT_EQ(devices("GPUS_A_NODE=1"), std::pair(1, 1));
  const Ended one = run("multi_gpu");
  EXPECT_EQ(one.count("--n-gpus 1"), 1) << one.output;
  EXPECT_EQ(one.count("comparing them shows no speedup"), 1) << one.output;
  EXPECT_TRUE(one.output.ends_with("\nSpeedup: 1.50 (150.0 / 100.0 [images/sec.])\n")) << one.output;
  EXPECT_EQ(run("multi_node").count("no speedup"), 0);
  for (const char* site : {"exit 0\n", "GPUS_A_NODE=four\n", "GPUS_A_NODE=0\n", "GPUS_A_NODE='2 2'\n"})
    EXPECT_THROW(devices(site), EnvironmentFault) << site;
}

/// What a job says behind its first line, "Job ID: TASK on HOST, DATE".
std::string behind_first_line(const std::string& output) { return output.substr(output.find('\n') + 1); }

TEST_F(JobScripts, TwoJobsOfTheSameSecondHaveLogsAndFoldersOfTheirOwn) {
  for (const char* id : {"12.head", "13.head", "14[2].head"}) run("multi_gpu", fmt::format("PBS_JOBID={}", id));
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(root_ / "out/jobs")) names.push_back(entry.path().filename());
  for (const char* of_job : {"_12.txt", "_13.txt", "_14_2_.txt", "_12", "_13", "_14_2_"})
    EXPECT_EQ(std::count_if(names.begin(), names.end(), [&](const auto& name) { return name.ends_with(of_job); }), 1)
        << of_job;
}

TEST_F(JobScripts, AJobThatIsEndedSaysSoBehindItsProgramsLastWords) {
  write_file(program("single_gpu"),
             "#!/bin/bash\ntrap 'echo last words; exit 130' TERM\necho begun\n"
             "for i in $(seq 200); do sleep 0.1; done\n");
  // As PBS does: TERM to all processes of the job.
  const Ended ending = run_command(
      fmt::format("cd /; env -u ODORI_BUILD -u ODORI_OUT PATH={}:$PATH FLAGS=' ' setsid bash {} & job=$!; "
                  "until grep -qs begun {}/out/jobs/*.txt; do sleep 0.05; done; kill -TERM -- -$job; wait $job",
                  (root_ / "bin").string(), script("multi_gpu").string(), root_.string()));
  EXPECT_EQ(ending.code, 143) << ending.output;
  EXPECT_LT(log().find("last words"), log().find("The scheduler ended this job")) << log();
  EXPECT_EQ(ending.count("Speedup"), 0) << ending.output;
}

TEST_F(JobScripts, ASchedulerThatTheSiteFileDoesNotNameIsRefused) {
  for (const char* variable : {"PE_HOSTFILE=/hosts", "PJM_JOBID=7", "LSB_JOBID=7"}) {
    const Ended ending = run("multi_node", variable);
    EXPECT_EQ(ending.code, 20) << ending.output;
    EXPECT_EQ(ending.count("This job runs under "), 1) << ending.output;
    EXPECT_EQ(ending.count("MPIRUN"), 0) << ending.output;
  }
}

TEST_F(JobScripts, AListOfHostsThatIsNotThereStopsTheJob) {
  write_file(root_ / "jobscripts/site.sh", "SCHEDULER=age\n");
  for (const char* variable : {"PBS_NODEFILE=/nowhere", "PBS_NODEFILE=/dev/null", "PE_HOSTFILE=/nowhere"}) {
    const Ended ending = run("multi_node", variable);
    EXPECT_EQ(ending.code, 20) << ending.output;
    EXPECT_EQ(ending.count("can't be read or is empty: mpirun would train on one node"), 1) << ending.output;
    EXPECT_EQ(ending.count("MPIRUN"), 0) << ending.output;
  }
}

TEST_F(JobScripts, ASiteFileThatCannotBeReadStopsTheJob) {
  const std::string named = "ODORI_SITE=" + (root_ / "a_site.sh").string();
  for (const auto& [text, said] :
       {std::pair("", "there is no site file"), std::pair("SCHEDULER=none\nexit 3\n", "can't be read to its end"),
        std::pair("SCHEDULER=none\nQUEUE=a&c_is_no_command\nGROUP=\n", "line 2: c_is_no_command: command not found"),
        std::pair("\xEF\xBB\xBFSCHEDULER=none\n", "byte-order mark"),
        std::pair("MODULES=\r\n", "Windows' line ends")}) {
    if (*text) write_file(root_ / "a_site.sh", text);
    const Ended ending = run("multi_gpu", named);
    EXPECT_EQ(ending.code, 2) << ending.output;
    EXPECT_EQ(ending.count(said), 1) << ending.output;
    EXPECT_EQ(ending.count("SINGLE"), 0) << ending.output;
  }
}

TEST_F(JobScripts, WithoutASchedulerThisMachinePlaysTheNodes) {
  replace_line(script("multi_node"), "log mpirun", "log mpirun $MPIRUN_FLAGS \"$PROGRAMS/train_cifar_multi_node\"");
  const Ended four = run("multi_node", "CORES=4");
  EXPECT_EQ(four.code, 0) << four.output;
  EXPECT_EQ(four.count("-np 4 "), 1) << four.output;
  EXPECT_EQ(four.count("nodes=0,0,1,1"), 1) << four.output;
  EXPECT_TRUE(four.output.ends_with("\nSpeedup: 1.50 (150.0 / 100.0 [images/sec.])\n")) << four.output;

  const Ended two = run("multi_node", "CORES=2");
  EXPECT_EQ(two.count("-np 2 "), 1) << two.output;
  EXPECT_EQ(two.count("nodes=0,1\n"), 1) << two.output;
  EXPECT_EQ(two.count("This machine has 2 cores: it plays 2 nodes with 1 processes each."), 1) << two.output;
}

TEST_F(JobScripts, MpirunHasAFolderOfItsOwnAndNoListOfVariablesBesideItsFlags) {
  write_file(root_ / "bin/mpirun",
             "#!/bin/bash\necho folder=$OMPI_MCA_orte_tmpdir_base list=${OMPI_MCA_mca_base_env_list-none}\n"
             "exec \"${@: -1}\"\n");
  replace_line(script("multi_node"), "log mpirun", "log mpirun $MPIRUN_FLAGS \"$PROGRAMS/train_cifar_multi_node\"");
  const Ended ending = run("multi_node", "OMPI_MCA_mca_base_env_list=HOME");
  EXPECT_EQ(ending.code, 0) << ending.output;
  EXPECT_EQ(ending.count("/odori_mpi."), 1) << ending.output;
  EXPECT_EQ(ending.count(" list=none\n"), 1) << ending.output;
}

/// A job of PBS, whose Open MPI says of itself what `ompi_info` prints. The scheduler runs a copy of the script under
/// another name, somewhere else.
Ended run_under_pbs(const fs::path& root, const std::string& ompi_info, const std::string& site = "") {
  const fs::path script = root / "jobscripts" / script_name("multi_node");
  replace_line(script, "log mpirun", "log mpirun $MPIRUN_FLAGS \"$PROGRAMS/train_cifar_multi_node\"");
  fs::copy_file(script, root / "spooled.SC");
  write_file(root / "bin/ompi_info", "#!/bin/bash\necho '" + ompi_info + "'\n");
  write_file(root / "jobscripts/site.sh", site);
  if (!fs::exists(root / "hosts")) write_file(root / "hosts", "node1\nnode1\nnode2\nnode2\n");
  return run_command(fmt::format(
      "cd / && env -u ODORI_BUILD -u ODORI_OUT PATH={}:$PATH FLAGS=' ' PBS_O_WORKDIR={} PBS_NODEFILE={} bash {}",
      (root / "bin").string(), (root / "jobscripts").string(), (root / "hosts").string(),
      (root / "spooled.SC").string()));
}

TEST_F(JobScripts, ChunksThatWerePackedOntoOneHostAreTold) {
  write_file(root_ / "hosts", "node1\nnode1\nnode1\nnode1\n");
  const Ended ending = run_under_pbs(root_, "mca:plm:tm:version:mca:2.1.0");
  EXPECT_EQ(ending.count("The job got 1 host(s), although its select line asks for 2 nodes"), 1) << ending.output;
  fs::remove(root_ / "spooled.SC");
  write_file(root_ / "hosts", "node1\nnode2\n");
  EXPECT_EQ(run_under_pbs(root_, "mca:plm:tm:version:mca:2.1.0").count("The job got"), 0);
}

TEST_F(JobScripts, TheHostsOfGridEngineAndPjsubAreThoseThatMpirunIsGiven) {
  replace_line(script("multi_node"), "log mpirun", "log mpirun $MPIRUN_FLAGS \"$PROGRAMS/train_cifar_multi_node\"");
  write_file(root_ / "bin/ompi_info", "#!/bin/bash\n");
  // mpirun shows the file of hosts, one a process.
  write_file(root_ / "bin/mpirun",
             "#!/bin/bash\nwhile [[ $1 != --hostfile ]]; do shift; done\necho HOSTS $(cat \"$2\")\n"
             "echo 'Throughput: 150 [images/sec.] (1 / 2)'\n");
  write_file(root_ / "pe_hosts", "node1 48 all.q UNDEFINED\nnode2 48 all.q UNDEFINED\n");
  write_file(root_ / "jobscripts/site.sh", "SCHEDULER=age\nRESOURCE=node_f\n");
  const Ended age = run("multi_node", "PE_HOSTFILE=" + (root_ / "pe_hosts").string());
  EXPECT_EQ(age.count("HOSTS node1 node1 node2 node2\n"), 1) << age.output;
  write_file(root_ / "pjm_hosts", "node1\nnode2\n");
  write_file(root_ / "jobscripts/site.sh", "SCHEDULER=pjm\n");
  const Ended pjm = run("multi_node", "PJM_JOBID=7 PJM_O_NODEINF=" + (root_ / "pjm_hosts").string());
  EXPECT_EQ(pjm.count("HOSTS node1 node1 node2 node2\n"), 1) << pjm.output;
}

TEST_F(JobScripts, OpenMpi5IsAskedByItsOwnTool) {
  write_file(root_ / "bin/prte_info", "#!/bin/bash\necho mca:plm:tm:version:mca:2.1.0\n");
  EXPECT_EQ(run_under_pbs(root_, "").count("--hostfile"), 0);
}

TEST_F(JobScripts, OnSlurmAnMpirunThatDoesNotKnowItIsAWarningAndOnlyWhereThereIsAnMpirun) {
  write_file(root_ / "bin/ompi_info", "#!/bin/bash\n");
  const Ended task_1 = run("multi_gpu", "SLURM_JOB_ID=7");
  EXPECT_EQ(task_1.code, 0) << task_1.output;
  EXPECT_EQ(task_1.count("built for Slurm"), 0) << task_1.output;
  replace_line(script("multi_node"), "log mpirun", "log mpirun $MPIRUN_FLAGS \"$PROGRAMS/train_cifar_multi_node\"");
  const Ended task_2 = run("multi_node", "SLURM_JOB_ID=7");
  EXPECT_EQ(task_2.code, 0) << task_2.output;
  EXPECT_EQ(task_2.count("doesn't say that it was built for Slurm"), 1) << task_2.output;
}

TEST_F(JobScripts, AnInteractiveJobBeginsInAnotherFolder) {
  const Ended ending = run("multi_gpu", "PBS_O_WORKDIR=/ PBS_JOBID=7.head");
  EXPECT_EQ(ending.code, 0) << ending.output;
  EXPECT_EQ(ending.count("Speedup: 1.50"), 1) << ending.output;
}

TEST_F(JobScripts, ModulesOfAShellThatDoesNotKnowThemAreFound) {
  write_file(root_ / "lmod/init/bash", "module() { echo \"MODULE $*\"; }\n");
  write_file(root_ / "jobscripts/site.sh", "MODULES='cuda openmpi'\n");
  const Ended ending = run("multi_gpu", "LMOD_PKG=" + (root_ / "lmod").string());
  EXPECT_EQ(ending.code, 0) << ending.output;
  EXPECT_EQ(ending.count("MODULE load "), 2) << ending.output;
}

TEST_F(JobScripts, PlayedNodesAreThoseThatPbsWouldGive) {
  replace_line(script("multi_node"), "log mpirun", "log mpirun $MPIRUN_FLAGS \"$PROGRAMS/train_cifar_multi_node\"");
  std::string old = "#PBS -l select=";
  for (const auto& [text, nodes] :
       {std::pair("#PBS -l select=1:mpiprocs=3:ncpus=4+mpiprocs=1", "0,0,0,1"),
        std::pair("#PBS -l place=scatter,select=2:ompthreads=1", "0,1"),
        std::pair("#PBS -l select=9:mpiprocs=9", "0,1,2,3"),
        std::pair("#PBS -l \"select=2:mpiprocs=2\"\n#PBS -l select=1:mpiprocs=4", "0,0,1,1")}) {
    replace_line(script("multi_node"), old, text);
    const Ended ending = run("multi_node", "CORES=4");
    EXPECT_EQ(ending.count(fmt::format("nodes={}\n", nodes)), 1) << text << '\n' << ending.output;
    old = text;
  }
}

TEST_F(JobScripts, AnOpenMpiThatKnowsPbsNeedsNoHosts) {
  const Ended ending = run_under_pbs(root_, "mca:plm:tm:version:mca:2.1.0");
  EXPECT_EQ(ending.code, 0) << ending.output;
  EXPECT_EQ(ending.count("--hostfile"), 0) << ending.output;
  EXPECT_EQ(ending.count("-np "), 0) << ending.output;
  EXPECT_EQ(ending.count("nodes=\n"), 1) << ending.output;
}

TEST_F(JobScripts, AnOpenMpiThatDoesNotIsGivenTheHostsAndPbssLauncher) {
  const Ended ending = run_under_pbs(root_, "mca:plm:rsh:version:mca:2.1.0");
  EXPECT_EQ(ending.code, 0) << ending.output;
  EXPECT_EQ(ending.count("--hostfile "), 1) << ending.output;
  EXPECT_EQ(ending.count("plm_rsh_agent"), 0) << ending.output;  // there is no pbs_tmrsh here: mpirun's own ssh

  fs::remove(root_ / "spooled.SC");
  // mpirun starts its daemon there: it gives the host, then a command for its shell, in pieces. On the other host PATH
  // is what the launcher brings along.
  write_file(root_ / "bin/pbs_tmrsh", "#!/bin/bash\necho TMRSH $1 $2 $3\nshift\nexec env -i \"$@\"\n");
  write_file(root_ / "bin/orted", "#!/bin/sh\necho ORTED \"$@\"\n");
  write_file(root_ / "bin/mpirun",
             "#!/bin/bash\nwhile [[ $1 != plm_rsh_agent ]]; do shift; done\n\"$2\" node2 orted -mca ess env\n"
             "echo 'Throughput: 150 [images/sec.] (1 / 2)'\n");
  const Ended launched = run_under_pbs(root_, "mca:plm:rsh:version:mca:2.1.0");
  EXPECT_EQ(launched.count("TMRSH node2 /bin/sh -c\n"), 1) << launched.output;
  EXPECT_EQ(launched.count("ORTED -mca ess env\n"), 1) << launched.output;
  // Also where the job's folder for temporary files has a name with spaces.
  fs::remove(root_ / "spooled.SC");
  fs::create_directory(root_ / "a folder");
  setenv("TMPDIR", (root_ / "a folder").c_str(), 1);
  const Ended spaces = run_under_pbs(root_, "mca:plm:rsh:version:mca:2.1.0");
  unsetenv("TMPDIR");
  EXPECT_EQ(spaces.count("ORTED -mca ess env\n"), 1) << spaces.output;
  // And where a profile leaves PBS's own programs out of PATH.
  fs::remove(root_ / "spooled.SC");
  fs::create_directories(root_ / "pbs/bin");
  fs::rename(root_ / "bin/pbs_tmrsh", root_ / "pbs/bin/pbs_tmrsh");
  write_file(root_ / "pbs.conf", fmt::format("PBS_SERVER=head\nPBS_EXEC={}\n", (root_ / "pbs").string()));
  setenv("PBS_CONF_FILE", (root_ / "pbs.conf").c_str(), 1);
  const Ended elsewhere = run_under_pbs(root_, "mca:plm:rsh:version:mca:2.1.0");
  unsetenv("PBS_CONF_FILE");
  EXPECT_EQ(elsewhere.count("ORTED -mca ess env\n"), 1) << elsewhere.output;
}

TEST_F(JobScripts, TheSiteFileSaysHowProcessesAreStarted) {
  const Ended ending = run_under_pbs(
      root_, "mca:plm:tm:", "INTERFACE=ib0\nBINDING='--map-by socket --report-bindings'\nMPI_FLAGS=--quiet\n");
  EXPECT_EQ(ending.count("--mca btl_tcp_if_include ib0"), 1) << ending.output;
  EXPECT_EQ(ending.count("NCCL_SOCKET_IFNAME=ib0"), 1) << ending.output;
  EXPECT_EQ(ending.count("--map-by socket --report-bindings"), 1) << ending.output;
  EXPECT_EQ(ending.count("--bind-to none"), 0) << ending.output;
  EXPECT_EQ(ending.count("--quiet"), 1) << ending.output;
}

TEST_F(JobScripts, AModuleThatIsNotThereStopsTheJob) {
  const Ended ending = run_under_pbs(root_, "mca:plm:tm:", "module() { return 1; }\nMODULES='no_such_module'\n");
  EXPECT_EQ(ending.code, 20) << ending.output;
  EXPECT_EQ(ending.count("The module no_such_module can't be loaded"), 1) << ending.output;
}

TEST_F(JobScripts, SubmittedFromAnotherFolderSaysSo) {
  fs::copy_file(script("multi_gpu"), root_ / "spooled.SC");
  const Ended ending = run_command(fmt::format("cd / && PBS_O_WORKDIR=/ bash {}", (root_ / "spooled.SC").string()));
  EXPECT_EQ(ending.code, 20) << ending.output;
  EXPECT_EQ(ending.count("wasn't submitted from the kit's folder jobscripts"), 1) << ending.output;
}

TEST_F(JobScripts, AnUnfilledProgramStopsBeforeTheBaselineRuns) {
  std::ofstream(source("multi_gpu"), std::ios::app) << "int a = PUT_YOUR_CODE;\n";
  fs::last_write_time(source("multi_gpu"), fs::file_time_type::clock::now() - std::chrono::hours(1));  // it is built
  write_file(program("multi_gpu"), "#!/bin/bash\necho reached blank 3\nexit 10\n");
  const Ended ending = run("multi_gpu");
  EXPECT_EQ(ending.code, 10);
  EXPECT_EQ(behind_first_line(ending.output), "reached blank 3\n");
}

TEST_F(JobScripts, AFailureEndsTheJobWithItsExitCode) {
  write_file(program("single_gpu"), "#!/bin/bash\necho no data; exit 3\n");
  const Ended ending = run("multi_gpu");
  EXPECT_EQ(ending.code, 3);
  EXPECT_EQ(behind_first_line(ending.output), "no data\n");
}

TEST_F(JobScripts, AChangedExerciseIsBuiltFirst) {
  write_file(root_ / "bin/cmake", "#!/bin/bash\necho CMAKE \"$@\"\n");
  fs::last_write_time(source("multi_gpu"), fs::file_time_type::clock::now() + std::chrono::hours(1));
  const Ended built = run("multi_gpu");
  EXPECT_EQ(built.code, 0) << built.output;
  EXPECT_EQ(built.count(
                fmt::format("CMAKE --build {} --target train_cifar_multi_gpu_exercise\n", (root_ / "build").string())),
            1)
      << built.output;
  write_file(root_ / "bin/cmake", "#!/bin/bash\nexit 1\n");
  const Ended broken = run("multi_gpu");
  EXPECT_EQ(broken.code, 12);
  EXPECT_EQ(broken.count("train_cifar_multi_gpu.cpp doesn't compile"), 1) << broken.output;
}

TEST_F(JobScripts, AKitThatIsNotBuiltIsToldSo) {
  fs::remove_all(root_ / "build");
  const Ended ending = run("multi_node");
  EXPECT_EQ(ending.code, 20);
  EXPECT_EQ(ending.count("./odori setup"), 1) << ending.output;
}

TEST_F(JobScripts, ABuildOfAnotherKitIsToldSo) {
  write_file(root_ / "build/CMakeCache.txt", "CMAKE_HOME_DIRECTORY:INTERNAL=/former/place\n");
  const Ended ending = run("multi_node");
  EXPECT_EQ(ending.code, 20);
  EXPECT_EQ(ending.count("was built from the kit in /former/place, and this one is in"), 1) << ending.output;
}

TEST_F(JobScripts, ASelectLineThatCannotBeReadIsToldSo) {
  for (const char* line : {"#PBS -l select=two", "#PBS -l nodes=2", "#PBS -l select=0:mpiprocs=2:ompthreads=1",
                           "#PBS -l select=2：mpiprocs=2：ompthreads=1"}) {
    replace_line(script("multi_node"), "#PBS -l ", line);
    const Ended ending = run("multi_node");
    EXPECT_EQ(ending.code, 2) << line;
    EXPECT_EQ(ending.count("The select line of"), 1) << ending.output;
  }
}

TEST_F(JobScripts, AnUnfilledSelectLineStopsAsABlankDoes) {
  for (const auto& [task, number] : {std::pair{"multi_gpu", 8}, {"multi_node", 7}}) {
    replace_line(script(task), "#PBS -l select=", "#PBS -l PUT_YOUR_CODE");
    const Blank blank = parse_blanks(split_lines(read_file(script(task))), script(task).string()).at(0);
    EXPECT_EQ(blank.number, number);
    const Ended ending = run(task);
    EXPECT_EQ(ending.code, 10);
    EXPECT_EQ(ending.output,
              fmt::format("\nThe job script reached blank {0}, which isn't filled in yet.\n"
                          "  question: {1}\n"
                          "  where:    {2}:{3}\n"
                          "  a hint:   ./odori hint {4} {0}\n"
                          "Replace PUT_YOUR_CODE there by your own text, and submit or run the script again.\n",
                          number, blank.question, script(task).string(), blank.text_line, task));
  }
}

TEST_F(JobScripts, ProfileWrapsEachProcessInNsightSystems) {
  write_file(root_ / "bin/nsys", "#!/bin/bash\necho NSYS \"$@\"\nshift 4\nexec \"$@\"\n");
  replace_line(script("multi_node"), "log mpirun", "log mpirun $MPIRUN_FLAGS \"$PROGRAMS/train_cifar_multi_node\"");
  const Ended ending = run("multi_node", "PROFILE=1");
  EXPECT_EQ(ending.code, 0) << ending.output;
  const std::string out = "--output=" + (root_ / "out/jobs/multi_node_").string();
  EXPECT_EQ(ending.count(out), 2) << ending.output;
  EXPECT_EQ(ending.count("/train_cifar_single_gpu_%h_%p"), 1) << ending.output;
  EXPECT_EQ(ending.count("/train_cifar_multi_node_%h_%p "), 1) << ending.output;
  EXPECT_LT(ending.output.find("MPIRUN"), ending.output.find("multi_node_%h_%p")) << "a wrapper a process";
  EXPECT_EQ(ending.count("\nNODES"), 1) << ending.output;
  EXPECT_EQ(run("multi_gpu", "PROFILE=0").count("NSYS"), 0);
}

TEST_F(JobScripts, ProfileWithoutNsightSystemsIsToldSo) {
  // Wherever this machine has it: the script doesn't see it.
  write_file(root_ / "no_nsys", "command() { [ \"$2\" != nsys ] && builtin command \"$@\"; }\n");
  const Ended ending = run("multi_gpu", "PROFILE=1 BASH_ENV=" + (root_ / "no_nsys").string());
  EXPECT_EQ(ending.code, 20);
  EXPECT_EQ(ending.count("there is no nsys in PATH"), 1) << ending.output;
}

/// The real scripts, with the real programs.
TEST_F(JobScripts, OfTheSolutionsTrainAndCompare) {
  synthetic::write_set(root_ / "data", {.train = 160, .test = 40});
  const std::string flags = fmt::format("--device cpu --model tiny --epoch 1 --batchsize 16 --no-snapshot --dataset {}",
                                        (root_ / "data").string());
  for (const char* task : {"single_gpu", "multi_gpu", "multi_node"}) {
    const Ended ending = run_command(fmt::format("env ODORI_BUILD={} ODORI_OUT={} FLAGS='{}' bash {}",
                                                 ODORI_BUILD_FOLDER, (root_ / task).string(), flags,
                                                 (kit / "solutions" / folder_of(task) / script_name(task)).string()));
    EXPECT_EQ(ending.code, 0) << ending.output;
    const bool baseline = std::string(task) == "single_gpu";
    EXPECT_EQ(ending.count("Throughput: "), baseline ? 1 : 2) << ending.output;
    const auto last = split_lines(ending.output).back();
    EXPECT_TRUE(last.starts_with(baseline ? "Throughput: " : "Speedup: ")) << ending.output;
  }
}

}  // namespace
}  // namespace odori::grader
