#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The array job of ./odori grade --submit, with stand-ins for qsub, qstat, sbatch and squeue: what they are called with.
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/cluster_hosts.sh" # check, has
script=${here%/tests}/class_job.sh
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir -p "$folder"/{bin,results/array/logs}
for program in qsub sbatch; do printf '#!/bin/bash\necho "%s $*" >>%q/calls\necho "7[].head"\n' "$program" "$folder" >"$folder/bin/$program"; done
# Job 7 is there; the scheduler answers unless the file `down` is there.
printf '#!/bin/bash\n[[ ! -e %q/down ]] || exit 1\n[[ -z ${1:-} || $1 == 7* ]] || exit 153\n' "$folder" >"$folder/bin/qstat"
printf '#!/bin/bash\n[[ ! -e %q/down ]] || exit 1\n[[ $* != *=7* ]] || echo there\n' "$folder" >"$folder/bin/squeue"
chmod +x "$folder"/bin/*
export PATH=$folder/bin:$PATH ODORI_SITE=$folder/site.sh LC_ALL=C.UTF-8
said=$folder/said job=$folder/results/array/job.sh
call() { rm -f "$folder/calls" && bash "$script" "$@" >"$said" 2>&1; }
submit() { call submit "/a class" "$folder/results" /build "$@"; }

printf 'SCHEDULER=pbs\nQUEUE=short\nGROUP=course\nWALLTIME=02:00:00\n' >"$folder/site.sh"
submit 3 sandbox shared
check "PBS: the job's name is printed" has "$said" '^7\[\]\.head$'
check "PBS: an array of the elements" has "$folder/calls" '-J 1-3 '
check "PBS: the site's queue, group and time" test "$(grep -cE '^#PBS (-q short|-W group_list=course|-l walltime=02:00:00)$' "$job")" -eq 3
check "PBS: an element starts this script, with names as they are" has "$job" "element /a\\\\ class $folder/results /build 3 sandbox"
check "PBS: nodes are shared without timings" test -z "$(grep place= "$folder/calls")"
submit 1 sandbox alone
check "PBS: one element is no array" test -z "$(grep -e -J "$folder/calls")"
check "PBS: timings have the node alone" has "$folder/calls" '-l place=exclhost '
call state '7[].head'
check "PBS: a job that is there" has "$said" '^there$'
call state '8[].head'
check "PBS: one that ended" has "$said" '^ended$'
touch "$folder/down"
call state '8[].head'
check "PBS: a scheduler that doesn't answer isn't taken for an end" test $? -eq 20
rm "$folder/down"

printf 'SCHEDULER=slurm\nQUEUE=gpu\nGPUS_A_NODE=2\n' >"$folder/site.sh"
submit 3 unsafe alone
check "Slurm: an array of the elements, nodes alone" has "$folder/calls" '--array=1-3 .*--exclusive'
check "Slurm: its lines" test "$(grep -cE '^#SBATCH --(partition=gpu|nodes=1|gres=gpu:2)$' "$job")" -eq 3
call state 7
check "Slurm: a job that is there" has "$said" '^there$'
call state 8
check "Slurm: one that ended" has "$said" '^ended$'

echo 'SCHEDULER=none' >"$folder/site.sh"
submit 3 sandbox shared
check "without a scheduler it is refused" test $? -eq 2
check "and said what to do instead" has "$said" 'Leave out --submit'

echo "$failures of the checks failed."
exit $((failures > 0))
