#!/bin/bash
##PBS -q
#PBS -l select=1:mpiprocs=1:ompthreads=1
##PBS -W group_list=
#PBS -l walltime=00:10:00
#PBS -N single_gpu_training

# Trains on one device: the baseline. No blanks here.
#   qsub -j oe run_single_gpu_training.sh      with a scheduler
#   bash run_single_gpu_training.sh            without one, on this machine
# $FLAGS replaces the programs' flags. The workshop had, on GPUs: --epoch 4 --batchsize 32 --image-size 256 --fraction 0.05
FLAGS=${FLAGS:-"--no-snapshot --model mid --epoch 2 --batchsize 64"}

# This folder: where the script lies or, for a scheduler's copy of it, where it was submitted.
cd "$(dirname "$0")" && [ -e job.sh ] || cd "${PBS_O_WORKDIR:-${SLURM_SUBMIT_DIR:-${SGE_O_WORKDIR:-$PWD}}}"
. ./job.sh single_gpu || { echo "This job wasn't submitted from the kit's folder jobscripts: submit it there." >&2; exit 20; }

log "$PROGRAMS/train_cifar_single_gpu" $FLAGS --out "$OUT/single_gpu"
