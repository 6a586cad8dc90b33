# SPDX-License-Identifier: Apache-2.0
# A job script's #PBS lines for one site, from standard input; sourced by submit.sh and use_site.sh, after command_line.sh.
# For each scheduler that isn't PBS, the same lines in its own words.

# The site file's variables, all empty: what it doesn't set is not asked for.
SCHEDULER="" QUEUE="" GROUP="" WALLTIME="" CHUNK="" RESOURCE="" GPUS_A_NODE="" SBATCH_FLAGS="" QSUB_FLAGS="" PJSUB_FLAGS=""

stop() {  # EXIT_CODE ENGLISH [JAPANESE]
  printf 'odori: %s\n' "$(say "$2" "${3:-$2}")" >&2
  exit "$1"
}

# The site file in force, whose settings have to be such that these lines can be made of them.
take_site() {
  . "$kit/jobscripts/site_in_force.sh"
  [[ -e $site ]] || stop 2 "there is no site file $site, which says what this cluster is like. Copy the example that comes nearest from $kit/jobscripts/sites, change what differs, and give it to the kit: ./odori site FILE. Without a scheduler: ./odori site $kit/jobscripts/sites/local.sh" \
    "クラスタの設定を書くサイトファイル $site がありません。$kit/jobscripts/sites から近い例をコピーし、違うところを直して、./odori site FILE で指定してください。スケジューラがなければ: ./odori site $kit/jobscripts/sites/local.sh"
  [[ ! $SCHEDULER =~ ^(torque|lsf|nqsv)$ ]] ||
    stop 2 "the site file $site says SCHEDULER=$SCHEDULER: the lines of PBS Pro, Slurm, Grid Engine and pjsub can be written, and no others. Set SCHEDULER=none, and take the nodes in an interactive job. Torque: qsub -I -l nodes=2:ppn=2, then there: bash run_multi_node_training.sh. LSF and NQSV, one node only: env -u LSB_JOBID bash run_multi_gpu_training.sh" \
      "サイトファイル $site に SCHEDULER=$SCHEDULER と書かれていますが、書けるのは PBS Pro、Slurm、Grid Engine、pjsub の指定行だけです。SCHEDULER=none とし、対話型ジョブでノードを確保してください。Torque: qsub -I -l nodes=2:ppn=2 の後、その中で bash run_multi_node_training.sh。LSF と NQSV は 1 ノードのみ: env -u LSB_JOBID bash run_multi_gpu_training.sh"
  [[ $SCHEDULER =~ ^(pbs|slurm|age|pjm|none)$ ]] ||
    stop 2 "the site file $site says SCHEDULER=$SCHEDULER; it should be pbs, slurm, age, pjm or none."
  [[ $GPUS_A_NODE =~ ^([1-9][0-9]*)?$ ]] ||
    stop 2 "the site file $site says GPUS_A_NODE=$GPUS_A_NODE; it should be the number of a node's GPUs, from 1, or nothing where they have none."
  [[ $SCHEDULER != age || -n $RESOURCE ]] ||
    stop 2 "the site file $site names no RESOURCE: Grid Engine asks for nodes by a name of the site's, as in RESOURCE=node_f."
}

# A name that the site file leaves empty turns its line into a comment (##PBS), which another site's can use again; a time
# that it leaves empty stays the script's.
for_pbs() {
  awk -v queue="$QUEUE" -v group="$GROUP" -v walltime="$WALLTIME" -v chunk="$CHUNK" '
    /^##?PBS -q/ { print (queue != "" ? "#PBS -q " queue : "##PBS -q"); next }
    /^##?PBS -W group_list=/ { print (group != "" ? "#PBS -W group_list=" group : "##PBS -W group_list="); next }
    /^#PBS -l walltime=/ && walltime != "" { print "#PBS -l walltime=" walltime; next }
    /^#PBS -l +select=/ && chunk != "" { sub(/ *$/, ":" chunk); gsub(/\+/, ":" chunk "+") }
    { print }'
}

# select=2:mpiprocs=2:ompthreads=1 is --nodes=2 --ntasks-per-node=2 --cpus-per-task=1.
for_slurm() {
  translate '
    function queue(name) { directive("--partition=" name) }
    function group(name) { directive("--account=" name) }
    function time(limit) { directive("--time=" limit) }
    function name(job) { directive("--job-name=" job); directive("--output=" job ".o%j") }
    function nodes(n, processes, threads) {
      directive("--nodes=" n)
      directive("--ntasks-per-node=" processes)
      directive("--cpus-per-task=" threads)
      if (gpus != "") directive("--gres=gpu:" gpus)
    }' "#SBATCH" "$SBATCH_FLAGS"
}

# Altair Grid Engine: nodes go by a name of the site's, or slots by that of a parallel environment (RESOURCE="-pe mpi"); the group is
# a flag of qsub (see submit.sh).
for_age() {
  translate '
    function queue(name) { directive("-q " name) }
    function group(name) {}
    function time(limit) { directive("-l h_rt=" limit) }
    function name(job) { directive("-N " job); directive("-j y"); directive("-cwd") }
    function nodes(n, processes, threads) { directive(resource ~ /^-pe / ? resource " " n * processes * threads : "-l " resource "=" n) }' "#\$" ""
}

# Fujitsu's pjsub.
for_pjm() {
  translate '
    function queue(name) { directive("-L rscgrp=" name) }
    function group(name) { directive("-g " name) }
    function time(limit) { directive("-L elapse=" limit) }
    function name(job) { directive("-N " job); directive("-j") }
    function nodes(n, processes, threads) {
      directive("-L node=" n)
      directive("--mpi proc=" n * processes)
      directive("--omp thread=" threads)
    }' "#PJM" "$PJSUB_FLAGS"
}

# translate WORDS PREFIX FLAGS: the #PBS lines by the functions of WORDS, each line beginning with PREFIX.
translate() {
  local script
  script=$(cat)
  ! grep -qE '^#PBS -l +select=.*\+' <<<"$script" ||
    stop 2 "outside of PBS all nodes of a job are alike: the select line may have one chunk, and no '+'."
  awk -v prefix="$2" -v flags="$3" -v queue_name="$QUEUE" -v group_name="$GROUP" -v walltime="$WALLTIME" \
    -v gpus="$GPUS_A_NODE" -v resource="$RESOURCE" "
    function directive(text) { print prefix \" \" text }
    $1"'
    /^##?PBS -q/ { if (queue_name != "") queue(queue_name); next }
    /^##?PBS -W group_list=/ { if (group_name != "") group(group_name); next }
    /^#PBS -l walltime=/ { time(walltime != "" ? walltime : substr($0, index($0, "=") + 1)); next }
    /^#PBS -l place=/ { next }  # these schedulers keep nodes apart by themselves
    /^#PBS -N / { name($3); next }
    /^#PBS -l +select=/ {
      sub(/.*select=/, ""); sub(/ *$/, "")
      n = split($0, parts, ":")
      processes = threads = 1
      for (i = 2; i <= n; ++i) {
        split(parts[i], pair, "=")
        if (pair[1] == "mpiprocs") processes = pair[2]
        if (pair[1] == "ompthreads") threads = pair[2]
      }
      nodes(parts[1], processes, threads)
      n = split(flags, more, " ")
      for (i = 1; i <= n; ++i) directive(more[i])
      next
    }
    { print }' <<<"$script"
}
