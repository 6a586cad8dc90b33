#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The job scripts under a real OpenPBS of two nodes, as an ordinary user. No package has it: see openpbs_cluster.sh.
#   openpbs_test.sh PREFIX KIT BUILD
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/cluster_hosts.sh"

if [[ ${1:-} != --student ]]; then
  # The student may look there, and PBS takes no folder below one that everyone may write to.
  folder=$(mktemp -d /var/lib/odori_openpbs_test.XXXXXX)
  trap 'rm -rf "$folder"' EXIT
  chmod 755 "$folder"
  mkdir "$folder/cluster"
  student_kit "$(realpath "$2")" "$(realpath "$3")" "$folder/kit" || exit
  cp -a "$here"/{cluster_hosts,openpbs_cluster,openpbs_test}.sh "$folder/"
  "$folder/openpbs_cluster.sh" "$1" "$folder/cluster" "$folder/openpbs_test.sh" --student "$folder/kit"
  exit
fi

# ---- From here on the student, on the cluster's head
kit=$2
export LC_ALL=C.UTF-8
unset ODORI_SITE
flags="--device cpu --model tiny --batchsize 16 --no-snapshot --dataset $kit/data"
export FLAGS="$flags --epoch 2"

# Submits, waits for the job's end, and gives its output's name.
job_output() {  # COMMAND...
  local id try
  id=$("$@" 2>&1 | grep -oE '^[0-9]+' | head -n 1)
  for ((try = 0; try < 300; ++try)); do
    [[ $(qstat -x -f "$id" | sed -n 's/^ *job_state = //p') != F || ! -e $(echo *.o"$id") ]] || break
    sleep 0.5
  done
  echo *.o"$id"
}

# Types a command into an interactive job on both nodes, which starts in the student's home. What both said is in interactive.txt.
type_interactively() {  # COMMAND, which may read what is typed behind it
  local try
  mkfifo typed
  timeout 120 script -qefc "qsub -I -v FLAGS -l select=2:mpiprocs=2 -l place=scatter" interactive.txt <typed >/dev/null &
  exec {keys}>typed
  for ((try = 0; try < 300; ++try)); do
    ! grep -q ' ready' interactive.txt 2>/dev/null || break
    sleep 0.2
  done
  printf '%s; exit\n' "$1" >&"$keys"
  exec {keys}>&-
  wait $!
}

refused() {  # TEXT LINE: what qsub says of a job script with this (of sed) for its select line, and explain of that
  sed "s/^#PBS -l select=.*/$2/" run_multi_node_training.sh >refused.sh
  ! qsub -v FLAGS -j oe refused.sh >refused.txt 2>&1 && has refused.txt "$1" && ! explained refused.txt 'none of the known faults|not in this table' >/dev/null
}

cd "$kit/solutions/01_multi_gpu" || exit
check "task 1 trains and ends in its speedup" has "$(job_output qsub -v FLAGS -j oe run_multi_gpu_training.sh)" '^Speedup: [0-9.]+ '
cd "$kit/solutions/02_multi_node" || exit
output=$(job_output qsub -v FLAGS -j oe run_multi_node_training.sh)
check "task 2 has 2 nodes" has "$output" '^Num nodes: 2$'
check "and ends in its speedup" has "$output" '^Speedup: [0-9.]+ '
printf 'SCHEDULER=pbs\nQUEUE=workq\nWALLTIME=00:05:00\n' >"$kit/jobscripts/site.sh"
check "./odori submit submits the same" has "$(job_output "$kit/odori" submit multi_node --solution)" '^Num nodes: 2$'
sed '/place=scatter/d' run_multi_node_training.sh >packed.sh
check "chunks on one node are told" explained "$(job_output qsub -v FLAGS -j oe packed.sh)" 'several chunks of the select line onto one node'
check "an interactive job ends with its shell" type_interactively "bash $PWD/run_multi_node_training.sh"
check "and runs a script by its path, on 2 nodes" has interactive.txt '^Num nodes: 2'
check "and ends in its speedup" has interactive.txt '^Speedup: [0-9.]+ '
FLAGS="$flags --epoch 900"
check "a job at its limit is told of it" explained "$(job_output qsub -l walltime=00:00:06 -v FLAGS -j oe run_multi_node_training.sh)" \
  'ended when its time was over'

for sample in 'Unknown resource Resource_List.PUT_YOUR_CODE|#PBS -l PUT_YOUR_CODE' 'Unknown resource: mpiproc|#PBS -l select=2:mpiproc=2' \
  'Unknown resource: ngpus|#PBS -l select=2:ngpus=2' 'Cannot be used with select or place: nodes|#PBS -l nodes=2' \
  'Cannot have "place" without "select"|#PBS -q workq' \
  'directive error: --select|#PBS --select 2' 'directive error: -l select = 2|#PBS -l select = 2' \
  'resource value Resource_List.select|#PBS -l select=two' 'Unknown queue|&\n#PBS -q nowhere' 'Bad GID|&\n#PBS -W group_list=root' \
  'violates queue|&\n#PBS -l walltime=100:00:00' 'resource value Resource_List.walltime|#PBS -l walltime=abc'; do
  check "refused: ${sample#*|}" refused "${sample%%|*}" "${sample#*|}"
done
echo "$failures of the checks failed."
exit $((failures > 0))
