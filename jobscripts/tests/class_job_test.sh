#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A class marked by an array job under a real scheduler: Slurm, two nodes, an ordinary user; cancelled, and gone on with.
#   class_job_test.sh KIT BUILD
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
  export built_kit=$kit
  folder=$(mktemp -d /tmp/odori_class_job_test.XXXXXX)
  trap 'rm -rf "$folder"' EXIT
  chmod 755 "$folder"
  mkdir "$folder/cluster"
  mkdir -p "$folder"/class/{aoki,brown,choi,deniz}
  cp "$kit/solutions/01_multi_gpu/"{train_cifar_multi_gpu.cpp,run_multi_gpu_training.sh} "$folder/class/aoki"
  cp "$folder/class/aoki/"* "$folder/class/choi"
  cp "$kit/exercises/01_multi_gpu/train_cifar_multi_gpu.cpp" "$folder/class/brown"
  echo "nothing of the exercise" >"$folder/class/deniz/notes.txt"
  printf 'SCHEDULER=slurm\nQUEUE=workshop\nWALLTIME=00:10:00\n' >"$folder/site.sh"
  chown -R "$student_id:$student_id" "$folder"
  cp -a "$here"/{cluster_hosts,slurm_cluster,class_job_test}.sh "$folder/"
  "$folder/slurm_cluster.sh" "$folder/cluster" "$folder/class_job_test.sh" --student "$folder" "$build"
  exit
fi

# ---- From here on the student, on the cluster's head
folder=$2 build=$3
export LC_ALL=C.UTF-8 ODORI_SITE=$folder/site.sh
results=$folder/results said=$folder/said.txt
mkdir -p "$results"
echo '{"tasks": {"multi_gpu": 1}, "speedup": 0}' >"$results/course.json"
grade() { "$build/bin/odori_classroom" "$folder/class" --out "$results" "$@" >"$said" 2>&1; }
wait_for_job() { while squeue --noheader | grep -q .; do sleep 0.2; done; }

grade --submit
check "an array job is submitted" has "$said" '^3 answers submitted as job [0-9]+\.'
grade
check "no other batch marks meanwhile" test $? -eq 20
check "and is told why" has "$said" '^Job [0-9]+ marks this class on the cluster'
grade --submit
check "the same command shows how far it is" has "$said" '^Job [0-9]+: [0-3] of 3 answers marked'
scancel --user=student
wait_for_job
grade --submit
check "what a cancelled job left is submitted again" has "$said" '^[123] answers? submitted as job'
wait_for_job
grade --submit
code=$?
check "then nothing is left" has "$said" '^3 answers marked, 1 not handed in, 0 ungraded'
check "and the reports are there" test "$code" -eq 0 -a -s "$results/report.html" -a -s "$results/students/aoki/report.html"
for student in aoki choi; do
  check "$student's right answer has all points" has "$results/marks.csv" "^.?.?.?$student,,,$student,marked,100,,"
done
check "an unfilled one has none" has "$results/marks.csv" "brown,marked,0,,"
check "who handed in nothing is absent" has "$results/marks.csv" "deniz,absent,0,,"
[[ $failures -eq 0 ]] || tail -n 20 "$said" "$results"/array/logs/*

echo "$failures of the checks failed."
exit $((failures > 0))
