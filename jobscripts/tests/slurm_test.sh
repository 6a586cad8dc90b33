#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The job scripts under a real scheduler: Slurm with its PBS-compatible qsub, two nodes, an ordinary user.
#   slurm_test.sh KIT BUILD
# Skipped (exit code 77) where Slurm isn't installed or namespaces can't be made; in CI that is a failure.
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/cluster_hosts.sh"

if [[ ${1:-} != --student ]]; then
  if [[ $EUID -ne 0 ]] || ! type qsub slurmctld slurmd munged >/dev/null 2>&1; then
    echo "needs root and Slurm with its qsub (Debian: slurm-wlm slurm-wlm-torque munge iproute2); CI installs them"
    exit $([[ -n ${CI:-} ]] && echo 1 || echo 77)
  fi
  kit=$(realpath "$1") build=$(realpath "$2")
  folder=$(mktemp -d /tmp/odori_slurm_test.XXXXXX)  # the student may not look everywhere that root may
  trap 'rm -rf "$folder"' EXIT
  chmod 755 "$folder"
  mkdir "$folder/cluster"
  student_kit "$kit" "$build" "$folder/kit" || exit
  cp -a "$here"/{cluster_hosts,slurm_cluster,slurm_test}.sh "$folder/"
  "$folder/slurm_cluster.sh" "$folder/cluster" "$folder/slurm_test.sh" --student "$folder/kit"
  exit
fi

# ---- From here on the student, on the cluster's head
kit=$2
export LC_ALL=C.UTF-8
unset ODORI_SITE
export FLAGS="--device cpu --model tiny --epoch 2 --batchsize 16 --no-snapshot --dataset $kit/data"

# Submits, waits for the job's end, and gives the job's output: the newest file NAME.oID in this folder.
job_output() {  # COMMAND...
  local id
  id=$("$@" 2>&1 | grep -oE '[0-9]+$' | tail -n 1)
  while squeue --noheader --jobs="$id" 2>/dev/null | grep -q .; do sleep 0.1; done
  ls -- *.o"$id"
}

check "an ordinary user submits" test "$(id -u)" -ne 0
cd "$kit/solutions/01_multi_gpu" || exit

output=$(job_output qsub -j oe run_multi_gpu_training.sh)
check "task 1 trains and ends in its speedup" has "$output" '^Speedup: [0-9.]+ '

cd "$kit/solutions/02_multi_node" || exit
output=$(job_output qsub -j oe run_multi_node_training.sh)
check "task 2 has 2 nodes" has "$output" '^Num nodes: 2$'
check "task 2 has 4 ranks" has "$output" '^Num process \(COMM_WORLD\): 4$'
check "task 2 ends in its speedup" has "$output" '^Speedup: [0-9.]+ '
check "its log has a dated name" test -s "$(echo "$kit"/out/jobs/multi_node_log_2*.txt)"
# This network is so small that the exchange may take longer than it saves.
check "explain finds nothing worse than a slowdown in it" explained "$output" 'nothing went wrong|was slower than on one'

printf 'SCHEDULER=slurm\nQUEUE=workshop\nWALLTIME=00:05:00\n' >"$kit/jobscripts/site.sh"
output=$(job_output "$kit/odori" submit multi_node --solution)
check "./odori submit makes #SBATCH lines, and the same job of them" has "$output" '^Num nodes: 2$'
check "which ends in its speedup" has "$output" '^Speedup: [0-9.]+ '

# ---- What a learner meets
refused=$kit/refused.txt

"$kit/odori" submit multi_node >"$refused" 2>&1
check "an unfilled script is refused with exit code 10" test $? -eq 10
check "and told why" has "$refused" '^ 7 .*UNFILLED'
check "and no job waits in the queue" test -z "$(squeue --noheader)"

qsub -q nowhere -j oe run_multi_node_training.sh >"$refused" 2>&1
check "an unknown queue" explained "$refused" 'has no queue of that name'
sed 's/select=2/select=3/' run_multi_node_training.sh >too_many.sh
qsub -j oe too_many.sh >"$refused" 2>&1
check "too many nodes" explained "$refused" 'more nodes'
qsub -l walltime=100:00:00 -j oe run_multi_node_training.sh >"$refused" 2>&1
check "too long a walltime" explained "$refused" 'more than the queue gives'

mkdir -p "$kit/elsewhere" && cd "$kit/elsewhere" || exit
output=$(job_output qsub -j oe "$kit/solutions/01_multi_gpu/run_multi_gpu_training.sh")
check "a script submitted from another folder" explained "$output" 'submitted from another folder'
cd "$kit/solutions/02_multi_node" || exit

echo 'MODULES=no_such_module' >>"$kit/jobscripts/site.sh"
output=$(job_output qsub -j oe run_multi_node_training.sh)
check "a missing module" explained "$output" 'MODULES='
printf 'SCHEDULER=slurm\nMPI_FLAGS="-np 9"\n' >"$kit/jobscripts/site.sh"
output=$(job_output qsub -j oe run_multi_node_training.sh)
check "not enough slots" explained "$output" 'more processes than there are slots'

chmod 000 "$output"
"$kit/jobscripts/explain.sh" "$output" >"$refused" 2>&1
check "a log that others may not read" has "$refused" 'chmod 644'

echo "$failures of the checks failed."
exit $((failures > 0))
