# SPDX-License-Identifier: Apache-2.0
# Wisteria/BDEC-01 Aquarius (the University of Tokyo): pjsub, nodes with 8 A100. From the site's public pages, 2025; not
# tried there. ./odori submit makes #PJM lines of the script's #PBS lines: select=2:mpiprocs=2:ompthreads=1 becomes
# -L node=2, --mpi proc=4 and --omp thread=1.

SCHEDULER=pjm
QUEUE=short-a           # -L rscgrp
GROUP=                  # -g
WALLTIME=00:10:00
GPUS_A_NODE=8
PJSUB_FLAGS=
MODULES="cuda/12.2 gcc ompi-cuda"
LAUNCHER=pjrsh

# The network that MPI and NCCL use; `ip -brief address` on a compute node lists them. Empty: they choose.
INTERFACE=

# Where processes stand: one a GPU, and mpirun says where (seen in the log's first lines).
BINDING="--bind-to none --report-bindings"

# More flags for mpirun.
MPI_FLAGS=
