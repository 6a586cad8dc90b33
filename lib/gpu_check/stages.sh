#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2016 # `step` starts programs: a shell of their own expands the variables of some
# shellcheck disable=SC2034,SC2154 # build, kit, scratch, flags ... are gpu_check.sh's, which sources this
# The stages of gpu_check.sh: what each of them runs.

# ---- Building

# The tests that need a GPU: kernels first, then operations and networks, then all that stands on them.
names_of_tests() { # [-v] PATTERN
  ctest --test-dir "$build" -N -L '^gpu$' | sed -n 's/^ *Test *#[0-9]*: //p' | grep -E "$@" |
    awk '{ print ($0 ~ /^cuda_/ ? 1 : $0 ~ /^backend_/ ? 2 : 3) " " $0 }' | sort -n -s -k1,1 | cut -d' ' -f2
}

configure_and_build() {
  local tool generator=() go_on=-k
  for tool in cmake ctest "${CXX:-c++}" "$python"; do
    command -v "$tool" >/dev/null || stop 20 "$tool is needed and isn't in PATH."
  done
  ! command -v ninja >/dev/null || { generator=(-G Ninja) && go_on=-k0; }
  step build configure 240 cmake -S "$kit" -B "$build" "${generator[@]}" -DODORI_CUDA=ON -DODORI_GRADER=OFF "${options[@]}" || {
    tail -n 30 "$out/log.txt" >&2
    verdict="NOT RUN"
    stop 20 "the kit can't be configured here; CMake's words are above. Libraries that can't be installed: see the head of $0."
  }
  # What doesn't build keeps the rest from nothing.
  step build "compile" 300 cmake --build "$build" --parallel "$(nproc)" --target gpu_tests bench_vgg bench_allreduce \
    odori_make_synthetic odori_doctor train_cifar_single_gpu train_cifar_multi_gpu train_cifar_multi_node nccl_gpu -- $go_on ||
    grep -aE -A5 'error|FAILED' "$out/log.txt" | head -n 40 >&2
}

# ---- What is run

# One of ctest's, by itself: so it has its row as soon as it has ended, whatever the next one does.
one_test() { # NAME
  local how where
  ctest --test-dir "$build" -R "^$1\$" -V --output-log "$scratch/ctest" || {
    ! grep -q '[*]Not Run' "$scratch/ctest" || { echo "its program was not built" && return 20; }
    # How ("Subprocess aborted***Exception:"), and where: the case that failed first; the last that began, if it ended there;
    # its last words, if none began.
    how=$(grep -aoP '\.{3} *\K[^.]*[*]{3}.*?(?=:? +[0-9.]+ sec)' "$scratch/ctest" | tail -n 1)
    where=$(grep -aoP '\[ RUN      \] \K.*' "$scratch/ctest" | tail -n 1)
    [[ $how != '***Failed'* ]] || where=$(grep -aoP '\[  FAILED  \] \K[\w./]+' "$scratch/ctest" | head -n 1)
    [[ -z $where ]] && where=": $(grep -aoP '^[0-9]+: \K.*\w.*' "$scratch/ctest" | tail -n 1)" || where=" in $where"
    how=${how#'***'}
    printf '%s%s\n' "${how/'***'/: }" "$where"
    return 1
  }
  ! grep -q '[*]Skipped' "$scratch/ctest" || return 77
}

run_tests() { # [-v] PATTERN
  local name names
  names=$(names_of_tests "$@")
  [[ -n $names ]] || row tests "those that need a GPU" "NOT RUN" 0 "ctest lists none in $build: build them first, without --only"
  for name in $names; do
    step tests "$name" 300 bash -c 'one_test "$0"' "$name" || [[ $name != *_ranks_gpu ]] || ranks_proven=no
  done
}

mpi() { # RANKS COMMAND...
  local as_root=()
  [[ $EUID -ne 0 ]] || as_root=(--allow-run-as-root)
  "$kit/lib/comm/mpirun.sh" mpirun "${as_root[@]}" --oversubscribe --bind-to none -np "$@"
}

# Learns the synthetic images: with this many epochs every network that works is above 0.8.
learned() { # FOLDER
  "$python" -c '
import json, sys
accuracy = json.load(open(sys.argv[1] + "/result.json"))["log"][-1]["validation/main/accuracy"]
print(f"test accuracy {accuracy:.3f}")
sys.exit(accuracy < 0.8)' "$1"
}

# In some virtual machines a GPU can be used, but not watched.
watched() { # TOOL PROGRAM...
  ODORI_TEST_DEVICE=cuda compute-sanitizer --tool "$1" --kernel-regex kns=odori --error-exitcode 1 "${@:2}" 2>&1 | tee "$scratch/watched"
  local code=${PIPESTATUS[0]}
  ! grep -q 'Device not supported' "$scratch/watched" || { echo "compute-sanitizer does not support this machine's GPU" && return 20; }
  return "$code"
}

export -f mpi learned one_test watched

train_end_to_end() {
  local detail='test accuracy.*|[0-9.]+ \[images/sec.\]'
  step training "one device" 60 bash -c '"$build/bin/solutions/train_cifar_single_gpu" "$@" --out "$scratch/1" && learned "$scratch/1"' - "${flags[@]}"
  step training "one device, bf16, --autotune" 90 bash -c '"$build/bin/solutions/train_cifar_single_gpu" "$@" --precision bf16 --autotune --show-algorithms --out "$scratch/2" && learned "$scratch/2"' - "${flags[@]}"
  step training "task 1: two devices, one process" 60 bash -c '"$build/bin/solutions/train_cifar_multi_gpu" "$@" --n-gpus 2 --out "$scratch/3" && learned "$scratch/3"' - "${flags[@]}"
}

# Several ranks on one GPU are as good as several hosts to NCCL, which then speaks through the loopback device.
check_ranks() {
  local name
  local -x NCCL_SOCKET_IFNAME=lo
  run_tests '_ranks_gpu$'
  local detail='test accuracy.*|[0-9.]+ \[images/sec.\]'
  for name in 2 4; do
    step training "task 2: $name ranks, pure_nccl" 90 bash -c 'mpi "$0" "$build/bin/solutions/train_cifar_multi_node" "$@" --communicator pure_nccl --out "$scratch/ranks" && learned "$scratch/ranks"' $name "${flags[@]}" ||
      ranks_proven=no
  done
  for name in 1 2; do
    detail='right on every rank' step training "task 7: $name ranks, CUDA and NCCL" 60 bash -c 'said=$(mpi "$0" "$build/bin/solutions/nccl_gpu" 2>&1); echo "$said"; [[ $said == *"right on every rank"*"right on every GPU"* ]]' $name
  done
  profile_streams
  detail='[0-9.]+ GB/s' step benchmark "all-reduce, 2 ranks" 40 bash -c 'mpi 2 "$build/bin/bench_allreduce" --device cuda --share-devices --rounds 5'
}

# The streams of task 7 as Nsight Systems sees them: a file for its window, and the sums by kernel in the log.
profile_streams() {
  if ! command -v nsys >/dev/null; then
    row benchmark "task 7 under Nsight Systems" "NOT RUN" 0 "there is no nsys in PATH"
    return
  fi
  detail='Written: .*' step benchmark "task 7 under Nsight Systems" 90 bash -c 'nsys profile --force-overwrite true --trace cuda,nvtx \
    --output "$out/nccl_streams" "$build/bin/solutions/nccl_gpu" && nsys stats --force-export true --report cuda_gpu_kern_sum \
    "$out/nccl_streams.nsys-rep" && echo "Written: $out/nccl_streams.nsys-rep"'
}

# The kit's own kernels alone: cuDNN's and cuBLAS's take hours, and aren't ours. The other tools than memcheck watch the kernels'
# own tests: under racecheck (2025.3) a kernel of cuDNN's fails on an H100, also where none is watched.
sanitize() {
  local tool tests detail='[A-Z]+ SUMMARY: .*'
  if ! command -v compute-sanitizer >/dev/null; then
    row sanitizer "memcheck, racecheck" "NOT RUN" 0 "there is no compute-sanitizer in PATH"
    return
  fi
  "$build/bin/odori_make_synthetic" --train 64 --test 32 --out "$scratch/few" >>"$out/log.txt" 2>&1
  step sanitizer "memcheck, a small training" 120 bash -c 'watched memcheck "$@"' - "$build/bin/solutions/train_cifar_single_gpu" \
    --dataset "$scratch/few" --device cuda --model tiny --epoch 1 --batchsize 16 --augment --no-snapshot --out "$scratch/sanitized"
  tests=$(names_of_tests '^cuda_.*_gpu$')
  for tool in racecheck initcheck synccheck; do
    step sanitizer "$tool, the kernels' tests" 120 bash -c '[[ -n $1 ]] || { echo "ctest lists none" && exit 20; }
      for name in $1; do watched "$0" "$build/tests/${name%_gpu}" || exit; done' "$tool" "$tests"
  done
}

benchmark() {
  local -x ODORI_BUILD=$build
  local precision
  for precision in bf16 tf32 fp32; do
    detail='[0-9.]+ images/s' step benchmark "VGG, batch 128, $precision" 60 "$build/bin/bench_vgg" --device cuda \
      --precision $precision --batchsize 128 --iterations 50 --rounds 3
  done
  detail='[0-9.]+ images/s' step benchmark "VGG, batch 128, bf16, --autotune" 90 "$build/bin/bench_vgg" --device cuda \
    --precision bf16 --batchsize 128 --iterations 50 --rounds 3 --autotune
  local batch
  for batch in 128 512; do
    detail='Speedup by \K.*' step benchmark "GPU optimizations, batch $batch, bf16" 90 "$build/bin/bench_vgg" --device cuda \
      --precision bf16 --batchsize $batch --iterations 30 --rounds 7 --compare-without all --json "$scratch/optimizations_$batch.json"
  done
  detail='kit bf16 / PyTorch.*' step benchmark "VGG beside PyTorch" 150 "$python" "$kit/lib/bench/compare_pytorch_gpu.py" \
    --settings 32x128 32x512 --precisions bf16 --rounds 3 --seconds 0.5 --rivals eager graph --json "$scratch/pytorch.json"
  detail='busy [0-9]+ %' step benchmark "doctor: GPU use in a training" 60 \
    bash -c '"$build/bin/odori_doctor" --lang en --json "$scratch/doctor.json" || exit 1' # what it misses isn't missed here
}
