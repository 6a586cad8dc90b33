#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The program in Horovod's terms leaves the weights and velocities of task 2's with the scaled rate, bit by bit, on two ranks,
# and continues after its checkpoint as if it had not stopped, where batches end with epochs.
#   horovod_test.sh BUILD MPIRUN...
set -euo pipefail
build=$1 mpirun=("${@:2}" --allow-run-as-root --oversubscribe --bind-to none --mca mpi_yield_when_idle 1 -np 2)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

"$build/bin/odori_make_synthetic" --out "$scratch/data" --train 208 --test 41 >"$scratch/log"
train() { # PROGRAM OUT FLAGS...
  "${mpirun[@]}" "$build/bin/solutions/$1" --device cpu --dataset "$scratch/data" --batchsize 8 --learnrate 0.01 \
    --trace "$scratch/$2/trace" --out "$scratch/$2" "${@:3}" >"$scratch/log" 2>&1 || { cat "$scratch/log"; exit 1; }
}
same() { # FILES OTHER FILE...: of two folders
  local file
  for file in "${@:3}"; do cmp "$scratch/$1/$file" "$scratch/$2/$file" || exit 1; done
}
both() { # FLAGS...
  train train_cifar_multi_node task_2 --epoch 2 --scale-learnrate "$@"
  train train_cifar_horovod horovod --epoch 2 "$@"
}
# Each rank has batch statistics of its own, and saves them with the weights.
both --model mid --augment
same task_2/snapshot_epoch_2 horovod/checkpoint_epoch_2 optimizer.bin
both --model tiny --communicator ring
same task_2/snapshot_epoch_2 horovod/checkpoint_epoch_2 model.bin optimizer.bin

# Its exchanges are in the trace, and its metrics are those of all ranks, whose test shards differ in size.
grep -q '"allreduce"' "$scratch/horovod/trace/trace.1.json" || { echo "The trace shows no exchange."; exit 1; }
accuracy() { awk -F '[:,]' '/"validation_accuracy"/ { printf "%.9f", $2 }' "$scratch/$1/result.json"; }
[[ -n $(accuracy task_2) && $(accuracy task_2) == "$(accuracy horovod)" ]] || { echo "Other accuracies: $(accuracy task_2) $(accuracy horovod)"; exit 1; }

train train_cifar_horovod stopped --epoch 1 --model tiny --communicator ring
train train_cifar_horovod resumed --epoch 2 --model tiny --communicator ring --resume "$scratch/stopped"
same horovod/checkpoint_epoch_2 resumed/checkpoint_epoch_2 model.bin optimizer.bin
