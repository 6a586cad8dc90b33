#!/usr/bin/env bash
# The program written Horovod's way leaves the weights and velocities of task 2's, bit by bit, on two ranks.
#   horovod_test.sh BUILD MPIRUN...
set -euo pipefail
build=$1 mpirun=("${@:2}" --allow-run-as-root --oversubscribe --bind-to none --mca mpi_yield_when_idle 1 -np 2)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

"$build/bin/odori_make_synthetic" --out "$scratch/data" --train 200 --test 40 >"$scratch/log"
train() { # PROGRAM OUT FLAGS...
  "${mpirun[@]}" "$build/bin/solutions/$1" --device cpu --dataset "$scratch/data" --model mid --batchsize 8 --epoch 2 \
    --augment --trace "$scratch/$2/trace" --out "$scratch/$2" "${@:3}" >"$scratch/log" 2>&1 || { cat "$scratch/log"; exit 1; }
}
same() { # FLAGS...
  train train_cifar_multi_node task_2 "$@"
  train train_cifar_horovod horovod "$@"
  for file in model.bin optimizer.bin; do
    cmp "$scratch/task_2/snapshot_epoch_2/$file" "$scratch/horovod/snapshot_epoch_2/$file" || exit 1
  done
}
same
same --model tiny --allreduce_dtype fp16 --accumulate 2 --bucket_mib 1 --scale_learnrate --warmup_epochs 1

# Its exchanges are in the trace, and its metrics are those of all ranks (where no batch normalisation is, of which
# Horovod leaves each rank its own statistics).
grep -q '"allreduce"' "$scratch/horovod/trace/trace.1.json" || { echo "The trace shows no exchange."; exit 1; }
accuracy() { awk -F '[:,]' '/"validation_accuracy"/ { printf "%.9f", $2 }' "$scratch/$1/result.json"; }
[[ -n $(accuracy task_2) && $(accuracy task_2) == "$(accuracy horovod)" ]] || { echo "Other accuracies: $(accuracy task_2) $(accuracy horovod)"; exit 1; }
