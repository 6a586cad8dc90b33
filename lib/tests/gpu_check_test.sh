#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What gpu_check.sh concludes, on a machine of stand-ins: a GPU, a build and programs that only say that they ran.
# shellcheck disable=SC2016 # the stand-ins expand their own variables
#   gpu_check_test.sh GPU_CHECK
set -uo pipefail
check=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failures=0

program() { # PATH LINE...
  mkdir -p "${1%/*}"
  printf '%s\n' '#!/bin/bash' "${@:2}" >"$1"
  chmod +x "$1"
}

# expect CODE TEXT...: the check, with the flags in $flags, ends so, and says all of this.
expect() {
  local code=0 output text
  # shellcheck disable=SC2086 # flags are words
  output=$(env -u ODORI_GPU_PACKAGES PATH="$scratch/bin" CUDA_HOME="$scratch/cuda" PYTHON="$scratch/bin/python3" ODORI_BUILD="$scratch/build" ODORI_GPU_MINUTES="${ODORI_GPU_MINUTES-60}" \
    ${packages:+ODORI_GPU_PACKAGES="$packages"} bash "$check" ${flags:-} "$scratch/out" 2>&1) || code=$?
  for text in "${@:2}"; do
    if [[ $code -ne $1 || $output != *"$text"* ]]; then
      printf 'FAILED: expected exit code %s and: %s\ngot exit code %s and: %s\n' "$1" "$text" "$code" "$output"
      failures=$((failures + 1))
    fi
  done
}

mkdir "$scratch/bin"
for tool in awk bash cat cp cut date dirname env find grep head ln mkdir mktemp mv nproc rm sed sleep sort tail tee timeout touch tr uname wc; do
  ln -s "$(command -v $tool)" "$scratch/bin/$tool"
done
ln -s "$(python3 -c 'import sys; print(sys.executable)')" "$scratch/bin/python3"
# Without a GPU, the files of an earlier run on one stay.
mkdir "$scratch/out"
for file in result.json log.txt; do echo "of a card" >"$scratch/out/$file"; done
expect 20 "there is no nvidia-smi"
program "$scratch/bin/nvidia-smi" 'echo "NVIDIA-SMI has failed"; exit 9'
expect 20 "nvidia-smi finds no GPU that works: NVIDIA-SMI has failed"
[[ $(cat "$scratch/out/result.json" "$scratch/out/log.txt" 2>&1) == $'of a card\nof a card' && ! -e $scratch/out/result.json.new ]] || {
  printf 'FAILED: without a GPU, files of an earlier run became %s\n' "$(cat "$scratch"/out/*)"
  failures=$((failures + 1))
}
program "$scratch/bin/nvidia-smi" 'echo "NVIDIA Stand-in, 1.0, 1000 MiB"'
packages=$scratch expect 20 "has no .deb files"
expect 20 "cmake is needed"

program "$scratch/bin/cmake" 'exit 0'
program "$scratch/bin/c++" 'exit 0'
program "$scratch/bin/mpirun" 'while [[ $# -gt 0 && $1 != -np ]]; do shift; done; shift 2; exec "$@"'
# As ctest 3.25 does it: a listing, or one test, of which it says how it ended; a skipped one is no failure.
program "$scratch/bin/ctest" 'folder=${0%/*}/..' \
  'if [[ $* == *" -N "* ]]; then' \
  '  printf "  Test  #%s\n" "1: comm_test_2_ranks_gpu" "12: train_test_gpu" "13: backend_graph_test_gpu" "4: cuda_kernels_test_gpu"; exit' \
  'fi' \
  'while [[ $# -gt 0 ]]; do case $1 in -R) name=${2//[^a-z0-9_]/} ;; --output-log) log=$2 ;; esac; shift; done' \
  'how=Passed; [[ ! -e $folder/how/$name ]] || how=$(<"$folder/how/$name")' \
  '[[ ${GTEST_COLOR:-} == no ]] || how="***Failed"' \
  'echo "1/1 Test #4: $name ....   $how    0.01 sec" | tee "$log"; [[ $how != *Failed && $how != *Run ]]'
mkdir "$scratch/how"
ends() { # TEST HOW
  printf '%s' "$2" >"$scratch/how/$1"
}
for name in odori_make_synthetic odori_doctor bench_vgg bench_allreduce; do program "$scratch/build/bin/$name" 'exit 0'; done
for name in single_gpu multi_gpu multi_node; do
  program "$scratch/build/bin/solutions/train_cifar_$name" 'while [[ $1 != --out ]]; do shift; done; mkdir -p "$2"' \
    'echo "{\"log\": [{\"validation/main/accuracy\": ${ACCURACY:-0.95}}]}" >"$2/result.json"'
done
program "$scratch/build/bin/solutions/nccl_gpu" 'echo "right on every rank"; echo "right on every GPU"'

flags="--only tests,sanitizer" expect 0 "there is no compute-sanitizer in PATH" "INCOMPLETE, on NVIDIA Stand-in"
program "$scratch/cuda/bin/compute-sanitizer" 'echo "ERROR SUMMARY: 0 errors"'
expect 0 "task 2: 4 ranks, pure_nccl" "bf16, --autotune" "PASSED, on NVIDIA Stand-in" "ssh: none" \
  "Not proven here: several GPUs in one process over NCCL"
result_has() { # WORDS
  grep -q "$1" "$scratch/out/result.json" || {
    printf 'FAILED: result.json has no %s: %s\n' "$1" "$(<"$scratch/out/result.json")"
    failures=$((failures + 1))
  }
}
result_has '"detail": "test accuracy 0.950"'
order=$(sed -n 's/.*"what": "\(.*_test.*_gpu\)".*/\1/p' "$scratch/out/result.json" | paste -sd ' ')
[[ $order == "cuda_kernels_test_gpu backend_graph_test_gpu train_test_gpu comm_test_2_ranks_gpu" ]] || {
  printf 'FAILED: the order of the tests: %s\n' "$order"
  failures=$((failures + 1))
}
# What each GPU optimization gains, at both batch sizes.
program "$scratch/build/bin/bench_vgg" 'while [[ $# -gt 0 ]]; do case $1 in --json) json=$2 ;; esac; all+=" $1"; shift; done' \
  '[[ $all == *" --compare-without all"* ]] || exit 0' 'echo "[{\"without\": \"step-graph\"}]" >"$json"' 'echo "Speedup by step-graph 1.234, fused-gelu (not used by this network)"'
flags="--only bench" expect 0 "GPU optimizations, batch 512, bf16           PASS" " s  step-graph 1.234, fused-gelu (not used by this network)"
result_has '"without": "step-graph"'
program "$scratch/build/bin/bench_vgg" 'exit 0'
program "$scratch/bin/nvidia-smi" 'printf "NVIDIA Stand-in %s\n" 1 2'
flags="--only tests" expect 0 "INCOMPLETE, on NVIDIA Stand-in 1"
! grep -q "several GPUs in one process" "$scratch/out/result.json" || {
  echo "FAILED: two GPUs are there, and aren't counted"
  failures=$((failures + 1))
}
# Hidden GPUs prove nothing, though nvidia-smi lists them.
CUDA_VISIBLE_DEVICES=1 flags="--only tests" expect 0 "Not proven here: several GPUs in one process over NCCL" "CUDA_VISIBLE_DEVICES: 1"
for hidden in "" -1; do
  CUDA_VISIBLE_DEVICES=$hidden flags="--only tests" expect 20 "CUDA_VISIBLE_DEVICES is \"$hidden\", which leaves no GPU to check"
done
program "$scratch/bin/nvidia-smi" 'echo "NVIDIA Stand-in, 1.0, 1000 MiB"'
program "$scratch/cuda/bin/compute-sanitizer" 'echo "========= Error: Device not supported"; exit 1'
flags="--only tests,sanitizer" expect 0 "racecheck, the kernels' tests                NOT RUN" \
  "compute-sanitizer does not support this machine's GPU" "INCOMPLETE, on NVIDIA Stand-in"
program "$scratch/cuda/bin/compute-sanitizer" 'echo "ERROR SUMMARY: 1 error"; exit 1'
flags="--only tests,sanitizer" expect 1 "racecheck, the kernels' tests                FAIL" "exit code 1: ERROR SUMMARY: 1 error"
flags="--only ranks" expect 0 "there is no nsys in PATH"
program "$scratch/bin/nsys" '[[ $1 == profile ]] || exit 0' \
  'while [[ $# -gt 0 ]]; do case $1 in --output) touch "$2.nsys-rep" ;; */nccl_gpu) exec "$1" ;; esac; shift; done'
flags="--only ranks" expect 0 "Written: $scratch/out/nccl_streams.nsys-rep"
[[ -e $scratch/out/nccl_streams.nsys-rep ]] || { echo "FAILED: no file for Nsight Systems" && failures=$((failures + 1)); }
program "$scratch/cuda/bin/compute-sanitizer" '[[ $* != *racecheck*/cuda_kernels_test ]] || { echo "RACECHECK SUMMARY: 1 hazard displayed"; exit 1; }' \
  'echo "ERROR SUMMARY: 0 errors"'
flags="--only tests,sanitizer" expect 1 "racecheck, the kernels' tests                FAIL" "exit code 1: RACECHECK SUMMARY: 1 hazard displayed" \
  "memcheck, a small training                   PASS" "synccheck, the kernels' tests                PASS"
program "$scratch/cuda/bin/compute-sanitizer" 'echo "ERROR SUMMARY: 0 errors"'

# Stages stand alone.
flags="--only test" expect 2 'there is no stage "test"'
flags="--only tests" expect 0 "INCOMPLETE, on NVIDIA Stand-in" "Not proven here: the stages that --only leaves out"
! grep -q training "$scratch/out/log.txt" || { echo "FAILED: --only tests trains" && failures=$((failures + 1)); }

# Carried packages: Open MPI reads the settings among them, which leave out networks that aren't there.
packages=$scratch/packages
program "$packages/mpirun.deb" 'for file in ${OMPI_MCA_mca_base_param_files//,/ }; do [[ ! -e $file ]] || settings+=$(<"$file"); done' \
  '[[ $settings == *"pml = ^ucx"*$'"'\n'"'"mca_base_component_show_load_errors = 0"* ]] || { echo "no settings"; exit 1; }' \
  'exec "'"$scratch"'/bin/mpirun" "$@"'
program "$scratch/bin/dpkg" 'mkdir -p "$3/etc/openmpi" "$3/usr/bin" "$3/usr/lib/$(uname -m)-linux-gnu"' \
  'cp "$2" "$3/usr/bin/mpirun.openmpi"; printf "pml = ^ucx" >"$3/etc/openmpi/openmpi-mca-params.conf"'
flags="--only ranks" expect 0 "all-reduce, 2 ranks                          PASS"
packages=""

# What failed, was skipped, or was never run, is told apart, and stops nothing that comes after it.
ACCURACY=0.3 flags="--only training" expect 1 "FAILED, on NVIDIA Stand-in"
ends comm_test_2_ranks_gpu "***Failed"
flags="--only ranks" expect 1 "Not proven here: NCCL between ranks" "task 2: 4 ranks, pure_nccl"
ends comm_test_2_ranks_gpu "***Skipped"
flags="--only ranks" expect 0 "comm_test_2_ranks_gpu                        SKIPPED"
rm "$scratch/how/comm_test_2_ranks_gpu"
ends cuda_kernels_test_gpu "***Not Run"
flags="--only tests" expect 0 "cuda_kernels_test_gpu                        NOT RUN" "INCOMPLETE, on NVIDIA Stand-in"
ends cuda_kernels_test_gpu $'***Skipped\n7: needs a GPU; none here: the driver is too old' # though nvidia-smi has one
flags="--only tests" expect 1 "cuda_kernels_test_gpu                        FAIL        " "needs a GPU; none here: the driver is too old"
rm "$scratch/how/cuda_kernels_test_gpu"
# Where nothing was run, an earlier result stays; what was run in part replaces it.
for name in comm_test_2_ranks cuda_kernels_test backend_graph_test train_test; do ends ${name}_gpu "***Not Run"; done
echo "of a card" >"$scratch/out/result.json"
flags="--only tests" expect 12 "nothing of it could be run"
kept=$(<"$scratch/out/result.json")
[[ $kept == "of a card" ]] || { printf 'FAILED: a run of nothing wrote %s\n' "$kept" && failures=$((failures + 1)); }
rm "$scratch/how/train_test_gpu"
flags="--only tests" expect 0 "INCOMPLETE, on NVIDIA Stand-in"
result_has '"verdict": "INCOMPLETE"'
rm "$scratch/how/"*

# Wrong settings are told before anything is run.
flags="--only ," expect 2 "--only needs stages"
flags="--only tests,,bench" expect 2 'there is no stage ""'
for stages in "tests bench" "*" $'tests\nbench' $'tests,bench\n'; do
  said=$(cd "$scratch/bin" && bash "$check" --only "$stages" "$scratch/out" 2>&1)
  ended=$?
  [[ $ended -eq 2 && $said == "gpu_check: there is no stage \"${stages#tests,}\"."* ]] || {
    printf 'FAILED: --only "%s" ends with %s: %s\n' "$stages" "$ended" "$said"
    failures=$((failures + 1))
  }
done
flags="--help" expect 0 "writes OUT/result.json"
flags="--all" expect 2 "it takes [--only STAGE,STAGE] [OUT]"
for minutes in half 1.5 0 000 ""; do
  ODORI_GPU_MINUTES=$minutes flags="--only tests" expect "$([[ -z $minutes ]] && echo 0 || echo 2)" "$([[ -z $minutes ]] || echo "whole number of minutes from 1 to 9999, not \"$minutes\"")"
done
ODORI_GPU_MINUTES=08 flags="--only tests" expect 0 "INCOMPLETE, on NVIDIA Stand-in"

# A test that fails: how, and where. One that says "Skipped" and passes is not skipped.
sed -i 's/ && $how != \*Run/ \&\& $how != *Exception* \&\& $how != *Failed*&/' "$scratch/bin/ctest"
said=$'[ RUN      ] Kernels.sums\n[  FAILED  ] Kernels.sums\n[ RUN      ] Kernels.last\n1/1 Test #4: cuda_kernels_test_gpu ...'
ends cuda_kernels_test_gpu "$said***Exception: SegFault"
flags="--only tests" expect 1 "exit code 1: Exception: SegFault in Kernels.last"
ends cuda_kernels_test_gpu "${said}Subprocess aborted***Exception:"
flags="--only tests" expect 1 "exit code 1: Subprocess aborted: Exception in Kernels.last"
ends cuda_kernels_test_gpu $'\n4: there is no mpiexec\n1/1 Test #4: cuda_kernels_test_gpu ...***Failed'
flags="--only tests" expect 1 "exit code 1: Failed: there is no mpiexec"
ends cuda_kernels_test_gpu "$said***Failed"
flags="--only tests" expect 1 "exit code 1: Failed in Kernels.sums"
ends cuda_kernels_test_gpu "Passed: Skipped nothing"
flags="--only tests" expect 0 "cuda_kernels_test_gpu                        PASS"
rm "$scratch/how/cuda_kernels_test_gpu"

# What a step leaves behind ends with it, and a signal ends the check at once; what was run is written.
program "$scratch/build/bin/odori_doctor" '(trap "" TERM; exec sleep 1000) &' 'echo $! >"'"$scratch"'/left"; echo "busy 97 %"'
flags="--only bench" expect 0 "busy 97 %"
[[ $(cat "/proc/$(<"$scratch/left")/stat" 2>/dev/null) =~ ^(|.*\)\ Z\ .*)$ ]] || {
  echo "FAILED: a step's process lives on"
  kill -KILL "$(<"$scratch/left")"
  failures=$((failures + 1))
}
program "$scratch/build/bin/odori_doctor" 'kill -KILL $PPID'
flags="--only bench" expect 1 "killed: out of memory?"
program "$scratch/build/bin/odori_doctor" 'echo "busy 97 %"'
program "$scratch/build/bin/bench_vgg" '[[ $* != *fp32* ]] || sleep 1000' # as if the minutes were over in the middle of it
mkdir -p "$scratch/kit/lib"
ln -s "$(dirname "$(realpath "$check")")/bench" "$scratch/kit/lib/bench"
cp -r "${check%.sh}" "$check" "$scratch/kit/lib"
sed -i 's/left=$((deadline - SECONDS))/left=5/' "$scratch/kit/lib/gpu_check/steps.sh"
check=$scratch/kit/lib/gpu_check.sh flags="--only bench" expect 0 "VGG, batch 128, fp32                         NOT RUN" "cut off after" "INCOMPLETE, on NVIDIA Stand-in"
program "$scratch/build/bin/bench_vgg" 'exit 0'
program "$scratch/build/bin/odori_doctor" 'touch "'"$scratch"'/begun"; exec sleep 1000'
env -u ODORI_GPU_PACKAGES PATH="$scratch/bin" PYTHON="$scratch/bin/python3" ODORI_BUILD="$scratch/build" ODORI_GPU_MINUTES=60 \
  bash "$check" --only bench "$scratch/out" >"$scratch/said" 2>&1 &
until [[ -e $scratch/begun ]]; do sleep 0.1; done
result_has '"result": "PASS"' # while it runs, too
kill -TERM $!
wait $!
ended=$?
[[ $ended -eq 143 && $(<"$scratch/said") == *"ended by SIGTERM"* ]] || {
  printf 'FAILED: SIGTERM ends with %s: %s\n' "$ended" "$(<"$scratch/said")"
  failures=$((failures + 1))
}
result_has '"verdict": "INCOMPLETE"'
result_has "the check was ended there"
program "$scratch/build/bin/odori_doctor" 'exit 0'

# What doesn't build keeps nothing else from being run.
program "$scratch/bin/cmake" '[[ $1 != --build ]] || { echo "a.cu:1: error: no"; exit 1; }'
flags="--only build,tests" expect 1 "a.cu:1: error: no" "cuda_kernels_test_gpu                        PASS"
program "$scratch/bin/cmake" 'echo "No CUDA here"; exit 1'
expect 20 "No CUDA here"
result_has '"verdict": "NOT RUN"'

[[ $failures -eq 0 ]] || exit 1
echo "gpu_check.sh concludes as it should."
