#!/bin/bash
##PBS -q
# BLANK 8: Task 1 drives all devices of a node (two, or GPUS_A_NODE of the site file) from a single process, which needs
#          a thread for each. How many nodes, processes a node, and threads a process does it take?
#          (select=...:mpiprocs=...:ompthreads=...) What you leave out is up to PBS.
#PBS -l select=1:mpiprocs=1:ompthreads=2
# END BLANK
##PBS -W group_list=
#PBS -l walltime=00:10:00
#PBS -N multi_gpu_training

# Task 1: trains on one device, then on two of one node, and compares.
#   qsub -j oe run_multi_gpu_training.sh       with a scheduler
#   bash run_multi_gpu_training.sh             without one, on this machine
# $FLAGS replaces the programs' flags. The workshop had, on GPUs: --epoch 4 --batchsize 32 --image-size 256 --fraction 0.05
FLAGS=${FLAGS:-"--no-snapshot --model mid --epoch 2 --batchsize 64"}

# This folder: where the script lies or, for a scheduler's copy of it, where it was submitted.
cd "$(dirname "$0")" && [ -e job.sh ] || cd "${PBS_O_WORKDIR:-${SLURM_SUBMIT_DIR:-${SGE_O_WORKDIR:-$PWD}}}"
. ./job.sh multi_gpu || { echo "This job wasn't submitted from the kit's folder jobscripts: submit it there." >&2; exit 20; }

log "$PROGRAMS/train_cifar_single_gpu" $FLAGS --out "$OUT/single_gpu"
log "$PROGRAMS/train_cifar_multi_gpu" $FLAGS --out "$OUT/multi_gpu" --n-gpus "$N_GPUS"
log_speedup
