#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Where a limit of the shell is too low, or standard output takes nothing, every program says so in a sentence and ends
# with a code above 0, by no signal and within the time. Not for root, whose processes aren't limited.
#   limits_test.sh BUILD MPIRUN...
set -uo pipefail
build=$1
shift
mpirun=("$@" --oversubscribe --bind-to none --mca mpi_yield_when_idle 1 -np 2)
kit=$(cd "$(dirname "$0")/../.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
unset PBS_NODEFILE SLURM_JOB_NUM_NODES
failures=0
[[ $EUID -ne 0 ]] || { echo "FAILED: root has no limit on processes: run this as an ordinary user" && exit 1; }

fail() {
  printf 'FAILED: %s\n' "$*"
  failures=$((failures + 1))
}

# A code from 1 to 128 that isn't timeout's, and words that match; none of the words of a crash.
expect_sentence() { # WORDS SETTING COMMAND...
  local words=$1 setting=$2 code said
  shift 2
  said=$(timeout -k 1 60 bash -c "$setting; exec \"\$@\"" _ "$@" 2>&1 >/dev/null </dev/null)
  code=$?
  [[ $code -ge 1 && $code -lt 124 ]] || fail "with \"$setting\", $1 ends with $code: $said"
  [[ $said =~ $words ]] || fail "with \"$setting\", $1 doesn't say \"$words\": $said"
  [[ ! $said =~ (terminate called|Unexpected:|Segmentation|Aborted|unwinding) ]] || fail "with \"$setting\", $1 crashes: $said"
}

expect_success() { # SETTING COMMAND...
  local setting=$1 code said
  shift
  said=$(timeout -k 1 100 bash -c "$setting; exec \"\$@\"" _ "$@" 2>&1 </dev/null)
  code=$?
  [[ $code -eq 0 ]] || fail "with \"$setting\", $1 ends with $code: $said"
}

"$build/bin/odori_make_synthetic" --train 60 --test 20 --out "$scratch/data" >/dev/null || fail "no data set"
flags=(--device cpu --model tiny --epoch 1 --batchsize 10 --dataset "$scratch/data" --out "$scratch/out")
single=("$build/bin/solutions/train_cifar_single_gpu" "${flags[@]}")
multi=("$build/bin/solutions/train_cifar_multi_gpu" "${flags[@]}" --n-gpus 6)
ranks=("${mpirun[@]}" "$build/bin/solutions/train_cifar_multi_node" "${flags[@]}")

# Memory. Between what a program needs to start and what it needs to train, it may fail anywhere. How much it needs to start
# depends on the machine.
start=40000
until (ulimit -v $start && exec "${single[0]}" --help) &>/dev/null; do start=$((start + 4000)); done
for more in 0 10000 20000 30000 40000; do
  expect_sentence "ulimit -v" "ulimit -v $((start + more))" "${single[@]}"
done
for more in 0 20000 40000 60000 80000 100000 120000; do
  expect_sentence "ulimit -v" "ulimit -v $((start + more))" "${multi[@]}"
done
expect_success "ulimit -v 1000000" "${single[@]}"
expect_success "ulimit -v 1000000" "${multi[@]}"
expect_sentence "at least 409600 KiB of memory.* ulimit -v 409600" "ulimit -v 100000" "${ranks[@]}"

# Processes and threads.
expect_sentence "limit on processes and threads" "ulimit -u 3" "${multi[@]}"
expect_sentence "at least 32 processes and threads.*allows 3\. Raise it: ulimit -u 32" "ulimit -u 3" "${ranks[@]}"

# Open files. A soft limit is raised where the hard one allows it.
expect_success "ulimit -n 16" "${single[@]}"
expect_sentence "at least 64 open files" "ulimit -n 16" "${ranks[@]}"
expect_success "ulimit -Sn 16" "${ranks[@]}"

# The size of files.
for program in single multi; do
  declare -n command=$program
  expect_sentence "can't be written: File too large" "ulimit -f 0" "${command[@]}"
  expect_sentence "can't be written: File too large" "ulimit -f 1" "${command[@]}"
done
unset -n command
expect_sentence "at least 8192 KiB in a file" "ulimit -f 1" "${ranks[@]}"
expect_sentence "can't be written|No space left|File too large" "ulimit -f 1" \
  "$build/bin/odori_make_synthetic" --train 60 --test 20 --out "$scratch/more"

# The stack, and core files.
expect_success "ulimit -s unlimited; ulimit -c 0" "${multi[@]}"
expect_sentence "at least 512 KiB of stack" "ulimit -s 64" "${ranks[@]}"
expect_success "ulimit -Ss 64" "${ranks[@]}"

# Processor time, as login nodes limit it.
expect_sentence "processor time.*ulimit -t" "ulimit -St 1" "${single[@]}" --no-snapshot --epoch 100000
expect_sentence "processor time.*ulimit -t" "ulimit -t 2" "${ranks[@]}" --no-snapshot --epoch 100000

# Standard output that takes nothing.
expect_success "true" "${single[@]}" --no-snapshot --trace "$scratch/trace"
for closed in "exec >/dev/full" "exec >&-"; do
  for program in train odori_doctor odori_timeline status help explain; do
    case $program in
      train) command=("${single[@]}" --no-snapshot) ;;
      odori_doctor) command=("$build/bin/odori_doctor" --help) ;;
      odori_timeline) command=("$build/bin/odori_timeline" "$scratch/trace") ;;
      status) command=("$build/bin/odori_grader" status multi_gpu) ;;
      help) command=("$kit/odori" help) ;;
      explain) command=("$kit/odori" explain "$scratch/out/log") ;;
    esac
    expect_sentence "output could be written|write error|standard output" "$closed" "${command[@]}"
  done
done
expect_sentence "standard output is closed" "exec >&-" "${ranks[@]}"
expect_sentence "not all that mpirun printed could be written" "exec >/dev/full" "${ranks[@]}" --no-snapshot

[[ $failures -eq 0 ]] || exit 1
echo "Every limit that is too low is told in a sentence."
