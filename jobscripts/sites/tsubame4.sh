# SPDX-License-Identifier: Apache-2.0
# TSUBAME4.0 (Institute of Science Tokyo): Altair Grid Engine, nodes with 4 H100, Open MPI 5.
# From the site's public pages, 2025; not tried there. ./odori submit makes #$ lines of the script's #PBS lines:
# select=2:mpiprocs=2:ompthreads=1 becomes -l node_f=2, and the job script takes mpiprocs from the select line.

SCHEDULER=age
RESOURCE=node_f         # whole nodes; node_h is half of one
QUEUE=
GROUP=                  # -g of qsub; without one a job may take 10 minutes on two nodes (a trial run)
WALLTIME=00:10:00
GPUS_A_NODE=4
QSUB_FLAGS=
MODULES="cuda openmpi"
LAUNCHER=ssh

# The network that MPI and NCCL use; `ip -brief address` on a compute node lists them. Empty: they choose.
INTERFACE=

# Where processes stand: one a GPU, and mpirun says where (seen in the log's first lines).
BINDING="--bind-to none --report-bindings"

# More flags for mpirun.
MPI_FLAGS=
