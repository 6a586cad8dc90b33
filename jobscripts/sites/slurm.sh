# SPDX-License-Identifier: Apache-2.0
# A site with Slurm, as an example: copy it to ../site.sh and change what differs.
#
#   cp sites/slurm.sh site.sh      in jobscripts/; ./odori submit and the job scripts read it
#
# ./odori submit makes #SBATCH lines of the script's #PBS lines: select=2:mpiprocs=2:ompthreads=1 becomes
# --nodes=2 --ntasks-per-node=2 --cpus-per-task=1. A line that isn't needed may go, or stay empty.

SCHEDULER=slurm

QUEUE=gpu               # --partition; `sinfo` lists them
GROUP=                  # --account; empty where accounts aren't used
WALLTIME=00:10:00       # --time

# GPUs of a node that a job asks for (--gres=gpu:2), and that task 1 uses. Empty: none, and task 1 uses 2 CPU devices.
GPUS_A_NODE=2

# More flags for sbatch, as --constraint=a100.
SBATCH_FLAGS=

# Loaded by each job before anything runs; the same as for building the kit.
MODULES="cuda/12.6 openmpi/4.1"

# The network that MPI and NCCL use; `ip -brief address` on a compute node lists them. Empty: they choose.
INTERFACE=

# Where processes stand: one a GPU, each near its socket, and mpirun says where (seen in the log's first lines).
BINDING="--map-by socket --bind-to socket --report-bindings"

# More flags for mpirun.
MPI_FLAGS=
