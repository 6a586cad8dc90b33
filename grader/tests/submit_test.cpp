// SPDX-License-Identifier: Apache-2.0
// ./odori submit and ./odori site: what they hand to each scheduler.
#include "jobscripts_fixture.h"

namespace odori::grader {
namespace {

TEST_F(JobScripts, ASitesNamesAreFilledInForItsScheduler) {
  fs::copy(kit / "jobscripts/sites", root_ / "jobscripts/sites");
  for (const char* name : {"submit.sh", "use_site.sh", "directives.sh"})
    fs::copy_file(kit / "jobscripts" / name, root_ / "jobscripts" / name);
  const auto submit = [&](const std::string& site) {
    return run_command(fmt::format("cd / && ODORI_SITE={} bash {} multi_node --print",
                                   (root_ / "jobscripts/sites" / site).string(),
                                   (root_ / "jobscripts/submit.sh").string()));
  };
  const Ended pbs = submit("pbs.sh");
  EXPECT_EQ(pbs.code, 0) << pbs.output;
  EXPECT_EQ(pbs.count("#PBS -q workq\n"), 1) << pbs.output;
  EXPECT_EQ(pbs.count("##PBS -W group_list=\n"), 1) << pbs.output;
  EXPECT_EQ(pbs.count("#PBS -l place=scatter\n"), 1) << pbs.output;
  EXPECT_EQ(pbs.count("#PBS -l select=2:mpiprocs=2:ompthreads=1\n"), 1) << pbs.output;
  const Ended slurm = submit("slurm.sh");
  for (const char* line : {"#SBATCH --partition=gpu\n", "#SBATCH --nodes=2\n", "#SBATCH --ntasks-per-node=2\n",
                           "#SBATCH --cpus-per-task=1\n", "#SBATCH --gres=gpu:2\n", "#SBATCH --time=00:10:00\n",
                           "#SBATCH --job-name=multi_node_training\n"})
    EXPECT_EQ(slurm.count(line), 1) << line << slurm.output;
  EXPECT_EQ(slurm.count("#PBS"), 0) << slurm.output;
  EXPECT_EQ(slurm.count("--account"), 0) << slurm.output;  // the example site has none
  const Ended age = submit("tsubame4.sh");
  for (const char* line : {"#$ -l node_f=2\n", "#$ -l h_rt=00:10:00\n", "#$ -N multi_node_training\n", "#$ -cwd\n"})
    EXPECT_EQ(age.count(line), 1) << line << age.output;
  EXPECT_EQ(age.count("#PBS"), 0) << age.output;
  write_file(root_ / "jobscripts/sites/slots.sh", "SCHEDULER=age\nRESOURCE='-pe mpi'\n");
  EXPECT_EQ(submit("slots.sh").count("#$ -pe mpi 4\n"), 1);
  const Ended pjm = submit("wisteria.sh");
  for (const char* line : {"#PJM -L rscgrp=short-a\n", "#PJM -L node=2\n", "#PJM --mpi proc=4\n",
                           "#PJM --omp thread=1\n", "#PJM -L elapse=00:10:00\n"})
    EXPECT_EQ(pjm.count(line), 1) << line << pjm.output;
  EXPECT_EQ(pjm.count("#PBS"), 0) << pjm.output;
  // The kit's answers are for the site's devices, and learners' are as they wrote them.
  EXPECT_EQ(submit("miyabi.sh").count("select=2:mpiprocs=2:"), 1);
  const auto submit_solution = [&](const std::string& task) {
    return run_command(fmt::format("cd / && ODORI_SITE={} bash {} {} --solution --print",
                                   (root_ / "jobscripts/sites/miyabi.sh").string(),
                                   (root_ / "jobscripts/submit.sh").string(), task));
  };
  EXPECT_EQ(submit_solution("multi_node").count("select=2:mpiprocs=1:ompthreads=1\n"), 1);
  EXPECT_EQ(submit_solution("multi_gpu").count("select=1:mpiprocs=1:ompthreads=1\n"), 1);
  for (const auto& entry : fs::directory_iterator(kit / "jobscripts/sites"))
    EXPECT_EQ(submit(entry.path().filename()).code, 0) << entry.path();
  // Nothing was chosen yet.
  const Ended japanese = run_command(
      fmt::format("cd / && bash {} multi_node --lang ja --solution", (root_ / "jobscripts/submit.sh").string()));
  EXPECT_EQ(japanese.count("./odori site FILE で指定してください"), 1) << japanese.output;

  // The site's names stay out of the blank, and another site's take their place.
  const std::string before = read_file(script("multi_node"));
  const auto use = [&](const std::string& site) {
    return run_command(fmt::format("bash {} {}", (root_ / "jobscripts/use_site.sh").string(),
                                   (root_ / "jobscripts/sites" / site).string()));
  };
  EXPECT_EQ(use("pbs.sh").code, 0);
  EXPECT_NE(read_file(script("multi_node")).find("#PBS -q workq\n"), std::string::npos);
  EXPECT_EQ(use("slurm.sh").code, 0);
  EXPECT_NE(read_file(script("multi_node")).find("##PBS -W group_list=\n"), std::string::npos);
  write_file(root_ / "jobscripts/sites/mine.sh", "SCHEDULER=pbs\nQUEUE=\nGROUP=\n");
  EXPECT_EQ(use("mine.sh").code, 0);
  EXPECT_EQ(read_file(script("multi_node")), before);
  EXPECT_EQ(submit("none.sh").count("there is no site file"), 1);
  EXPECT_EQ(use("none.sh").code, 2);
  EXPECT_EQ(use("none.sh").count("Copy the example that comes nearest from"), 1);
  EXPECT_EQ(use("mine.sh another.sh").code, 2);
  write_file(root_ / "jobscripts/sites/bad.sh", "SCHEDULER=pbs\nexit 0\n");
  EXPECT_EQ(use("bad.sh").count("can't be read to its end"), 1);
  write_file(root_ / "jobscripts/sites/bad.sh", "SCHEDULER=pbs\r\n");
  EXPECT_EQ(use("bad.sh").count("Windows' line ends"), 1);
  write_file(root_ / "jobscripts/sites/bad.sh", "SCHEDULER=pbs\nGPUS_A_NODE=two\n");
  EXPECT_EQ(use("bad.sh").count("GPUS_A_NODE=two; it should be the number"), 1);
  write_file(root_ / "jobscripts/sites/bad.sh", "SCHEDULER=torque\n");
  EXPECT_EQ(use("bad.sh").count("Torque: qsub -I -l nodes=2:ppn=2, then there: bash run_multi_node_training.sh"), 1);
  EXPECT_EQ(read_file(script("multi_node")), before) << "a file that is refused changes nothing";
}

/// The stand-in refuses what a real qsub of OpenPBS was seen to refuse, and shows what the job would get.
constexpr const char* strict_qsub = R"(#!/bin/bash
script="" variables=0 names=""
while [[ $# -gt 0 ]]; do
  case $1 in
    -v) variables=$((variables + 1)) names=$2; shift ;;
    -j | -q | -P | -A | -W | -N | -l | -J) shift ;;
    -*) echo "qsub: illegal option $1" >&2; exit 2 ;;
    *) script=$1 ;;
  esac
  shift
done
[[ $variables -le 1 ]] || { echo "qsub: only one -v" >&2; exit 2; }
for name in ${names//,/ }; do
  [[ $name == *=* || -n ${!name+set} ]] || { echo "qsub: cannot send environment with the job" >&2; exit 1; }
done
! grep -q $'\r' "$script" || { echo "qsub: script contains cr, lf" >&2; exit 1; }
while read -r _ option value; do
  case $option in
    -l) [[ $value == *=* || -z $value ]] || { echo "qsub: Unknown resource Resource_List.$value" >&2; exit 187; }
        [[ $value != nodes=* ]] || ! grep -qE '^#PBS -l (select|place)=' "$script" ||
          { echo "qsub: Cannot be used with select or place: nodes" >&2; exit 1; }
        [[ ! $value =~ ^(place|walltime)= || $value =~ ^(place=(scatter|pack|free)$|walltime=[0-9:]+$) ]] ||
          { echo "qsub: Illegal attribute or resource value Resource_List.${value%%=*}" >&2; exit 166; }
        [[ $value =~ ^(select|place|walltime|filesystems|nodes)= ]] ||
          { echo "qsub: directive error: $option $value" >&2; exit 1; }
        for part in $(tr ':+' '  ' <<<"${value#select=}"); do
          [[ $value != select=* || $part =~ ^([0-9]+|(mpiprocs|ompthreads|ncpus)=[0-9]+)$ ]] ||
            { echo "qsub: Unknown resource: ${part%%=*}" >&2; exit 187; }
        done ;;
    -q | -N | -W | -j) [[ -n $value ]] || { echo "qsub: directive error: $option" >&2; exit 1; } ;;
    *) echo "qsub: directive error: $option $value" >&2; exit 1 ;;
  esac
done < <(grep '^#PBS ' "$script")
for name in ${names//,/ }; do printf 'JOB GETS %s=%s\n' "$name" "${!name}"; done
echo 42.head
)";

TEST_F(JobScripts, WhatIsSubmittedIsWhatARealQsubTakes) {
  fs::copy(kit / "jobscripts/sites", root_ / "jobscripts/sites");
  for (const char* name : {"submit.sh", "directives.sh", "explain.sh"})
    fs::copy_file(kit / "jobscripts" / name, root_ / "jobscripts" / name);
  fs::copy(kit / "jobscripts/explain", root_ / "jobscripts/explain");
  write_file(root_ / "bin/qsub", strict_qsub);
  write_file(root_ / "jobscripts/site.sh", "SCHEDULER=pbs\nQSUB_FLAGS='-P group -v USE_SSH=1'\n");
  const auto submit = [&](const std::string& environment, const std::string& task) {
    return run_command(fmt::format("cd / && env -u ODORI_SITE PATH={}:$PATH {} bash {} {} --solution",
                                   (root_ / "bin").string(), environment, (root_ / "jobscripts/submit.sh").string(),
                                   task));
  };
  for (const char* task : {"single_gpu", "multi_gpu", "multi_node"}) {
    const Ended ending = submit("FLAGS='--epoch 1 --batchsize 64'", task);
    EXPECT_EQ(ending.code, 0) << ending.output;
    EXPECT_EQ(ending.count("JOB GETS FLAGS=--epoch 1 --batchsize 64\n"), 1) << ending.output;
    EXPECT_EQ(ending.count(fmt::format("{}_training.oID", task)), 2) << ending.output;
  }
  EXPECT_EQ(submit("", "single_gpu")
                .count(fmt::format("./odori explain {}/single_gpu_training.oID",
                                   answer("single_gpu").parent_path().string())),
            1);
  EXPECT_EQ(submit("", "--lang ja multi_gpu").count("ログは "), 1)
      << "the language is the kit's, and no flag of qsub's";
  // What the learner's own mistake brings, and what explain makes of it, also through a pipe.
  const fs::path answer = this->answer("multi_node"), kits = kit / "solutions/02_multi_node" / answer.filename();
  for (const auto& [line, said] : {std::pair("#PBS -l PUT_YOUR_CODE", "A blank still holds PUT_YOUR_CODE"),
                                   std::pair("#PBS -l select=2:mpiproc=2", "a name in it is misspelt"),
                                   std::pair("#PBS -l nodes=2", "in a line of its own beside `select`"),
                                   std::pair("#PBS -l walltime=soon", "`-l walltime=` takes HH:MM:SS"),
                                   std::pair("#PBS --select 2", "does not understand an option")}) {
    fs::copy_file(kits, answer, fs::copy_options::overwrite_existing);
    replace_line(answer, "#PBS -l select", line);
    const Ended ending = run_command(
        fmt::format("cd / && env -u ODORI_SITE PATH={}:$PATH bash {} multi_node --solution 2>&1 | bash {} --lang en",
                    (root_ / "bin").string(), (root_ / "jobscripts/submit.sh").string(),
                    (root_ / "jobscripts/explain.sh").string()));
    EXPECT_EQ(ending.count(said), 1) << line << '\n' << ending.output;
  }
}

}  // namespace
}  // namespace odori::grader
