#!/usr/bin/env bash
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

# expect CODE TEXT: the check ends so, and says this.
expect() {
  local code=0 output
  output=$(env -u ODORI_GPU_PACKAGES PATH="$scratch/bin" PYTHON="$scratch/bin/python3" ODORI_BUILD="$scratch/build" \
    ${packages:+ODORI_GPU_PACKAGES="$packages"} bash "$check" "$scratch/out" 2>&1) || code=$?
  if [[ $code -ne $1 || $output != *"$2"* ]]; then
    printf 'FAILED: expected exit code %s and: %s\ngot exit code %s and: %s\n' "$1" "$2" "$code" "$output"
    failures=$((failures + 1))
  fi
}

mkdir "$scratch/bin"
for tool in awk bash cat cp cut date dirname find grep head ln mkdir mktemp nproc rm sed tail timeout tr wc; do
  ln -s "$(command -v $tool)" "$scratch/bin/$tool"
done
ln -s "$(python3 -c 'import sys; print(sys.executable)')" "$scratch/bin/python3"
expect 20 "there is no nvidia-smi"
program "$scratch/bin/nvidia-smi" 'echo "NVIDIA-SMI has failed"; exit 9'
expect 20 "nvidia-smi finds no GPU that works: NVIDIA-SMI has failed"
program "$scratch/bin/nvidia-smi" 'echo "NVIDIA Stand-in, 1.0, 1000 MiB"'
packages=$scratch expect 20 "has no .deb files"
expect 20 "cmake is needed"

program "$scratch/bin/cmake" 'exit 0'
program "$scratch/bin/c++" 'exit 0'
program "$scratch/bin/mpirun" 'while [[ $1 != -np ]]; do shift; done; shift 2; exec "$@"'
program "$scratch/bin/ctest" \
  '[[ $* != *show-only* ]] || { echo "{\"tests\": [{\"command\": [\"/b/tests/on_gpu\", \"1\", \"/b/tests/a\"]}]}"; exit; }' \
  'while [[ $1 != --output-junit ]]; do shift; done; cp "${0%/*}/../junit.xml" "$2"'
results() { # STATUS of a test of ranks
  printf '<testsuite><testcase name="a_gpu" time="1" status="run"/><testcase name="b_2_ranks_gpu" time="2" status="%s"/></testsuite>' \
    "$1" >"$scratch/junit.xml"
}
results run
for name in odori_make_synthetic odori_doctor bench_vgg bench_allreduce; do program "$scratch/build/bin/$name" 'exit 0'; done
for name in single_gpu multi_gpu multi_node; do
  program "$scratch/build/bin/solutions/train_cifar_$name" 'while [[ $1 != --out ]]; do shift; done; mkdir -p "$2"' \
    'echo "{\"log\": [{\"validation/main/accuracy\": ${ACCURACY:-0.95}}]}" >"$2/result.json"'
done

expect 0 "INCOMPLETE, on NVIDIA Stand-in" # without compute-sanitizer
program "$scratch/bin/compute-sanitizer" 'echo "ERROR SUMMARY: 0 errors"'
expect 0 "task 2: 4 ranks, pure_nccl"
expect 0 "PASSED, on NVIDIA Stand-in"
expect 0 "Not proven here: several GPUs in one process over NCCL"
grep -q '"detail": "test accuracy 0.950"' "$scratch/out/result.json" || { cat "$scratch/out/result.json"; failures=$((failures + 1)); }
ACCURACY=0.3 expect 1 "FAILED, on NVIDIA Stand-in"
results fail
expect 1 "Not proven here: NCCL between ranks"
program "$scratch/bin/cmake" '[[ $1 != --build ]] || { echo "a.cu:1: error: no"; exit 1; }'
expect 12 "a.cu:1: error: no"

[[ $failures -eq 0 ]] || exit 1
echo "gpu_check.sh concludes as it should."
