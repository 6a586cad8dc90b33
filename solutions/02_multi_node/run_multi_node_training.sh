#!/bin/bash
##PBS -q
# BLANK 7: Task 2 uses two nodes with two devices each (one, where GPUS_A_NODE of the site file is 1), and runs one
#          process a device, which needs one thread. How many nodes, processes a node, and threads a process does it take?
#          (select=...:mpiprocs=...:ompthreads=...) What you leave out is up to PBS.
#PBS -l select=2:mpiprocs=2:ompthreads=1
# END BLANK
#PBS -l place=scatter
##PBS -W group_list=
#PBS -l walltime=00:10:00
#PBS -N multi_node_training

# Task 2: trains on one device, then on all devices of two nodes, and compares.
#   qsub -j oe run_multi_node_training.sh      with a scheduler
#   bash run_multi_node_training.sh            without one: this machine plays all nodes
# $FLAGS replaces the programs' flags. The workshop had, on GPUs: --epoch 4 --batchsize 32 --image-size 256 --fraction 0.05
FLAGS=${FLAGS:-"--no-snapshot --model mid --epoch 2 --batchsize 64"}

# This folder: where the script lies or, for a scheduler's copy of it, where it was submitted.
cd "$(dirname "$0")" && [ -e job.sh ] || cd "${PBS_O_WORKDIR:-${SLURM_SUBMIT_DIR:-${SGE_O_WORKDIR:-$PWD}}}"
. ./job.sh multi_node || { echo "This job wasn't submitted from the kit's folder jobscripts: submit it there." >&2; exit 20; }

log "$PROGRAMS/train_cifar_single_gpu" $FLAGS --out "$OUT/single_gpu"
log mpirun $MPIRUN_FLAGS "$PROGRAMS/train_cifar_multi_node" $FLAGS --out "$OUT/multi_node"
log_speedup
